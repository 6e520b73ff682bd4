package guardian_test

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/ostraka/ostraka/guardian"
)

func drawConditions(t *rapid.T) guardian.Conditions {
	c := guardian.Conditions{
		Isolation:   rapid.SampledFrom([]string{"", "process", "landlock", "linux", "wasm", "container", "gvisor"}).Draw(t, "isolation"),
		CPUSeconds:  rapid.Int64Range(0, 3).Draw(t, "cpu"),
		WallSeconds: rapid.Int64Range(0, 3).Draw(t, "wall"),
		MemoryBytes: rapid.Int64Range(0, 3).Draw(t, "memory"),
		Pids:        rapid.Int64Range(0, 3).Draw(t, "pids"),
		Quorum:      rapid.Int64Range(0, 3).Draw(t, "quorum"),
		TargetError: float64(rapid.Int64Range(0, 3).Draw(t, "error")) / 10,
		RecheckAll:  rapid.Bool().Draw(t, "recheck"),
		Shards:      rapid.Int64Range(0, 3).Draw(t, "shards"),
	}
	if rapid.Bool().Draw(t, "of owners") {
		c.Owners = rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "b", "c"}), 0, 3, rapid.ID[string]).Draw(t, "owners")
		slices.Sort(c.Owners)
	}
	if rapid.Bool().Draw(t, "until") {
		c.ValidUntil = noon.Add(time.Duration(rapid.IntRange(-2, 2).Draw(t, "hours")) * time.Hour)
	}
	return c
}

func drawPlan(t *rapid.T) guardian.Planned {
	return guardian.Planned{
		Isolation: rapid.SampledFrom([]string{"process", "landlock", "linux", "wasm", "container", "gvisor"}).Draw(t, "level"),
		Limits:    guardian.Limits{CPUSeconds: rapid.Int64Range(1, 3).Draw(t, "cpu"), MemoryBytes: rapid.Int64Range(1, 3).Draw(t, "memory"), Pids: 2, WallSeconds: 2},
		Verification: &guardian.Verification{
			Quorum: rapid.Int64Range(0, 3).Draw(t, "votes"), TargetError: rapid.Float64Range(0, 0.3).Draw(t, "rate"), RecheckAll: rapid.Bool().Draw(t, "all"),
		},
		Owner: rapid.SampledFrom([]string{"a", "b", "c", "d"}).Draw(t, "owner"), Shards: rapid.Int64Range(1, 3).Draw(t, "many"), Now: noon,
	}
}

func TestMergeIsAMeet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := drawConditions(t), drawConditions(t), drawConditions(t)
		require.Equal(t, guardian.Merge(a, b), guardian.Merge(b, a))
		require.Equal(t, guardian.Merge(guardian.Merge(a, b), c), guardian.Merge(a, guardian.Merge(b, c)))
		require.Equal(t, a, guardian.Merge(a, a))
		require.Equal(t, a, guardian.Merge(a, guardian.Conditions{}))
		p := drawPlan(t)
		kept := func(c guardian.Conditions) bool { return len(c.Broken(p)) == 0 }
		require.Equal(t, kept(a) && kept(b), kept(guardian.Merge(a, b)), "never looser than either, and no stricter than both")
	})
}

func drawRule(t *rapid.T, name string) guardian.Rule {
	r := rule(name, rapid.SampledFrom([]guardian.Verdict{guardian.Allow, guardian.Ask, guardian.Deny}).Draw(t, "then"),
		rapid.SampledFrom([]string{"", "job.shards > 10", "job.shards > 5000", `findings.exists(f, f.rule == "process")`, `findings[7].line > 1`}).Draw(t, "when"), guardian.JobSubmit)
	r.Layer = rapid.SampledFrom([]guardian.Layer{guardian.Builtin, guardian.OperatorLayer, guardian.ProjectLayer, guardian.OwnerLayer}).Draw(t, "layer")
	r.Risk = rapid.SampledFrom([]guardian.Risk{"", guardian.Low, guardian.High, guardian.Critical}).Draw(t, "risk")
	r.Enabled = rapid.IntRange(0, 4).Draw(t, "enabled") > 0
	if r.Then != guardian.Deny {
		r.Conditions = drawConditions(t)
	}
	return r
}

func drawCircumstances(t *rapid.T) guardian.Circumstances {
	c := guardian.Circumstances{Now: noon}
	if rapid.Bool().Draw(t, "override") {
		c.Overrides = []guardian.Override{{ID: "o", Rule: rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "of"), Reason: "x", From: noon, Until: noon.Add(time.Hour)}}
	}
	if rapid.Bool().Draw(t, "approval") {
		digest, err := submit().Digest()
		require.NoError(t, err)
		layer := rapid.SampledFrom([]guardian.Layer{guardian.Builtin, guardian.OperatorLayer, guardian.ProjectLayer, guardian.OwnerLayer}).Draw(t, "asked by")
		c.Approvals = []guardian.Approval{{ID: "p", Digest: digest, Layer: layer, Rule: rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "rule"), Version: 1, Expires: noon.Add(time.Hour)}}
	}
	return c
}

func compile(t *rapid.T, rules []guardian.Rule) *guardian.Policy {
	var list []*guardian.Compiled
	for _, r := range rules {
		c, err := guardian.Compile(r)
		require.NoError(t, err)
		list = append(list, c)
	}
	p, err := guardian.NewPolicy(list...)
	require.NoError(t, err)
	return p
}

func TestARuleMoreIsNeverLooser(t *testing.T) {
	strictness := map[guardian.Verdict]int{guardian.Allow: 0, guardian.Ask: 1, guardian.Deny: 2}
	order := map[guardian.Risk]int{guardian.Low: 0, guardian.Medium: 1, guardian.High: 2, guardian.Critical: 3}
	rapid.Check(t, func(t *rapid.T) {
		rules := []guardian.Rule{drawRule(t, "a"), drawRule(t, "b"), drawRule(t, "c")}
		c := drawCircumstances(t)
		fewer := compile(t, rules[:2]).Decide(t.Context(), submit(), c)
		all := compile(t, rules).Decide(t.Context(), submit(), c)
		require.GreaterOrEqual(t, strictness[all.Verdict], strictness[fewer.Verdict])
		require.GreaterOrEqual(t, order[all.Risk], order[fewer.Risk])
		require.Equal(t, all.Conditions, guardian.Merge(fewer.Conditions, all.Conditions))
		rand.Shuffle(len(rules), func(i, j int) { rules[i], rules[j] = rules[j], rules[i] })
		require.Equal(t, all, compile(t, rules).Decide(t.Context(), submit(), c), "the order of rules does not matter")
		require.Empty(t, guardian.Compare(t.Context(), compile(t, rules), compile(t, rules), []guardian.Operation{submit()}, c))
	})
}

func FuzzRule(f *testing.F) {
	for _, r := range guardian.Defaults() {
		text, err := json.Marshal(r)
		require.NoError(f, err)
		f.Add(text)
	}
	for _, when := range []string{`job.shards > 3`, `[1].map(a, {a: [a]}).map(a, {a: [a]}) == []`, `findings.map(f, f.text).exists(t, t.matches("(a+)+$"))`, `code.limits.memory_bytes / 0 > 1`, `((((true))))`} {
		text, err := json.Marshal(rule("x", guardian.Ask, when, guardian.JobSubmit))
		require.NoError(f, err)
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var r guardian.Rule
		if json.Unmarshal(text, &r) != nil {
			return
		}
		c, err := guardian.Compile(r)
		if err != nil {
			require.NotEmpty(t, err.Error())
			return
		}
		p, err := guardian.NewPolicy(c)
		require.NoError(t, err)
		for _, d := range guardian.Operations() {
			decided := p.Decide(t.Context(), guardian.Operation{Kind: d.Kind, Facts: d.Facts}, guardian.Circumstances{Now: noon})
			require.Contains(t, []guardian.Verdict{guardian.Allow, guardian.Ask, guardian.Deny}, decided.Verdict)
			require.NotEmpty(t, decided.Reason)
		}
	})
}
