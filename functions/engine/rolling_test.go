package engine_test

import (
	"encoding/json"
	"fmt"
	"math/big"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/partition"
	"github.com/ostraka/ostraka/functions/stepargs"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/functions/workflow"
	"github.com/ostraka/ostraka/functions/workflow/graph"
	"github.com/ostraka/ostraka/guardian"
)

// campaign is a workflow that goes through its range in jobs of two shards, three at a time, and checks how many shards there were.
const campaign = `
name = "campaign"
[parameters.from]
type = "integer"
default = "2^64"
[parameters.length]
type = "integer"
default = "95"
minimum = 1
[functions]
numbers = "functions/numbers"
[[steps]]
name = "search"
type = "map"
function = "numbers"
range = { from = "{from}", length = "{length}", size = 10 }
rolling = { ahead = 6, shards = 2 }
policy = { quorum = 1 }
[[steps]]
name = "all"
type = "check"
needs = ["search"]
when = "steps.search.answer.n > 0"
`

func (w *world) startCampaign(length string) workflow.RunDetail {
	return w.startCampaignOf(campaign, length)
}

func (w *world) startCampaignOf(text, length string) workflow.RunDetail {
	w.t.Helper()
	_, _, err := w.PushWorkflow(w.t.Context(), w.by, w.project, workflow.Push{Text: text, Functions: pinned("numbers")})
	require.NoError(w.t, err)
	r, _, err := w.StartWorkflow(w.t.Context(), w.by, w.project, workflow.Start{Workflow: "campaign", Parameters: map[string]json.RawMessage{"length": json.RawMessage(`"` + length + `"`)}}, functions.Idempotency{})
	require.NoError(w.t, err)
	return r
}

// truthOf is what a campaign of so many integers comes to.
func truthOf(length int64) string {
	from := new(big.Int).Lsh(big.NewInt(1), 64)
	return truth(partition.OfRange(partition.Range{From: from, To: new(big.Int).Add(from, big.NewInt(length)), Size: big.NewInt(10)}))
}

func (w *world) rolling(id uuid.UUID) *workflow.RollingProgress {
	w.t.Helper()
	p := w.workflowRun(id).Steps[0].Rolling
	require.NotNil(w.t, p)
	return p
}

// holes are those of a campaign that may not have begun.
func (w *world) holes(id uuid.UUID) []workflow.Hole {
	w.t.Helper()
	if p := w.workflowRun(id).Steps[0].Rolling; p != nil {
		return p.Holes
	}
	return nil
}

// beyond is how far an integer is beyond 2^64.
func beyond(text string) int64 {
	x, _ := new(big.Int).SetString(text, 10)
	return x.Sub(x, new(big.Int).Lsh(big.NewInt(1), 64)).Int64()
}

func TestACampaignRolls(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.agent(honest)
	r := w.startCampaign("95")
	w.settleAll()
	p := w.rolling(r.ID)
	require.Equal(t, []string{"search running", "all waiting"}, states(w.workflowRun(r.ID)))
	require.Equal(t, int64(3), p.OpenJobs)
	require.Equal(t, int64(6), p.OpenShards)
	require.Equal(t, int64(3), w.count("select count(*) from jobs"))
	require.Equal(t, int64(60), beyond(p.Next))
	for i := 0; !w.workflowRun(r.ID).State.Ended(); i++ {
		require.Less(t, i, 20)
		require.Positive(t, a.do(2))
		w.settleAll()
		p = w.rolling(r.ID)
		require.LessOrEqual(t, p.OpenShards, int64(6))
		require.LessOrEqual(t, w.count("select count(*) from workflow_parts"), int64(4), "one stretch is done, and three are open")
	}
	run := w.workflowRun(r.ID)
	require.Equal(t, graph.RunFinished, run.State, run.Error)
	require.Equal(t, int64(95), beyond(p.Front))
	require.Equal(t, int64(5), p.Folded)
	require.Equal(t, int64(10), p.Results)
	require.JSONEq(t, truthOf(95), string(p.Answer))
	require.Equal(t, int64(1), w.count("select count(*) from workflow_parts"))
	require.Equal(t, int64(5), w.count("select count(*) from jobs where created_by = $1", w.by.Actor()))
	// What is folded does not need its job any more.
	w.inProject("update jobs set finished_at = finished_at - interval '40 days'")
	w.sql("update ostraka.projects set keep_jobs_days = 30")
	require.NoError(t, w.Retain(t.Context(), stepargs.RetentionArgs{}))
	w.settleAll()
	require.Zero(t, w.count("select count(*) from jobs where state <> 'deleting'"))
	require.JSONEq(t, truthOf(95), string(w.rolling(r.ID).Answer))
}

func TestACampaignMayBeCutOffAnywhere(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	a := w.agent(honest)
	bad := w.agent(func(string) functions.Result { return raised("ValueError", "no") })
	r := w.startCampaign("75")
	cuts := map[string]int{}
	careful := func(s waiting) {
		cuts[s.Kind] = max(cuts[s.Kind], w.cutOff(uuid.Nil, func() error { return w.step(s) }))
		require.NoError(t, w.step(s), "and once more")
	}
	w.drain(careful)
	for range 3 { // as often as a shard is tried
		bad.do(2)
		w.drain(careful)
	}
	extended := false
	for i := 0; !w.workflowRun(r.ID).State.Ended(); i++ {
		require.Less(t, i, 60)
		if a.do(2) == 0 {
			if p := w.rolling(r.ID); len(p.Holes) > 0 {
				w.cutOff(uuid.Nil, func() error { _, err := w.RetryWorkflowRun(ctx, w.by, w.project, r.ID, ""); return err })
			}
		}
		if !extended {
			extended = true
			w.cutOff(uuid.Nil, func() error {
				_, err := w.ExtendWorkflowRun(ctx, w.by, w.project, r.ID, "", "2^64+95")
				return err
			})
		}
		w.drain(careful)
		require.LessOrEqual(t, w.rolling(r.ID).OpenShards, int64(6))
	}
	run := w.workflowRun(r.ID)
	require.Equal(t, graph.RunFinished, run.State, run.Error)
	p := w.rolling(r.ID)
	require.JSONEq(t, truthOf(95), string(p.Answer))
	require.Equal(t, int64(10), p.Results)
	require.Equal(t, w.count("select count(*) from jobs"), p.Folded+p.Lost, "each stretch has submitted one job, and one for each that was lost")
	require.Greater(t, cuts[stepargs.AdvanceRunArgs{}.Kind()], 20, "%v", cuts)
}

func TestHolesOfACampaign(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	a := w.agent(honest)
	r := w.startCampaign("95")
	w.settleAll()
	first := w.count("select count(*) from jobs")
	require.Equal(t, int64(3), first)
	lost := w.partJob(r.ID, 20)
	_, err := w.CancelJob(ctx, w.by, w.project, lost)
	require.NoError(t, err)
	for range 40 {
		w.settleAll()
		a.do(2)
	}
	w.settleAll()
	p := w.rolling(r.ID)
	require.Equal(t, int64(20), beyond(p.Front), "nothing beyond the hole counts for the front")
	require.Equal(t, int64(95), beyond(p.Next))
	require.Equal(t, "75", p.Done)
	require.Equal(t, "20", p.Left)
	require.Len(t, p.Holes, 1)
	require.Equal(t, int64(20), beyond(p.Holes[0].From))
	require.Equal(t, &lost, p.Holes[0].JobID)
	require.Contains(t, p.Holes[0].Error, "cancelled")
	require.JSONEq(t, truthOf(20), string(p.Answer))
	require.Equal(t, int64(3), w.count("select count(*) from workflow_parts"))
	require.Equal(t, graph.RunRunning, w.workflowRun(r.ID).State)
	_, err = w.RetryWorkflowRun(ctx, w.by, w.project, r.ID, "all")
	requireCode(t, err, "no_rolling_step")
	_, err = w.RetryWorkflowRun(ctx, w.by, w.project, r.ID, "search")
	require.NoError(t, err)
	require.Equal(t, "again", w.rolling(r.ID).Holes[0].State)
	for !w.workflowRun(r.ID).State.Ended() {
		w.settleAll()
		a.do(2)
		w.settleAll()
	}
	p = w.rolling(r.ID)
	require.JSONEq(t, truthOf(95), string(p.Answer))
	require.Empty(t, p.Holes)
	require.Equal(t, int64(1), p.Lost)
}

// partJob is the job of the stretch that begins so far beyond 2^64.
func (w *world) partJob(run uuid.UUID, first int64) (job uuid.UUID) {
	w.t.Helper()
	require.NoError(w.t, w.store.Project(w.t.Context(), w.project, func(tx *store.Tx) error {
		return tx.QueryRow(w.t.Context(), "select job_id from workflow_parts where run_id = $1 and first = 18446744073709551616 + $2::bigint", run, first).Scan(&job)
	}))
	return job
}

func TestACampaignIsPausedExtendedAndCancelled(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	a := w.agent(honest)
	r := w.startCampaign("95")
	w.settleAll()
	_, err := w.PauseWorkflowRun(ctx, w.by, w.project, r.ID)
	require.NoError(t, err)
	for range 10 {
		a.do(2)
		w.settleAll()
	}
	p := w.rolling(r.ID)
	require.Zero(t, p.OpenJobs)
	require.Equal(t, int64(60), beyond(p.Front), "what was open was folded")
	_, err = w.ExtendWorkflowRun(ctx, w.by, w.project, r.ID, "", "2^64+94")
	requireCode(t, err, "bad_parameters")
	_, err = w.ExtendWorkflowRun(ctx, w.by, w.project, r.ID, "", "2^64+2^127+1")
	requireCode(t, err, "bad_parameters")
	_, err = w.ExtendWorkflowRun(ctx, w.by, w.project, r.ID, "", "2^x")
	requireCode(t, err, "bad_parameters")
	_, err = w.ExtendWorkflowRun(ctx, w.by, w.project, r.ID, "", "2^64+2^127")
	require.NoError(t, err)
	require.Len(t, w.decided(guardian.WorkflowStart), 2)
	_, err = w.ResumeWorkflowRun(ctx, w.by, w.project, r.ID)
	require.NoError(t, err)
	w.settleAll()
	for range 10 {
		a.do(2)
		w.settleAll()
		require.LessOrEqual(t, w.count("select count(*) from workflow_parts"), int64(4))
	}
	p = w.rolling(r.ID)
	require.Equal(t, int64(6), p.OpenShards)
	require.Positive(t, p.PerSecond)
	require.Nil(t, p.Usual, "2^127 integers take more than a century")
	_, err = w.CancelWorkflowRun(ctx, w.by, w.project, r.ID)
	require.NoError(t, err)
	w.settleAll()
	run := w.workflowRun(r.ID)
	require.Equal(t, graph.RunCancelled, run.State)
	require.Equal(t, []string{"search cancelled", "all cancelled"}, states(run))
	require.Zero(t, w.count("select count(*) from jobs where state in ('splitting', 'running', 'aggregating')"))
	front := beyond(run.Steps[0].Rolling.Front)
	require.JSONEq(t, truthOf(front), string(run.Steps[0].Rolling.Answer), "what was verified stays")
	_, err = w.ExtendWorkflowRun(ctx, w.by, w.project, r.ID, "", "2^64+2^127")
	requireCode(t, err, "workflow_run_ended")
	require.NoError(t, w.DeleteWorkflowRun(ctx, w.by, w.project, r.ID))
	require.Zero(t, w.count("select count(*) from workflow_parts"))
}

func TestACampaignWaitsForRoomInAQuota(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.agent(honest)
	w.setQuota(functions.QuotaOpenJobs, 2)
	r := w.startCampaign("95")
	w.settleAll()
	p := w.rolling(r.ID)
	require.Equal(t, int64(2), p.OpenJobs)
	require.Contains(t, p.Waits, "quota")
	require.Len(t, w.waiters(), 1)
	for !w.workflowRun(r.ID).State.Ended() {
		a.do(2)
		w.settleAll()
		require.LessOrEqual(t, w.rolling(r.ID).OpenJobs, int64(2))
	}
	require.JSONEq(t, truthOf(95), string(w.rolling(r.ID).Answer))
}

// TestHowManyHolesACampaignHas denies all jobs: each is a hole, and after so many of them none begins any more.
func TestHowManyHolesACampaignHas(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	rule := w.guard(guardRule("denies", guardian.Deny, "", guardian.JobSubmit))
	r := w.startCampaign("10^12")
	w.settleAll()
	p := w.rolling(r.ID)
	require.Len(t, p.Holes, graph.MaxHoles)
	require.Contains(t, p.Waits, "as many holes as there may be")
	require.Contains(t, p.Holes[0].Error, "denied_by_guardian")
	require.Equal(t, int64(graph.MaxHoles*20), beyond(p.Next))
	require.NoError(t, w.DeleteGuardianRule(t.Context(), w.by, w.project, rule.Name, rule.Version))
	_, err := w.RetryWorkflowRun(t.Context(), w.by, w.project, r.ID, "")
	require.NoError(t, err)
	w.settleAll()
	require.Equal(t, int64(3), w.rolling(r.ID).OpenJobs)
	a := w.agent(honest)
	for i := 0; beyond(w.rolling(r.ID).Front) < 1000; i++ {
		require.Less(t, i, 200)
		a.do(2)
		w.settleAll()
	}
	require.LessOrEqual(t, w.count("select count(*) from workflow_parts"), int64(4))
	p = w.rolling(r.ID)
	require.JSONEq(t, truthOf(beyond(p.Front)), string(p.Answer))
}

func TestHowLargeTheSummaryOfACampaignBecomes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.agent(func(input string) functions.Result {
		return ok(fmt.Sprintf(`"%0*d"`, 60_000, beyond(input[9:29])))
	})
	text := strings.Replace(campaign, `policy = { quorum = 1 }`, `policy = { quorum = 1 }
aggregator = "concat"`, 1)
	r := w.startCampaignOf(text, "10^6")
	for i := 0; len(w.holes(r.ID)) == 0; i++ {
		require.Less(t, i, 50)
		w.settleAll()
		a.do(2)
		w.settleAll()
	}
	p := w.rolling(r.ID)
	require.Contains(t, p.Holes[0].Error, "and the limit is 1048576: let the aggregator keep less")
	require.Equal(t, int64(160), beyond(p.Front), "sixteen results of 60,000 bytes fit")
	require.Empty(t, p.Answer, "too long to be shown with the run")
}
