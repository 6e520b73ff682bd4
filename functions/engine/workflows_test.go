package engine_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/stepargs"
	"github.com/ostraka/ostraka/functions/workflow"
	"github.com/ostraka/ostraka/functions/workflow/graph"
	"github.com/ostraka/ostraka/guardian"
)

// twice is a workflow that computes the same sum in two ways and compares them.
const twice = `
name = "twice"
[parameters.from]
type = "integer"
default = "2^64"
[parameters.length]
type = "integer"
default = "5"
minimum = 1
[functions]
first = "functions/first"
second = "functions/second"
[[steps]]
name = "same"
type = "check"
needs = ["one", "two"]
when = "steps.one.answer == steps.two.answer && steps.one.metrics.shards.total == parameters.length"
message = "the two sums differ"
[[steps]]
name = "one"
type = "map"
function = "first"
range = { from = "{from}", length = "{length}*10", size = 10 }
policy = { quorum = 1 }
[[steps]]
name = "two"
type = "map"
function = "second"
needs = ["one"]
range = { from = "{from}", to = "{from}+10*{length}", size = "10" }
policy = { quorum = 1 }
`

func (w *world) twicePins() []workflow.Pin {
	w.pushFunction("first", "")
	w.pushFunction("second", "")
	return pinned("first", "second")
}

func (w *world) pushTwice(change ...string) workflow.Workflow {
	w.t.Helper()
	v, created, err := w.PushWorkflow(w.t.Context(), w.by, w.project, workflow.Push{Text: strings.NewReplacer(change...).Replace(twice), Functions: w.twicePins()})
	require.NoError(w.t, err)
	require.True(w.t, created)
	return v
}

func (w *world) startTwice(parameters map[string]json.RawMessage) workflow.RunDetail {
	w.t.Helper()
	r, replayed, err := w.StartWorkflow(w.t.Context(), w.by, w.project, workflow.Start{Workflow: "twice", Parameters: parameters}, functions.Idempotency{})
	require.NoError(w.t, err)
	require.False(w.t, replayed)
	return r
}

func (w *world) workflowRun(id uuid.UUID) workflow.RunDetail {
	w.t.Helper()
	r, err := w.GetWorkflowRun(w.t.Context(), w.project, id)
	require.NoError(w.t, err)
	return r
}

// states are those of a run's steps, in their order.
func states(r workflow.RunDetail) (list []string) {
	for _, s := range r.Steps {
		list = append(list, s.Name+" "+string(s.State))
	}
	return list
}

func TestAWorkflowRuns(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	v := w.pushTwice()
	require.Equal(t, 1, v.Version)
	a := w.agent(honest)
	r := w.startTwice(nil)
	require.Equal(t, []string{"one waiting", "two waiting", "same waiting"}, states(r))
	w.settleAll()
	r = w.workflowRun(r.ID)
	require.Equal(t, []string{"one running", "two waiting", "same waiting"}, states(r))
	job := w.job(*r.Steps[0].JobID)
	require.Equal(t, "first", job.Function)
	require.Equal(t, w.by.Actor(), job.CreatedBy, "the job is of who started the run")
	require.Equal(t, int64(5), job.Shards.Total)
	require.Equal(t, 5, a.do(5))
	w.settleAll()
	require.Equal(t, []string{"one finished", "two running", "same waiting"}, states(w.workflowRun(r.ID)))
	w.pushFunction("second", "description = \"newer\"\n")
	require.Equal(t, 5, a.do(5))
	w.settleAll()
	r = w.workflowRun(r.ID)
	require.Equal(t, []string{"one finished", "two finished", "same finished"}, states(r), r.Error)
	require.Equal(t, graph.RunFinished, r.State)
	require.NotNil(t, r.EndedAt)
	require.Equal(t, 1, w.job(*r.Steps[1].JobID).Version)
	require.Len(t, w.decided(guardian.WorkflowStart), 1)
	require.Len(t, w.decided(guardian.JobSubmit), 2)
	require.Empty(t, w.steps())
	require.JSONEq(t, `{"from":"18446744073709551616","length":"5"}`, jsonOf(t, r.Parameters))
}

func TestACheckThatDoesNotHoldFailsItsRun(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.pushTwice("to = \"{from}+10*{length}\"", "to = \"{from}+20*{length}\"")
	a := w.agent(honest)
	r := w.startTwice(map[string]json.RawMessage{"from": json.RawMessage(`"10^3"`), "length": json.RawMessage(`1`)})
	w.settleAll()
	a.do(1)
	w.settleAll()
	a.do(2)
	w.settleAll()
	r = w.workflowRun(r.ID)
	require.Equal(t, graph.RunFailed, r.State)
	require.Equal(t, []string{"one finished", "two finished", "same failed"}, states(r))
	require.Equal(t, `step same: the two sums differ; steps.one.answer is {"n":1,"sum":1000}; steps.two.answer is {"n":2,"sum":2010}`, r.Error)
}

// TestACheckWhoseErrorHoldsANULFails has CEL say a key that Postgres cannot keep.
func TestACheckWhoseErrorHoldsANULFails(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.pushTwice(`when = "steps.one.answer == steps.two.answer && steps.one.metrics.shards.total == parameters.length"`, `when = '{"a": steps.one.answer}["b\u0000c"] == 1'`)
	a := w.agent(honest)
	r := w.startTwice(nil)
	for range 2 {
		w.settleAll()
		require.Equal(t, 5, a.do(5))
	}
	w.settleAll()
	r = w.workflowRun(r.ID)
	require.Equal(t, graph.RunFailed, r.State)
	require.Contains(t, r.Error, "no such key: bc")
}

func TestAJobThatIsCancelledFailsItsRun(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.pushTwice()
	r := w.startTwice(nil)
	w.settleAll()
	job := *w.workflowRun(r.ID).Steps[0].JobID
	_, err := w.CancelJob(t.Context(), w.by, w.project, job)
	require.NoError(t, err)
	w.settleAll()
	r = w.workflowRun(r.ID)
	require.Equal(t, graph.RunFailed, r.State)
	require.Equal(t, []string{"one failed", "two skipped", "same skipped"}, states(r))
	require.Equal(t, fmt.Sprintf("step one: job %s is cancelled: cancelled by %s", job, w.by.Actor()), r.Error)
}

func TestARunIsPausedResumedAndCancelled(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	w.pushTwice()
	a := w.agent(honest)
	r := w.startTwice(nil)
	w.settleAll()
	for range 2 {
		paused, err := w.PauseWorkflowRun(ctx, w.by, w.project, r.ID)
		require.NoError(t, err)
		require.Equal(t, graph.RunPaused, paused.State)
	}
	require.Equal(t, 5, a.do(5), "jobs go on")
	w.settleAll()
	require.Equal(t, []string{"one finished", "two waiting", "same waiting"}, states(w.workflowRun(r.ID)))
	for range 2 {
		_, err := w.ResumeWorkflowRun(ctx, w.by, w.project, r.ID)
		require.NoError(t, err)
	}
	w.settleAll()
	running := w.workflowRun(r.ID)
	require.Equal(t, []string{"one finished", "two running", "same waiting"}, states(running))
	requireCode(t, w.DeleteWorkflowRun(ctx, w.by, w.project, r.ID), "workflow_runs")
	requireCode(t, w.DeleteWorkflow(ctx, w.by, w.project, "twice", 1), "workflow_runs")
	for range 2 {
		_, err := w.CancelWorkflowRun(ctx, w.by, w.project, r.ID)
		require.NoError(t, err)
	}
	requireCode(t, w.DeleteWorkflowRun(ctx, w.by, w.project, r.ID), "workflow_runs")
	requireCode(t, w.DeleteWorkflow(ctx, w.by, w.project, "twice", 1), "workflow_runs")
	w.settleAll()
	r = w.workflowRun(r.ID)
	require.Equal(t, graph.RunCancelled, r.State)
	require.Equal(t, []string{"one finished", "two cancelled", "same cancelled"}, states(r))
	require.Equal(t, functions.JobCancelled, w.job(*running.Steps[1].JobID).State)
	_, err := w.ResumeWorkflowRun(ctx, w.by, w.project, r.ID)
	requireCode(t, err, "workflow_run_ended")
	require.NoError(t, w.DeleteWorkflowRun(ctx, w.by, w.project, r.ID))
	_, err = w.GetWorkflowRun(ctx, w.project, r.ID)
	requireCode(t, err, "not_found")
	requireCode(t, w.DeleteWorkflow(ctx, w.by, w.project, "twice", 2), "revision_changed")
	require.NoError(t, w.DeleteWorkflow(ctx, w.by, w.project, "twice", 1))
	_, err = w.GetWorkflow(ctx, w.project, "twice", 0)
	requireCode(t, err, "not_found")
}

func TestARunMayBeCutOffAnywhere(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	pins := w.twicePins()
	w.cutOff(uuid.Nil, func() error {
		_, _, err := w.PushWorkflow(ctx, w.by, w.project, workflow.Push{Text: twice, Functions: pins})
		return err
	})
	require.Equal(t, int64(1), w.count("select count(*) from workflow_versions"))
	a := w.agent(honest)
	cuts := map[string]int{}
	careful := func(s waiting) {
		cuts[s.Kind] = max(cuts[s.Kind], w.cutOff(uuid.Nil, func() error { return w.step(s) }))
		require.NoError(t, w.step(s), "and once more")
	}
	for round, end := range []graph.RunState{graph.RunFinished, graph.RunCancelled} {
		var r workflow.RunDetail
		w.cutOff(uuid.Nil, func() (err error) {
			r, _, err = w.StartWorkflow(ctx, w.by, w.project, workflow.Start{Workflow: "twice"}, functions.Idempotency{Key: string(end)})
			return err
		})
		require.Equal(t, int64(1+round), w.count("select count(*) from workflow_runs"))
		w.drain(careful)
		if end == graph.RunCancelled {
			w.cutOff(uuid.Nil, func() error { _, err := w.CancelWorkflowRun(ctx, w.by, w.project, r.ID); return err })
		}
		for i := 0; !w.workflowRun(r.ID).State.Ended(); i++ {
			require.Less(t, i, 10)
			a.do(5)
			w.drain(careful)
		}
		w.drain(careful)
		r = w.workflowRun(r.ID)
		require.Equal(t, end, r.State, r.Error)
	}
	require.Equal(t, int64(3), w.count("select count(*) from jobs"), "each step has submitted one job")
	require.Equal(t, int64(1), w.count("select count(*) from audit where action = 'workflow.end'"))
	require.Greater(t, cuts[stepargs.AdvanceRunArgs{}.Kind()], 10, "%v", cuts)
}

func TestPushingAWorkflow(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	pins := w.twicePins()
	push := func(text string, pins []workflow.Pin) (workflow.Workflow, bool, error) {
		return w.PushWorkflow(ctx, w.by, w.project, workflow.Push{Text: text, Functions: pins})
	}
	first, created, err := push(twice, pins)
	require.NoError(t, err)
	require.True(t, created)
	again, created, err := push(twice, []workflow.Pin{pins[1], pins[0]})
	require.NoError(t, err)
	require.False(t, created, "the order of the functions says nothing")
	require.Equal(t, first.Digest, again.Digest)
	w.pushFunction("second", "description = \"newer\"\n")
	newer, created, err := push(twice, []workflow.Pin{pins[0], {Name: "second", Function: "second", Version: 2}})
	require.NoError(t, err)
	require.True(t, created)
	require.Equal(t, 2, newer.Version)
	require.NotEqual(t, first.Digest, newer.Digest)
	back, created, err := push(twice, pins)
	require.NoError(t, err)
	require.True(t, created, "what was pushed before is the newest again")
	require.Equal(t, 3, back.Version)
	old, err := w.GetWorkflow(ctx, w.project, "twice", 2)
	require.NoError(t, err)
	require.Equal(t, newer.Functions, old.Functions)

	for name, wrong := range map[string][]workflow.Pin{
		"one is missing": pins[:1], "one is foreign": append([]workflow.Pin{{Name: "third", Function: "first", Version: 1}}, pins...), "one is given twice": append(pins[:1:1], pins...),
		"one has no version": {pins[0], {Name: "second", Function: "second"}},
	} {
		_, _, err = push(twice, wrong)
		requireCode(t, err, "bad_workflow")
		require.ErrorContains(t, err, "functions: ", name)
	}
	_, _, err = push(twice, []workflow.Pin{pins[0], {Name: "second", Function: "second", Version: 9}})
	requireCode(t, err, "not_found")
	_, _, err = push("name = 1", nil)
	requireCode(t, err, "bad_workflow")
	for given, field := range map[string]string{`{"length": "0"}`: "minimum", `{"size": 1}`: "no parameter", `{"from": "2^x"}`: "no integer"} {
		var parameters map[string]json.RawMessage
		require.NoError(t, json.Unmarshal([]byte(given), &parameters))
		_, _, err := w.StartWorkflow(ctx, w.by, w.project, workflow.Start{Workflow: "twice", Parameters: parameters}, functions.Idempotency{})
		requireCode(t, err, "bad_parameters")
		require.ErrorContains(t, err, field)
	}
	r, _, err := w.StartWorkflow(ctx, w.by, w.project, workflow.Start{Workflow: "twice", Version: 2}, functions.Idempotency{Key: "k"})
	require.NoError(t, err)
	twin, replayed, err := w.StartWorkflow(ctx, w.by, w.project, workflow.Start{Workflow: "twice", Version: 2}, functions.Idempotency{Key: "k"})
	require.NoError(t, err)
	require.True(t, replayed)
	require.Equal(t, r.ID, twin.ID)
	require.Equal(t, newer.Functions, r.Functions)

	// Old versions are forgotten, but for those that runs keep to.
	w.inProject("update workflows set newest = 3 + $1", workflow.KeptVersions)
	w.inProject("update workflow_versions set version = 3 + $1 where version = 3", workflow.KeptVersions)
	_, _, err = push(strings.Replace(twice, "differ", "are different", 1), pins)
	require.NoError(t, err)
	require.Equal(t, int64(3), w.count("select count(*) from workflow_versions"))
	require.Equal(t, int64(0), w.count("select count(*) from workflow_versions where version = 1"))
}

func TestHowManyWorkflowsAndRuns(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	w.pushTwice()
	pins := pinned("first", "second")
	w.inProject("insert into workflows (id, name, newest, created_by) select gen_random_uuid(), 'w' || n, 1, 'x' from generate_series(2, $1::integer - 1) n", workflow.MaxWorkflows)
	named := func(name string) string { return strings.Replace(twice, "twice", name, 1) }
	_, created, err := w.PushWorkflow(ctx, w.by, w.project, workflow.Push{Text: named("last"), Functions: pins})
	require.NoError(t, err)
	require.True(t, created)
	_, _, err = w.PushWorkflow(ctx, w.by, w.project, workflow.Push{Text: named("one-more"), Functions: pins})
	requireCode(t, err, "too_many_workflows")

	w.inProject(`insert into workflow_runs (id, workflow_id, version, parameters, state, started_by)
		select gen_random_uuid(), id, 1, '{}', (array['running', 'paused'])[1 + n % 2], 'x' from workflows, generate_series(2, $1::integer) n where name = 'twice'`, workflow.MaxOpenRuns)
	w.startTwice(nil)
	_, _, err = w.StartWorkflow(ctx, w.by, w.project, workflow.Start{Workflow: "twice"}, functions.Idempotency{})
	requireCode(t, err, "too_many_workflow_runs")
	w.inProject("update workflow_runs set state = 'failed', ended_at = now() - interval '40 days' where parameters = '{}'")
	w.startTwice(nil)
}

func TestHowManyEndedRunsAreKept(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.pushTwice()
	ended := func(n int) {
		w.inProject(`insert into workflow_runs (id, workflow_id, version, parameters, state, started_by, ended_at)
			select gen_random_uuid(), id, 1, '{}', 'failed', 'x', now() - n * interval '1 second' from workflows, generate_series(1, $1::integer) n`, n)
	}
	kept := func() int64 { return w.count("select count(*) from workflow_runs where ended_at is not null") }
	oldest := func() int64 { return w.count("select extract(epoch from min(ended_at))::bigint from workflow_runs") }
	ended(workflow.MaxKeptRuns)
	w.startTwice(nil)
	require.Equal(t, int64(workflow.MaxKeptRuns), kept())
	before := oldest()
	ended(1)
	w.startTwice(nil)
	require.Equal(t, int64(workflow.MaxKeptRuns), kept())
	require.Greater(t, oldest(), before, "the oldest has gone")
	ended(150)
	w.startTwice(nil)
	require.Equal(t, int64(workflow.MaxKeptRuns+50), kept(), "not more than a hundred at once")
	w.startTwice(nil)
	require.Equal(t, int64(workflow.MaxKeptRuns), kept())
	require.Equal(t, int64(4), w.count("select count(*) from workflow_runs where state = 'running'"))
	v, err := w.GetWorkflow(t.Context(), w.project, "twice", 0)
	require.NoError(t, err)
	require.Equal(t, int64(4), v.OpenRuns)
}

func TestHowManyBytesParametersHave(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var declared strings.Builder
	given := map[string]json.RawMessage{}
	rest := workflow.MaxParametersBytes - len(`{"from":"18446744073709551616","length":"5"}`) - 17*len(`,"text_00":""`)
	for i := range 17 {
		fmt.Fprintf(&declared, "[parameters.text_%02d]\ntype = \"string\"\n", i)
		n := min(rest, graph.MaxTextBytes)
		rest -= n
		given[fmt.Sprintf("text_%02d", i)] = json.RawMessage(`"` + strings.Repeat("x", n) + `"`)
	}
	require.Zero(t, rest)
	w.pushTwice("[functions]", declared.String()+"[functions]")
	w.startTwice(given)
	given["length"] = json.RawMessage(`"50"`)
	_, _, err := w.StartWorkflow(t.Context(), w.by, w.project, workflow.Start{Workflow: "twice", Parameters: given}, functions.Idempotency{})
	requireCode(t, err, "bad_parameters")
	require.ErrorContains(t, err, "they have 65537 bytes of JSON together, and the limit is 65536")
}

func TestTheGuardianDecidesAboutTheJobsOfARun(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	w.pushTwice()
	rule := w.guard(guardRule("asks", guardian.Ask, "", guardian.JobSubmit))
	r := w.startTwice(nil)
	w.settleAll()
	r = w.workflowRun(r.ID)
	require.Equal(t, []string{"one running", "two waiting", "same waiting"}, states(r))
	require.NotNil(t, r.Steps[0].Approval, "it is shown what the step waits for")
	require.Nil(t, w.agent(honest).lease(5))
	_, err := w.DecideApproval(ctx, w.by, w.project, r.Steps[0].Approval.ID, true, "fine")
	require.NoError(t, err)
	require.NoError(t, w.DeleteGuardianRule(ctx, w.by, w.project, rule.Name, rule.Version))
	w.guard(guardRule("denies", guardian.Deny, "", guardian.JobSubmit))
	require.Equal(t, 5, w.agent(honest).do(5))
	w.settleAll()
	r = w.workflowRun(r.ID)
	require.Equal(t, graph.RunFailed, r.State)
	require.Equal(t, []string{"one finished", "two failed", "same skipped"}, states(r))
	require.Contains(t, r.Error, "step two: denied_by_guardian: ")
}

func TestACheckWhoseJobWasDeletedFails(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	w.pushTwice()
	a := w.agent(honest)
	r := w.startTwice(nil)
	w.settleAll()
	a.do(5)
	w.settleAll()
	_, err := w.DeleteJob(ctx, w.by, w.project, *w.workflowRun(r.ID).Steps[0].JobID)
	require.NoError(t, err)
	w.settleAll()
	a.do(5)
	w.settleAll()
	r = w.workflowRun(r.ID)
	require.Equal(t, []string{"one finished", "two finished", "same failed"}, states(r))
	require.Equal(t, "step same: the job of step one was deleted before the check", r.Error)
	require.Nil(t, r.Steps[0].JobID)
}

func TestRunsAreKeptAsLongAsJobs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.pushTwice()
	old, open := w.startTwice(nil), w.startTwice(nil)
	_, err := w.CancelWorkflowRun(t.Context(), w.by, w.project, old.ID)
	require.NoError(t, err)
	w.settleAll()
	w.sql("update ostraka.projects set keep_jobs_days = 30")
	require.NoError(t, w.Retain(t.Context(), stepargs.RetentionArgs{}))
	require.Equal(t, int64(2), w.count("select count(*) from workflow_runs"))
	w.inProject("update workflow_runs set started_at = now() - interval '31 days', ended_at = ended_at - interval '31 days'")
	require.NoError(t, w.Retain(t.Context(), stepargs.RetentionArgs{}))
	require.Equal(t, int64(1), w.count("select count(*) from workflow_runs where id = $1", open.ID))
	require.Equal(t, int64(1), w.count("select count(*) from workflow_runs"))
}
