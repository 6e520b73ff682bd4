package planner

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

const oneItem = `{"kind": "items", "values": [1]}`

func rule(change func(*Rule)) Rule {
	r := Rule{ID: "rule", Name: "a-rule", When: "true", Then: Then{Function: "prove", Partition: oneItem}, Enabled: true}
	if change != nil {
		change(&r)
	}
	return r
}

func compile(t require.TestingT, change func(*Rule)) *Compiled {
	c, err := Compile(rule(change))
	require.NoError(t, err)
	return c
}

func finished(aggregate string) Finished {
	return Finished{
		Job: Job{
			ID: "job", RootID: "job", Function: "bpsw", Version: 3, State: "succeeded",
			Shards: Shards{Total: 10, Accepted: 9, Failed: 1}, Attempts: 21,
		},
		Aggregate: Aggregate{Value: json.RawMessage(aggregate), Count: 9},
	}
}

// planOne applies one rule and returns the partition it leads to, or the skip.
func planOne(t require.TestingT, when, spec string, job Finished) (string, Skip) {
	c := compile(t, func(r *Rule) { r.When, r.Then.Partition = when, spec })
	followUps, _, skips := Plan(context.Background(), []*Compiled{c}, job, nil)
	require.Equal(t, 1, len(followUps)+len(skips))
	if len(skips) == 1 {
		require.NotEmpty(t, skips[0].Detail)
		require.Less(t, len(skips[0].Detail), 1000)
		return "", skips[0]
	}
	text, err := followUps[0].Partition.MarshalJSON()
	require.NoError(t, err)
	return string(text), Skip{}
}

func TestPlan(t *testing.T) {
	const aggregate = `{"passed":22206,"sample":["18446744073709551629",3,2.0,1e3,18446744073709551629,-9223372036854775808,9223372036854775808],"first":7}`
	for _, tc := range []struct{ when, partition, want string }{
		{"true", oneItem, `{"kind":"items","values":[1]}`},
		{
			"has(aggregate.value.sample) && size(aggregate.value.sample) == 7",
			`{"kind": "items", "values": aggregate.value.sample}`,
			`{"kind":"items","values":["18446744073709551629",3,2.0,1000.0,"18446744073709551629",-9223372036854775808,"9223372036854775808"]}`,
		},
		{
			"aggregate.value.passed > 22000 && aggregate.count == 9",
			`{"kind": "items", "values": aggregate.value.sample.filter(x, type(x) == string).map(x, {"n": x, "job": job.id})}`,
			`{"kind":"items","values":[{"job":"job","n":"18446744073709551629"},{"job":"job","n":"18446744073709551629"},{"job":"job","n":"9223372036854775808"}]}`,
		},
		{
			`job.function == "bpsw" && job.version == 3 && job.state == "succeeded" && job.depth == 0 && job.attempts == 21`,
			`{"kind": "range", "from": string(aggregate.value.first), "to": string(aggregate.value.sample[0]), "size": "10000000000000"}`,
			`{"kind":"range","from":"7","to":"18446744073709551629","size":"10000000000000"}`,
		},
		{
			"job.shards.total == 10 && job.shards.accepted == 9 && job.shards.failed == 1",
			`{"kind": "items", "values": [1.0, 1e300, 0.1, 5u, null, true, "<&>\"\u00e9\n", -1, {"b": [], "a": {}}]}`,
			`{"kind":"items","values":[1.0,1e+300,0.1,5,null,true,"<&>\"é\n",-1,{"a":{},"b":[]}]}`,
		},
	} {
		got, skip := planOne(t, tc.when, tc.partition, finished(aggregate))
		require.Equal(t, tc.want, got, "%+v", skip)
	}
}

func TestPlanFillsTheFollowUp(t *testing.T) {
	c := compile(t, func(r *Rule) {
		r.MaxDepth = 3
		r.Then.Version, r.Then.Quorum, r.Then.Aggregator = 4, 2, "count"
	})
	job := finished("null")
	job.Job.RootID, job.Job.Depth = "root", 2
	followUps, _, skips := Plan(context.Background(), []*Compiled{c}, job, nil)
	require.Empty(t, skips)
	require.Len(t, followUps, 1)
	got := followUps[0]
	require.Equal(t, Key{Rule: "rule", Parent: "job"}, got.Key)
	require.Equal(t, "followup:rule:job", got.Key.String())
	require.Equal(t, []any{"a-rule", "root", 3, "prove", 4, 2, "count"},
		[]any{got.RuleName, got.RootID, got.Depth, got.Function, got.Version, got.Quorum, got.Aggregator})
}

func TestSkips(t *testing.T) {
	others := func(n int) (keys []Key) {
		for i := range n {
			keys = append(keys, Key{Rule: fmt.Sprint("other", i), Parent: "job"})
		}
		return keys
	}
	for _, tc := range []struct {
		name     string
		change   func(*Rule)
		depth    int
		existing []Key
		want     SkipReason
	}{
		{"at the limit of the root", nil, 0, others(HardMaxJobs - 1), ""},
		{"past the limit of the root", nil, 0, others(HardMaxJobs), SkipCountLimit},
		{"disabled", func(r *Rule) { r.Enabled = false }, 0, nil, SkipDisabled},
		{"for this function", func(r *Rule) { r.OnFunction = "bpsw" }, 0, nil, ""},
		{"for another function", func(r *Rule) { r.OnFunction = "prove" }, 0, nil, SkipOtherFunction},
		{"already planned", nil, 0, []Key{{Rule: "rule", Parent: "job"}}, SkipPlanned},
		{"default depth", nil, 1, nil, SkipDepthLimit},
		{"depth at the limit", func(r *Rule) { r.MaxDepth = HardMaxDepth }, HardMaxDepth - 1, nil, ""},
		{"depth past the limit", func(r *Rule) { r.MaxDepth = HardMaxDepth }, HardMaxDepth, nil, SkipDepthLimit},
		{"default count", nil, 0, []Key{{Rule: "rule", Parent: "sister"}}, SkipCountLimit},
		{"count at the limit", func(r *Rule) { r.MaxJobs = 2 }, 0, []Key{{Rule: "rule", Parent: "sister"}}, ""},
		{"count past the limit", func(r *Rule) { r.MaxJobs = 2 }, 0, []Key{{Rule: "rule", Parent: "a"}, {Rule: "rule", Parent: "b"}}, SkipCountLimit},
		{"false", func(r *Rule) { r.When = "job.attempts < 0" }, 0, nil, SkipWhenFalse},
		{"error", func(r *Rule) { r.When = "1 / job.depth == 1" }, 0, nil, SkipError},
	} {
		t.Run(tc.name, func(t *testing.T) {
			job := finished("null")
			job.Job.Depth = tc.depth
			followUps, _, skips := Plan(context.Background(), []*Compiled{compile(t, tc.change)}, job, tc.existing)
			if tc.want == "" {
				require.Len(t, followUps, 1, "%+v", skips)
				return
			}
			require.Empty(t, followUps)
			require.Equal(t, tc.want, skips[0].Reason, skips[0].Detail)
			require.NotEmpty(t, skips[0].Detail)
		})
	}
}

func TestEvaluationErrorsSayWhatToDo(t *testing.T) {
	const aggregate = `{"list":[1,2],"big":18446744073709551616,"one":1}`
	for _, tc := range []struct{ when, partition, says string }{
		{"aggregate.value.nope > 1", oneItem, "when: no such key: nope (has(aggregate.value.x)"},
		{"aggregate.value.list > 1", oneItem, "check the types"},
		{"aggregate.value.big > 1", oneItem, "an integer beyond 64 bits is a decimal string"},
		{"aggregate.value.list[2] == 1", oneItem, "size(x) tells"},
		{"aggregate.value.one / 0 == 1", oneItem, "test the divisor"},
		{"aggregate.value", oneItem, "gave map, not bool"},
		{"true", "aggregate.value.one", "then.partition: a partition is a JSON object"},
		{"true", "aggregate.value.list", "then.partition: a partition is a JSON object"},
		{"true", `{"kind": "tree"}`, "use range, items, grid, lines or objects"},
		{"true", `{"kind": "items", "values": []}`, "no items"},
		{"true", `{"kind": "range", "from": aggregate.value.one, "to": "5", "size": "1"}`, "in CEL, string(x)"},
		{"true", `{"kind": "range", "from": "5", "to": string(aggregate.value.one), "size": "1"}`, "reversed"},
		{"true", `{"kind": "items", "values": [timestamp("2020-01-01T00:00:00Z")]}`, "no JSON form"},
		{"true", `{"kind": "items", "values": [b"x"]}`, "no JSON form"},
		{"true", `{"kind": "items", "values": [{1: 2}]}`, "key of a JSON object is a string"},
		{"true", `{"kind": "items", "values": [1.0 / 0.0]}`, "neither NaN nor infinity"},
		{"true", `{"kind": "items", "values": ["\u0000"]}`, "nul"},
		{`"aa".matches("a" + "{900}a{900}")`, oneItem, "exceeds limit of 1000"},
	} {
		_, skip := planOne(t, tc.when, tc.partition, finished(aggregate))
		require.Equal(t, SkipError, skip.Reason, "%s %s", tc.when, tc.partition)
		require.Contains(t, skip.Detail, tc.says)
	}
}

func TestAggregateThatRulesCannotSee(t *testing.T) {
	fits := `"` + strings.Repeat("x", MaxAggregateBytes-2) + `"`
	spec, skip := planOne(t, "size(aggregate.value) > 0", oneItem, finished(fits))
	require.NotEmpty(t, spec, "at the limit: %+v", skip)
	for name, text := range map[string]string{"too large": " " + fits, "not JSON": "{", "duplicate": `{"a":1,"a":2}`} {
		_, skip := planOne(t, "true", oneItem, finished(text))
		require.Equal(t, SkipError, skip.Reason, name)
		require.Contains(t, skip.Detail, "reading the aggregate")
	}
	for _, none := range []string{"", "null"} {
		spec, skip := planOne(t, "aggregate.value == null", oneItem, finished(none))
		require.NotEmpty(t, spec, "%+v", skip)
	}
}

func TestPlanIsInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	c := compile(t, func(r *Rule) { r.When = "aggregate.value.all(x, aggregate.value.all(y, x == y))" })
	values := "[1" + strings.Repeat(",1", 200) + "]"
	_, _, skips := Plan(ctx, []*Compiled{c}, finished(values), nil)
	require.Len(t, skips, 1)
	require.Equal(t, SkipError, skips[0].Reason)
	require.Contains(t, skips[0].Detail, "ran out of time")
}

// Every rule leads to one follow-up or one skip, the limits hold whatever the
// rules are, and planning again with what exists leads to nothing new.
func TestPlanProperties(t *testing.T) {
	var conditions []*Compiled // compiled once, since that is what takes time
	for _, when := range []string{"true", "false", "aggregate.value.ok", "aggregate.value.nope"} {
		conditions = append(conditions, compile(t, func(r *Rule) { r.When = when }))
	}
	rapid.Check(t, func(t *rapid.T) {
		job := finished(`{"ok":true}`)
		job.Job.Depth = rapid.IntRange(0, HardMaxDepth+1).Draw(t, "depth")
		var rules []*Compiled
		for i := range rapid.IntRange(0, 20).Draw(t, "rules") {
			c := *rapid.SampledFrom(conditions).Draw(t, "when")
			c.rule.ID = fmt.Sprint("rule", i)
			c.rule.Enabled = rapid.Bool().Draw(t, "enabled")
			c.rule.MaxDepth = rapid.IntRange(1, HardMaxDepth).Draw(t, "max depth")
			c.rule.MaxJobs = rapid.IntRange(1, HardMaxJobs).Draw(t, "max jobs")
			rules = append(rules, &c)
		}
		var existing []Key
		for range rapid.IntRange(0, HardMaxJobs).Draw(t, "existing") {
			existing = append(existing, Key{
				Rule:   fmt.Sprint("rule", rapid.IntRange(0, 25).Draw(t, "rule")),
				Parent: rapid.SampledFrom([]string{"job", "sister"}).Draw(t, "parent"),
			})
		}
		followUps, _, skips := Plan(context.Background(), rules, job, existing)
		require.Equal(t, len(rules), len(followUps)+len(skips))
		require.LessOrEqual(t, len(existing)+len(followUps), max(HardMaxJobs, len(existing)))
		for _, f := range followUps {
			require.Equal(t, job.Job.Depth+1, f.Depth)
			require.LessOrEqual(t, f.Depth, HardMaxDepth)
			require.NotContains(t, existing, f.Key)
			existing = append(existing, f.Key)
		}
		again, _, _ := Plan(context.Background(), rules, job, existing)
		require.Empty(t, again)
	})
}
