package graph

import (
	"math/big"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// flowing is a workflow whose second step takes what the first one finds while that rolls.
const flowing = `name = "flowing"
[functions]
f = "f"
[[steps]]
name = "one"
type = "map"
function = "f"
range = { from = 0, to = 100, size = 10 }
rolling = { ahead = 4, shards = 2 }
[[steps]]
name = "two"
type = "map"
needs = ["one"]
function = "f"
items = { step = "one", field = "found", flow = true }
`

func TestAStepThatFollows(t *testing.T) {
	d, err := Parse([]byte(flowing))
	require.NoError(t, err)
	two := d.Step("two")
	require.True(t, two.Flows())
	require.True(t, two.Rolling())
	require.Equal(t, 1, d.Follower(0))
	require.Equal(t, -1, d.Follower(1))
	require.True(t, d.Rolls(0, "two"))
	require.True(t, d.Rolls(1, "one"))
	require.False(t, d.Rolls(0, "three"))
	plan, err := two.Plan(Values{})
	require.NoError(t, err)
	require.True(t, plan.Follows)
	require.Equal(t, int64(4), plan.Ahead)

	p := Progression{Plan: plan, Next: big.NewInt(20), Parts: []Part{{First: new(big.Int), Last: big.NewInt(20), State: PartOpen, Shards: 3}}}
	require.Equal(t, PartAction{}, p.Begin(), "it begins nothing by itself")
	require.True(t, p.Takes(big.NewInt(20)))
	require.False(t, p.Takes(big.NewInt(40)), "stretches come one after the other")
	p.Parts[0].Shards = 4
	require.False(t, p.Takes(big.NewInt(20)), "it has as many shards as it may have")

	held := Progression{Plan: plan, Next: big.NewInt(40), Parts: []Part{
		{First: new(big.Int), Last: big.NewInt(20), State: PartOpen, Ended: true, Finished: true, Held: true},
		{First: big.NewInt(20), Last: big.NewInt(40), State: PartOpen, Ended: true},
	}}
	require.Equal(t, PartAction{Kind: PartLose, Part: 1}, held.Clear(RunRunning), "what is held is not folded, and what is lost is lost")

	held.Parts[1].State, held.Parts[1].Shards, held.Parts[0].Shards = PartAgain, 2, 4
	require.Equal(t, PartAction{Kind: PartBegin, First: big.NewInt(20)}, held.Begin(), "what is held leaves room for what it waits for")

	steps := []Progress{{State: StepRunning}, {State: StepWaiting}}
	require.Equal(t, Action{Kind: ActBegin, Step: 1}, Next(RunRunning, d.Steps, steps), "it begins beside the other")
}

func TestWhatDoesNotFlow(t *testing.T) {
	for change, want := range map[[2]string]string{
		{"rolling = { ahead = 4, shards = 2 }", ""}:                            `steps.two.items.flow: the step "one" does not roll through a range`,
		{"name = \"two\"\ntype = \"map\"", "name = \"two\"\ntype = \"prove\""}: "steps.two.items.flow: items flow to a step of the type map only",
		{"flow = true }", "flow = true }\nrolling = { ahead = 4 }"}:            "steps.two.rolling: only a range is gone through job by job",
		{"flow = true }", `flow = "yes" }`}:                                    "besides step there are only field and flow",
		{"flow = true }\n", "flow = true }\n[[steps]]\nname = \"three\"\ntype = \"map\"\nneeds = [\"one\"]\nfunction = \"f\"\nitems = { step = \"one\", flow = true }\n"}: "flow to several steps",
		{"flow = true }\n", "flow = true }\n[[steps]]\nname = \"three\"\ntype = \"map\"\nneeds = [\"two\"]\nfunction = \"f\"\nitems = { step = \"two\", flow = true }\n"}: `the step "two" does not roll through a range`,
		{"needs = [\"one\"]", "needs = [\"one\", \"zero\"]\n"}: `there is no step "zero"`,
	} {
		require.Contains(t, flowing, change[0])
		_, err := Parse([]byte(strings.Replace(flowing, change[0], change[1], 1)))
		require.ErrorContains(t, err, want, "%q", change)
	}
	other := "[[steps]]\nname = \"zero\"\ntype = \"map\"\nfunction = \"f\"\nitems = [1]\n"
	_, err := Parse([]byte(strings.Replace(flowing, "needs = [\"one\"]", "needs = [\"one\", \"zero\"]", 1) + other))
	require.ErrorContains(t, err, "steps.two.needs: a step to which items flow needs the step that they come from, and no other")
}
