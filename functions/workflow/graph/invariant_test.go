package graph

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const withInvariants = small + `[[steps]]
name = "two"
type = "map"
function = "f"
range = { from = "{n}", length = "10^3", size = 7 }
[[invariants]]
name = "same"
identity = { left = "one.n", right = "two.n" }
[[invariants]]
name = "known"
needs = ["one"]
when = "steps.one.answer.n == 1000"
message = "there are 1000"
`

func TestInvariantsAreChecks(t *testing.T) {
	d, err := Parse([]byte(withInvariants))
	require.NoError(t, err)
	same, known := d.Step("same"), d.Step("known")
	require.Equal(t, StepCheck, same.Type)
	require.Equal(t, []string{"one", "two"}, same.Needs, "an identity needs both sides")
	require.Equal(t, "one.n = two.n", same.Check.Identity.String())
	require.Equal(t, CheckStep{When: "steps.one.answer.n == 1000", Message: "there are 1000"}, known.Check)
	require.Empty(t, d.Step("one").Check.Identity.String())
}

func TestWhatIsNoInvariant(t *testing.T) {
	for change, want := range map[[2]string]string{
		{"name = \"known\"\n", "name = \"known\"\ntype = \"check\"\n"}:            "invariants[1].type: an invariant has no type",
		{"needs = [\"one\"]\n", ""}:                                               "invariants[1].needs: the invariant says of no step",
		{"name = \"known\"\n", ""}:                                                `invariants[1].name: "" is no name`,
		{`name = "same"`, `name = "Same!"`}:                                       `invariants[0].name: "Same!" is no name`,
		{`name = "two"`, `name = "Two"`}:                                          `steps[1].name: "Two" is no name`,
		{`needs = ["one"]`, `needs = ["three"]`}:                                  `there is no step "three"`,
		{`left = "one.n"`, `left = "three.n"`}:                                    `there is no step "three"`,
		{`name = "known"`, `name = "one"`}:                                        `there are two steps "one"`,
		{"message = \"there are 1000\"", "message = \"m\"\nfunction = \"f\""}:     "a step of the type check has no function",
		{`when = "steps.one.answer.n == 1000"`, `when = "steps.two.answer == 1"`}: "undeclared reference",
		{`size = 7`, `size = 7 }` + "\nrolling = { shards = 5"}:                   "rolls",
	} {
		_, err := Parse([]byte(strings.Replace(withInvariants, change[0], change[1], 1)))
		require.ErrorContains(t, err, want, "%q", change)
	}
}
