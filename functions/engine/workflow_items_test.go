package engine_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/workflow"
	"github.com/ostraka/ostraka/functions/workflow/graph"
)

// sampled is a workflow whose second step works on what the first one has found.
const sampled = `
name = "sampled"
[functions]
first = "functions/first"
` + firstStep + `aggregator = "concat"
[[steps]]
name = "each"
type = "map"
function = "first"
needs = ["one"]
items = { step = "one" }
policy = { quorum = 1 }
aggregator = "count"
[[steps]]
name = "right"
type = "check"
needs = ["each"]
when = "steps.each.answer == 5"
`

func (w *world) runSampled(text string) workflow.RunDetail {
	w.t.Helper()
	w.pushWorkflow(text, "first")
	r := w.startWorkflow("sampled")
	a := w.agent(func(input string) functions.Result {
		if strings.Contains(input, "from") {
			return honest(input)
		}
		return ok(input)
	})
	for range 2 {
		w.settleAll()
		a.do(10)
	}
	w.settleAll()
	return w.workflowRun(r.ID)
}

func TestItemsComeFromAnEarlierStep(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.runSampled(sampled)
	require.Equal(t, graph.RunFinished, r.State, r.Error)
	require.Equal(t, int64(5), r.Steps[1].Shards.Total)

	w = newWorld(t)
	r = w.runSampled(strings.Replace(sampled, `{ step = "one" }`, `{ step = "one", field = "found" }`, 1))
	require.Contains(t, r.Error, `step each: bad_workflow: steps.each.items: the answer of the step one has no field "found"`)

	// Where nothing was found there is nothing to do, and an answer of null.
	w = newWorld(t)
	nothing := strings.NewReplacer(`aggregator = "concat"`, "aggregator = \"merge\"\nparams = { fields = { found = \"concat\" } }", `{ step = "one" }`, `{ step = "one", field = "found" }`, "steps.each.answer == 5", "steps.each.answer == null")
	w.pushWorkflow(nothing.Replace(sampled), "first")
	run := w.startWorkflow("sampled")
	w.settleAll()
	w.agent(func(string) functions.Result { return ok(`{"found":[]}`) }).do(5)
	w.settleAll()
	r = w.workflowRun(run.ID)
	require.Equal(t, graph.RunFinished, r.State, r.Error)
	require.Equal(t, []string{"one finished", "each finished", "right finished"}, states(r))
	require.Nil(t, r.Steps[1].JobID)
}
