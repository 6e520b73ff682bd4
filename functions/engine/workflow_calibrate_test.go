package engine_test

import (
	"strings"
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

// TestAShortTrialCountsAsItIs: the one shard of a trial that is shorter than its size says has as many integers as the trial.
func TestAShortTrialCountsAsItIs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.pushWorkflow(strings.Replace(minutely, "length = 50, size = 10", `length = 50, size = "10^6"`, 1), "first")
	run := w.startWorkflow("minutely")
	a := w.agent(func(input string) functions.Result {
		r := honest(input)
		r.WallMicros = 2_000_000 // of fifty integers
		return r
	})
	w.settleAll()
	a.do(10)
	w.settleAll()
	r := w.workflowRun(run.ID)
	require.Equal(t, graph.StepRunning, r.Steps[1].State, r.Error)
	job, err := w.GetJob(t.Context(), w.project, *r.Steps[1].JobID)
	require.NoError(t, err)
	require.Equal(t, "1400", job.Partition.Range.Size.String(), "the median's bucket ends at 2.05 s")
}

// TestWhatNobodyMeasuredCalibratesNothing: no time is not a short one.
func TestWhatNobodyMeasuredCalibratesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.pushWorkflow(minutely, "first")
	run := w.startWorkflow("minutely")
	a := w.agent(honest)
	w.settleAll()
	a.do(10)
	trial := *w.workflowRun(run.ID).Steps[0].JobID
	w.drainUntil(func() bool { return w.job(trial).State == functions.JobFinished })
	require.Equal(t, graph.StepWaiting, w.workflowRun(run.ID).Steps[1].State)
	w.exec("insert into job_metrics (job_id, next_shard) values ($1, 5)", trial)
	w.settleAll()
	r := w.workflowRun(run.ID)
	require.Equal(t, graph.StepFailed, r.Steps[1].State)
	require.Contains(t, r.Error, "not_measured: nobody knows how long the shards of step one took")
}
