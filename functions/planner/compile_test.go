package planner

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions/partition"
	"github.com/ostraka/ostraka/functions/verify"
)

func TestCompileFillsDefaults(t *testing.T) {
	got := compile(t, nil).Rule()
	require.Equal(t, DefaultMaxDepth, got.MaxDepth)
	require.Equal(t, DefaultMaxJobs, got.MaxJobs)
}

func TestCompileRefuses(t *testing.T) {
	padded := func(size int) string { return "true" + strings.Repeat(" ", size-4) }
	for _, tc := range []struct {
		name   string
		change func(*Rule)
		says   string // "" when the rule is fine
	}{
		{"depth at the limit", func(r *Rule) { r.MaxDepth = HardMaxDepth }, ""},
		{"depth past the limit", func(r *Rule) { r.MaxDepth = HardMaxDepth + 1 }, "max_depth: the depth is 9 (use 1 to 8"},
		{"negative depth", func(r *Rule) { r.MaxDepth = -1 }, "max_depth"},
		{"jobs at the limit", func(r *Rule) { r.MaxJobs = HardMaxJobs }, ""},
		{"jobs past the limit", func(r *Rule) { r.MaxJobs = HardMaxJobs + 1 }, "max_jobs"},
		{"quorum at the limit", func(r *Rule) { r.Then.Quorum = verify.MaxQuorum }, ""},
		{"quorum past the limit", func(r *Rule) { r.Then.Quorum = verify.MaxQuorum + 1 }, "then.quorum"},
		{"negative version", func(r *Rule) { r.Then.Version = -1 }, "then.version"},
		{"no function", func(r *Rule) { r.Then.Function = "" }, "then.function"},
		{"no condition", func(r *Rule) { r.When = " " }, "when: the expression is empty"},
		{"no partition", func(r *Rule) { r.Then.Partition = "" }, "then.partition: the expression is empty"},
		{"length at the limit", func(r *Rule) { r.When = padded(MaxExpressionBytes) }, ""},
		{"length past the limit", func(r *Rule) { r.When = padded(MaxExpressionBytes + 1) }, "4097 bytes"},
		{"not a condition", func(r *Rule) { r.When = "1" }, "when: the expression gives int, not bool"},
		{"not a partition", func(r *Rule) { r.Then.Partition = "[1]" }, "then.partition: the expression gives list(int), not map"},
		{"unknown name", func(r *Rule) { r.When = "true &&\n  jobs.x == 1" }, "when, line 2, column 3: undeclared reference to 'jobs' (there are job.id,"},
		{"unknown field", func(r *Rule) { r.When = "job.shards.lost == 1" }, "line 1, column 11: undeclared reference to 'job.shards.lost'"},
		{"wrong type", func(r *Rule) { r.When = "job.id == 3" }, "line 1, column 8: found no matching overload"},
		{"syntax", func(r *Rule) { r.Then.Partition = "{'kind': }" }, "then.partition, line 1, column 10: Syntax error"},
		{"many mistakes", func(r *Rule) { r.When = "a || b || c || d || e" }, "and 2 more mistakes in when"},
		{"no extensions", func(r *Rule) { r.When = "lists.range(1000000000) == []" }, "undeclared reference"},
		{"nesting at the limit", func(r *Rule) { r.When = nested(MaxNesting - 2) }, ""},
		{"nesting past the limit", func(r *Rule) { r.When = nested(MaxNesting + 1) }, "nests at most 50 deep"},
		{"a long chain", func(r *Rule) { r.When = "0" + strings.Repeat("+0", 500) + " == 0" }, "a chain of operators counts"},
		{"a large regular expression", func(r *Rule) { r.When = `job.id.matches("` + strings.Repeat("a{900}", 2) + `")` }, "exceeds limit of 1000"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := Compile(rule(tc.change))
			if tc.says == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, tc.says)
			var refused *RuleError
			require.ErrorAs(t, err, &refused)
			require.NotEmpty(t, refused.Field)
			require.NotEmpty(t, refused.Hint)
		})
	}
}

func nested(depth int) string {
	return strings.Repeat("[", depth) + strings.Repeat("]", depth) + " == []"
}

// Expressions that would keep the server busy for ever, or fill its memory,
// end with an error that says what to do. Without the limits this test does
// not end.
func TestHostileExpressionsEnd(t *testing.T) {
	ten := "[1,1,1,1,1,1,1,1,1,1]"
	for name, when := range map[string]string{
		"nested loops":                   strings.Repeat(ten+".all(x, ", 12) + "true" + strings.Repeat(")", 12),
		"lists that double":              "[[1,1]]" + strings.Repeat(".map(a, a + a)", 30) + ".all(a, a == a)",
		"lists that double later":        "[0,1].all(o, [[],[1,1]]" + strings.Repeat(".map(a, o == 0 ? a : a + a)", 30) + ".all(a, a == a))",
		"trees that share their parts":   "[1]" + strings.Repeat(".map(a, [a, a])", 40) + ".all(a, a == a)",
		"maps that share their parts":    "[1]" + strings.Repeat(`.map(a, {"x": a, "y": a})`, 40) + ".all(a, a == a)",
		"strings that double":            `["aaaaaaaaaaaaaaaa"]` + strings.Repeat(".map(a, a + a)", 40) + ".all(a, a == a)",
		"types that double":              "[1]" + strings.Repeat(".map(a, {a: [a]})", 40) + " == []",
		"types that double while nested": strings.Repeat("[1].map(a, {a: [a]}).map(a, ", 15) + "1" + strings.Repeat(")", 15) + " == []",
		"types that grow with each use":  "[1]" + strings.Repeat(".map(a, {a: {a: {a: [a]}}})", 40) + " == []",
	} {
		t.Run(name, func(t *testing.T) {
			c, err := Compile(rule(func(r *Rule) { r.When = when }))
			if err != nil {
				var refused *RuleError
				require.ErrorAs(t, err, &refused)
				return
			}
			followUps, _, skips := Plan(context.Background(), []*Compiled{c}, finished("null"), nil)
			require.Empty(t, followUps)
			// Growing types are harmless once they are not inferred.
			require.True(t, skips[0].Reason == SkipError || strings.HasPrefix(name, "types"), "%+v", skips)
			require.NotEmpty(t, skips[0].Detail)
		})
	}
}

// A value may share its parts, so its text can be far larger than the value.
func TestLargePartitionEnds(t *testing.T) {
	aggregate := `{"text":"` + strings.Repeat("x", 1000) + `","deep":` + strings.Repeat("[", 63) + strings.Repeat("]", 63) + `}`
	shared := `{"kind": "items", "values": [aggregate.value.text]` + strings.Repeat(".map(a, [a, a])", 12) + `}`
	_, skip := planOne(t, "true", shared, finished(aggregate))
	require.Contains(t, skip.Detail, "larger than 1048576 bytes")
	_, skip = planOne(t, "true", `{"kind": "items", "values": [aggregate.value.deep]}`, finished(aggregate))
	require.Contains(t, skip.Detail, "deeper than 64")
}

// What the limits must leave room for.
func TestLargestHonestRule(t *testing.T) {
	values := "[1" + strings.Repeat(",1", partition.MaxInlineItems-1) + "]"
	spec, skip := planOne(t,
		"aggregate.value.all(x, x == 1)",
		`{"kind": "items", "values": aggregate.value.map(x, {"n": x})}`,
		finished(values))
	require.NotEmpty(t, spec, "%+v", skip)

	whole := "[1" + strings.Repeat(",1", (MaxAggregateBytes-3)/2) + "]"
	spec, skip = planOne(t, "aggregate.value[100000] == 1 && size(aggregate.value) > 100000", oneItem, finished(whole))
	require.NotEmpty(t, spec, "%+v", skip)

	deep := strings.Repeat("[", 64) + strings.Repeat("]", 64)
	spec, skip = planOne(t, "size(aggregate.value) == 1", oneItem, finished(deep))
	require.NotEmpty(t, spec, "%+v", skip)
}

func FuzzRule(f *testing.F) {
	for _, seed := range []string{
		"true", "job.attempts > 1", "aggregate.value.sample", oneItem, `{"kind": "items", "values": aggregate.value.sample}`,
		"[1].map(a, {a: [a]}).map(a, {a: [a]})", `aggregate.value.map(k, k + "x")`, "has(aggregate.value.sample)", "-", `"\ud800"`,
	} {
		f.Add(seed, seed, `{"sample":[1,2.5,18446744073709551616]}`)
	}
	f.Fuzz(func(t *testing.T, when, spec, aggregate string) {
		for _, r := range []Rule{
			rule(func(r *Rule) { r.When = when }),
			rule(func(r *Rule) { r.Then.Partition = spec }),
		} {
			c, err := Compile(r)
			if err != nil {
				continue
			}
			followUps, _, skips := Plan(context.Background(), []*Compiled{c}, finished(aggregate), nil)
			require.Equal(t, 1, len(followUps)+len(skips))
			for _, f := range followUps {
				require.NoError(t, f.Partition.Validate())
			}
		}
	})
}
