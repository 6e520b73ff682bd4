package engine_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/workflow/graph"
)

// minutely is a workflow whose second step has shards that take a minute.
const minutely = `
name = "minutely"
[functions]
first = "functions/first"
` + firstStep + `[[steps]]
name = "all"
type = "map"
needs = ["one"]
function = "first"
range = { from = 0, to = "10^4" }
calibrate = { by = "one" }
policy = { quorum = 1 }
`

func TestShardsAreMadeAsLongAsTheyShouldTake(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.pushWorkflow(minutely, "first")
	run := w.startWorkflow("minutely")
	a := w.agent(func(input string) functions.Result {
		r := honest(input)
		r.WallMicros = 500_000 // of ten integers
		return r
	})
	w.settleAll()
	a.do(10)
	w.settleAll()
	r := w.workflowRun(run.ID)
	require.Equal(t, graph.StepRunning, r.Steps[1].State, r.Error)
	require.Equal(t, int64(10), r.Steps[1].Shards.Total, "of 1,100 integers: the median's bucket ends at 0.512 s")
	job, err := w.GetJob(t.Context(), w.project, *r.Steps[1].JobID)
	require.NoError(t, err)
	require.Equal(t, "1100", job.Partition.Range.Size.String())
	a.do(10)
	w.settleAll()
	require.Equal(t, graph.RunFinished, w.workflowRun(run.ID).State)
}
