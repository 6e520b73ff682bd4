package engine_test

import (
	"encoding/json"
	"math/big"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/stepargs"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/functions/workflow"
	"github.com/ostraka/ostraka/functions/workflow/graph"
)

// flowing is a campaign whose items flow on: what a job of the search has found is weighed while the search goes on.
const flowing = `
name = "campaign"
[parameters.length]
type = "integer"
default = "95"
[functions]
numbers = "functions/numbers"
[[steps]]
name = "search"
type = "map"
function = "numbers"
range = { from = "2^64", length = "{length}", size = 10 }
rolling = { ahead = 6, shards = 2 }
policy = { quorum = 1 }
aggregator = "merge"
params = { fields = { found = "concat" } }
[[steps]]
name = "each"
type = "map"
function = "numbers"
needs = ["search"]
items = { step = "search", field = "found", flow = true }
policy = { quorum = 1 }
aggregator = "concat"
[[steps]]
name = "right"
type = "check"
needs = ["each"]
when = "steps.each.answer.size() == 6"
`

// seeker finds its beginning in each shard of the search, but between 20 and 40, and from 80 on, where there is nothing.
func seeker(input string) functions.Result {
	var bounds struct{ From string }
	if json.Unmarshal([]byte(input), &bounds) != nil || bounds.From == "" {
		return ok(input)
	}
	x, _ := new(big.Int).SetString(bounds.From, 10)
	if n := beyond(x.String()); n >= 20 && n < 40 || n >= 80 {
		return ok(`{"found":[]}`)
	}
	return ok(`{"found":["` + x.String() + `"]}`)
}

// found is what a campaign so finds.
func found() string {
	var list []string
	for _, n := range []int64{0, 10, 40, 50, 60, 70} {
		list = append(list, `"`+new(big.Int).Add(new(big.Int).Lsh(big.NewInt(1), 64), big.NewInt(n)).String()+`"`)
	}
	return "[" + strings.Join(list, ",") + "]"
}

func (w *world) step2(id uuid.UUID) *workflow.RollingProgress {
	w.t.Helper()
	p := w.workflowRun(id).Steps[1].Rolling
	require.NotNil(w.t, p)
	return p
}

func TestItemsFlowWhileTheStepBeforeRuns(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.agent(seeker)
	r := w.startCampaignOf(flowing, "95")
	w.settleAll()
	require.Equal(t, []string{"search running", "each running", "right waiting"}, states(w.workflowRun(r.ID)))
	require.Equal(t, int64(3), w.count("select count(*) from jobs"), "of the search alone")
	for range 10 {
		if w.count("select count(*) from jobs where partition ->> 'kind' = 'items'") > 0 {
			break
		}
		a.do(2)
		w.settleAll()
	}
	require.Equal(t, []string{"search running", "each running", "right waiting"}, states(w.workflowRun(r.ID)))
	require.Equal(t, int64(2), w.step2(r.ID).OpenShards, "what the first job has found is under way, and the search is not through")
	for i := 0; !w.workflowRun(r.ID).State.Ended(); i++ {
		require.Less(t, i, 40)
		a.do(2)
		w.settleAll()
		require.LessOrEqual(t, w.rolling(r.ID).OpenShards, int64(6))
		require.LessOrEqual(t, w.count("select count(*) from workflow_parts"), int64(8))
	}
	run := w.workflowRun(r.ID)
	require.Equal(t, graph.RunFinished, run.State, run.Error)
	require.JSONEq(t, found(), string(w.step2(r.ID).Answer))
	require.Equal(t, int64(95), beyond(w.step2(r.ID).Front))
	require.Equal(t, int64(3), w.count("select count(*) from jobs where partition ->> 'kind' = 'items'"), "where nothing was found there is no job")
	require.Equal(t, int64(2), w.count("select count(*) from workflow_parts"))
}

// TestItemsThatFlowShareShards where the function takes items: what is under way is counted in shards.
func TestItemsThatFlowShareShards(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	v := w.pushFunction("numbers", "per = \"item\"\n")
	a := w.agent(seeker)
	_, _, err := w.PushWorkflow(t.Context(), w.by, w.project, workflow.Push{Text: flowing, Functions: []workflow.Pin{{Name: "numbers", Function: "numbers", Version: v.Version}}})
	require.NoError(t, err)
	r, _, err := w.StartWorkflow(t.Context(), w.by, w.project, workflow.Start{Workflow: "campaign", Parameters: map[string]json.RawMessage{"length": json.RawMessage(`"95"`)}}, functions.Idempotency{})
	require.NoError(t, err)
	for i := 0; w.count("select count(*) from jobs where partition ->> 'kind' = 'items'") == 0; i++ {
		require.Less(t, i, 10)
		w.settleAll()
		a.do(2)
		w.settleAll()
	}
	require.Equal(t, int64(1), w.step2(r.ID).OpenShards, "two items in a shard")
}

// TestNothingFlows where nothing is found at all.
func TestNothingFlows(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.agent(func(string) functions.Result { return ok(`{"found":[]}`) })
	r := w.startCampaignOf(strings.Replace(flowing, "steps.each.answer.size() == 6", "steps.each.answer == null", 1), "95")
	for i := 0; !w.workflowRun(r.ID).State.Ended(); i++ {
		require.Less(t, i, 40)
		w.settleAll()
		a.do(2)
		w.settleAll()
	}
	run := w.workflowRun(r.ID)
	require.Equal(t, graph.RunFinished, run.State, run.Error)
}

// TestFlowingMayBeCutOffAnywhere cuts off every step at each of its statements, loses jobs of both, and moves the end: each item flows once.
func TestFlowingMayBeCutOffAnywhere(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	a := w.agent(seeker)
	r := w.startCampaignOf(flowing, "75")
	cuts := 0
	careful := func(s waiting) {
		n := w.cutOff(uuid.Nil, func() error { return w.step(s) })
		if s.Kind == (stepargs.AdvanceRunArgs{}).Kind() {
			cuts = max(cuts, n)
		}
		require.NoError(t, w.step(s), "and once more")
	}
	w.drain(careful)
	_, err := w.ExtendWorkflowRun(ctx, w.by, w.project, r.ID, "search", "2^64+95")
	require.NoError(t, err)
	require.Equal(t, int64(95), beyond(w.step2(r.ID).To), "what follows goes as far")
	lost := map[string]bool{}
	for i := 0; !w.workflowRun(r.ID).State.Ended(); i++ {
		require.Less(t, i, 40, "%+v %+v", w.rolling(r.ID), w.step2(r.ID))
		for kind, number := range map[string]int{"search": 0, "each": 1} { // one job of each is lost
			if open := w.count("select count(*) from workflow_parts where number = $1 and state = 'open'", number); !lost[kind] && open > 0 {
				lost[kind] = true
				_, err := w.CancelJob(ctx, w.by, w.project, w.someOpenPart(number))
				require.NoError(t, err)
			}
		}
		w.drain(careful)
		if p := w.workflowRun(r.ID); len(p.Steps[0].Rolling.Holes)+len(p.Steps[1].Rolling.Holes) > 0 {
			w.cutOff(uuid.Nil, func() error { _, err := w.RetryWorkflowRun(ctx, w.by, w.project, r.ID, ""); return err })
		}
		w.drain(careful)
		a.do(2)
		w.drain(careful)
	}
	run := w.workflowRun(r.ID)
	require.Equal(t, graph.RunFinished, run.State, run.Error)
	require.JSONEq(t, found(), string(w.step2(r.ID).Answer))
	require.Equal(t, int64(6), w.step2(r.ID).Results)
	require.Equal(t, int64(1), w.step2(r.ID).Lost)
	require.Equal(t, int64(1), w.rolling(r.ID).Lost)
	require.Greater(t, cuts, 20)
}

// someOpenPart is the first job of a rolling step that is under way.
func (w *world) someOpenPart(number int) (job uuid.UUID) {
	w.t.Helper()
	require.NoError(w.t, w.store.Project(w.t.Context(), w.project, func(tx *store.Tx) error {
		return tx.QueryRow(w.t.Context(), "select job_id from workflow_parts where number = $1 and state = 'open' order by first limit 1", number).Scan(&job)
	}))
	return job
}

// TestAStepThatFollowsHoldsTheOtherBack while its own jobs are open, and fails the run by itself where its items are none.
func TestAStepThatFollowsHoldsTheOtherBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	searching := w.agent(func(input string) functions.Result {
		if strings.Contains(input, "from") {
			return ok(`{"found":["a","b","c"]}`)
		}
		return raised("ValueError", "no")
	})
	r := w.startCampaignOf(flowing, "10^6")
	for range 12 {
		w.settleAll()
		searching.do(2)
	}
	w.settleAll()
	require.LessOrEqual(t, w.rolling(r.ID).OpenShards, int64(6))
	require.LessOrEqual(t, w.count("select count(*) from jobs where state not in ('finished', 'failed')"), int64(8))
	require.Less(t, beyond(w.rolling(r.ID).Next), int64(1000), "the search waits")

	w = newWorld(t)
	a := w.agent(func(string) functions.Result { return ok(`{"found":["a"]}`) })
	r = w.startCampaignOf(strings.Replace(flowing, `field = "found"`, `field = "others"`, 1), "95")
	for i := 0; !w.workflowRun(r.ID).State.Ended(); i++ {
		require.Less(t, i, 40)
		w.settleAll()
		a.do(2)
		w.settleAll()
	}
	require.Contains(t, w.workflowRun(r.ID).Error, `step each: bad_workflow: steps.each.items: the answer of the step search has no field "others"`)
}
