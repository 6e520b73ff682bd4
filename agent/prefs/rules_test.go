package prefs

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/guardian"
)

const guarded = `cores = 2

[[rules]]
name = "no-tools"
when = 'findings.exists(f, f.rule == "process" && f.weight > 0.5)'
risk = "HIGH"
then = "deny"
reason = "nothing starts programs here"

[[rules]]
name = "small"
then = "allow"
reason = "the machine is small"
[rules.conditions]
isolation = "landlock"
memory_bytes = "512Mi"
cpu_seconds = 60
valid_until = 2030-01-01T00:00:00Z

[[overrides]]
rule = "ask-scanner"
subject = "survey"
reason = "my own project"
until = 2027-01-01T00:00:00Z
`

func TestRulesOfTheOwner(t *testing.T) {
	p, err := Parse([]byte(guarded))
	require.NoError(t, err)
	require.Len(t, p.Rules, 2)
	require.Equal(t, guardian.Rule{
		ID: "small", Name: "small", Version: 1, Layer: guardian.OwnerLayer, On: []guardian.Kind{guardian.SandboxOpen}, Then: guardian.Allow, Reason: "the machine is small", Enabled: true,
		Conditions: guardian.Conditions{Isolation: "landlock", MemoryBytes: 512 << 20, CPUSeconds: 60, ValidUntil: time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)},
	}, p.Rules[1].Rule())
	require.Equal(t, "survey", p.Overrides[0].Subject)
	lines, err := Describe([]byte(guarded))
	require.NoError(t, err)
	for _, l := range lines {
		if l.Key.Name == "rules" {
			require.Equal(t, `["no-tools", "small"]`, l.Value)
		}
	}
}

func TestTablesOutliveEditing(t *testing.T) {
	changed, err := Set([]byte(guarded), "sandboxes", "3")
	require.NoError(t, err)
	p, err := Parse(changed)
	require.NoError(t, err)
	require.Equal(t, 3, p.Sandboxes)
	require.Len(t, p.Rules, 2)
	changed, err = Set(changed, "cores", "4")
	require.NoError(t, err)
	p, err = Parse(changed)
	require.NoError(t, err)
	require.Equal(t, 4, p.Cores)
	changed, err = Unset(changed, "rules")
	require.NoError(t, err)
	p, err = Parse(changed)
	require.NoError(t, err)
	require.Empty(t, p.Rules)
	require.Len(t, p.Overrides, 1)
	changed, err = Set(nil, "rules", `[{name = "a", then = "deny", reason = "b"}]`)
	require.NoError(t, err)
	p, err = Parse(changed)
	require.NoError(t, err)
	require.Len(t, p.Rules, 1)
}

func TestMistakesInRules(t *testing.T) {
	for content, want := range map[string]string{
		`rules = 1`:   "write 1 to 100 tables",
		`rules = [1]`: "number 1 is no table",
		"cores = 1\n[[rules]]\nname = \"x\"\nthen = \"deny\"\nreasn = \"y\"":                             `line 2: rules: number 1: "reasn" means nothing here: there are conditions, name, reason, risk, then, when`,
		`rules = [{name = "x", then = "deny", reason = "y", on = ["sandbox.open"]}]`:                     `"on" means nothing here`,
		`rules = [{name = "x", then = "deny", reason = "y", when = "code.nam == ''"}]`:                   `x: when, line 1, column 5: no fact for sandbox.open has a field "nam"; did you mean "name"?`,
		`rules = [{name = "x", then = "deny", reason = "y", when = 3}]`:                                  "when: write a text in quotes",
		`rules = [{name = "x", then = "never", reason = "y"}]`:                                           "no verdict",
		`rules = [{name = "x", then = "allow", reason = "y", conditions = {quorum = 2}}]`:                `"quorum" means nothing here`,
		`rules = [{name = "x", then = "allow", reason = "y", conditions = {pids = 0}}]`:                  "pids: write a whole number from 1",
		`rules = [{name = "x", then = "allow", reason = "y", conditions = {memory_bytes = "much"}}]`:     "memory_bytes: write a size",
		`rules = [{name = "x", then = "allow", reason = "y", conditions = {valid_until = "soon"}}]`:      "valid_until: write a time",
		`rules = [{name = "x", then = "deny", reason = "y"}, {name = "x", then = "deny", reason = "y"}]`: "two rules with the name x",
		`overrides = [{rule = "no-wipe", reason = "y", until = 2027-01-01T00:00:00Z}]`:                   `no built-in rule "no-wipe" that asks`,
		`overrides = [{rule = "ask-scanner", until = 2027-01-01T00:00:00Z}]`:                             "reason: say why",
		`overrides = [{rule = "ask-scanner", reason = "y"}]`:                                             "until: an exception has an end",
	} {
		_, err := Parse([]byte(content + "\n"))
		require.ErrorContains(t, err, want, content)
	}
}
