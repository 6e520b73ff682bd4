package planner

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestExpressionsSeeEveryMetricByItsName holds the variables of expressions against the JSON that planners and readers see.
func TestExpressionsSeeEveryMetricByItsName(t *testing.T) {
	text, err := json.Marshal(Metrics{})
	require.NoError(t, err)
	var parts map[string]map[string]any
	require.NoError(t, json.Unmarshal(text, &parts))
	seen := Metrics{}.named()
	for part, fields := range parts {
		for field := range fields {
			name := "metrics." + part + "." + field
			require.Contains(t, seen, name)
			delete(seen, name)
		}
	}
	require.Empty(t, seen, "these are no metrics")
}

func TestARuleReadsMetrics(t *testing.T) {
	job := finished(`{"sum": 3, "name": "x", "none": null, "big": 36893488147419103232}`)
	job.Metrics = Metrics{Shards: ShardMetrics{FailedShare: 0.1}, Verification: VerificationMetrics{ErrorBound: 1e-3}, Aggregate: AggregateMetrics{Count: 9, Numbers: NumbersOf(job.Aggregate.Value)}}
	got, skip := planOne(t, `metrics.shards.failed_share < 0.2 && metrics.verification.error_bound <= 0.001 && metrics.aggregate.count == 9 && size(metrics.aggregate.numbers) == 2`,
		`{"kind": "items", "values": [metrics.aggregate.numbers["sum"]]}`, job)
	require.Equal(t, `{"kind":"items","values":[3.0]}`, got, "%+v", skip)
	_, err := Compile(rule(func(r *Rule) { r.When = "metrics.shards.acepted > 0" }))
	require.ErrorContains(t, err, "undeclared reference")
}

func TestWhatAConditionSaw(t *testing.T) {
	r := rule(func(r *Rule) {
		r.When = "metrics.shards.failed_share < 0.5 && aggregate.value.sum > 1 && job.state == 'x'"
	})
	job := finished(`{"sum": "` + strings.Repeat("9", maxSeen) + `"}`)
	seen := Seen(r, job)
	require.Len(t, seen, 3)
	require.Equal(t, "0", seen["metrics.shards.failed_share"])
	require.Equal(t, `"succeeded"`, seen["job.state"])
	require.Len(t, seen["aggregate.value"], maxSeen+len("…"), "cut")
}

func TestNamesOfPlanners(t *testing.T) {
	name, version, err := ParsePlanner("refine@3")
	require.NoError(t, err)
	require.Equal(t, "refine", name)
	require.Equal(t, 3, version)
	_, version, err = ParsePlanner("refine")
	require.NoError(t, err)
	require.Zero(t, version)
	for _, bad := range []string{"", "@1", "refine@", "refine@0", "refine@-1", "refine@01", "refine@1@2", "Refine", "refine@99999999999999999999", strings.Repeat("a", 64)} {
		_, _, err := ParsePlanner(bad)
		require.Error(t, err, bad)
	}
}

func TestNumbersOfAnAnswer(t *testing.T) {
	for value, want := range map[string]map[string]float64{
		``: {}, `null`: {}, `"7"`: {}, `[1]`: {}, `7`: {"value": 7}, `{"a": 1.5, "b": "2", "c": {"d": 1}, "e": null}`: {"a": 1.5},
	} {
		require.Equal(t, want, NumbersOf(json.RawMessage(value)), value)
	}
	var fields []string
	for i := range MaxMetricNumbers + 1 {
		fields = append(fields, fmt.Sprintf(`"f%03d": %d`, i, i))
	}
	require.Len(t, NumbersOf(json.RawMessage("{"+strings.Join(fields[:MaxMetricNumbers], ",")+"}")), MaxMetricNumbers)
	many := NumbersOf(json.RawMessage("{" + strings.Join(fields, ",") + "}"))
	require.Len(t, many, MaxMetricNumbers, "one more is not among them")
	require.NotContains(t, many, fmt.Sprintf("f%03d", MaxMetricNumbers))
}
