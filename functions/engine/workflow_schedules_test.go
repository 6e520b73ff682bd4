package engine_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/schedule"
	"github.com/ostraka/ostraka/functions/stepargs"
	"github.com/ostraka/ostraka/functions/workflow"
	"github.com/ostraka/ostraka/functions/workflow/graph"
	"github.com/ostraka/ostraka/guardian"
)

// clocked is a workflow that starts itself every hour.
const clocked = `
name = "timed"
[parameters.length]
type = "integer"
default = 50
[parameters.share]
type = "number"
default = 1e-5
[functions]
first = "functions/first"
[[schedules]]
name = "hourly"
every = "1h"
parameters = { length = "3*10" }
[[steps]]
name = "one"
type = "map"
function = "first"
range = { from = 0, length = "{length}", size = 10 }
policy = { quorum = 1 }
`

func (w *world) pushTimed(change ...string) error {
	w.t.Helper()
	_, _, err := w.PushWorkflow(w.t.Context(), w.by, w.project, workflow.Push{Text: strings.NewReplacer(change...).Replace(clocked), Functions: pinned("first")})
	return err
}

// run is the run that the newest time of a schedule has started.
func (w *world) runOf(id uuid.UUID) workflow.RunDetail {
	w.t.Helper()
	r, err := w.GetWorkflowRun(w.t.Context(), w.project, *w.shown(id).Firings[0].RunID)
	require.NoError(w.t, err)
	return r
}

func TestSchedulesOfAWorkflow(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.pushFunction("first", "")
	w.cutOff(uuid.Nil, func() error { return w.pushTimed() })
	list := w.schedules()
	require.Len(t, list, 1)
	d := w.shown(list[0].ID)
	require.Equal(t, &schedule.WorkflowUse{Name: "timed", Parameters: map[string]json.RawMessage{"length": json.RawMessage(`"30"`), "share": json.RawMessage("0.00001")}}, d.Spec.Workflow)
	require.Len(t, d.Next, schedule.ShownTimes)
	require.Len(t, w.decided(guardian.JobSchedule), 1)

	w.due(d.ID, 30*time.Second)
	w.look()
	r := w.runOf(d.ID)
	require.Equal(t, w.by.Actor(), r.StartedBy, "the run is of who wanted the schedule")
	require.JSONEq(t, `"30"`, string(r.Parameters["length"]))
	require.Equal(t, int64(1), w.count("select count(*) from audit where action = 'workflow.start' and actor = 'schedule:hourly'"))
	w.settleAll()
	require.Equal(t, 3, w.agent(honest).do(3))
	w.settleAll()
	require.Equal(t, graph.RunFinished, w.runOf(d.ID).State)

	// Pushed again, with or without other changes, it is left alone; a default that has changed is another parameter.
	require.NoError(t, w.pushTimed())
	require.NoError(t, w.pushTimed("size = 10", "size = 15"))
	require.Equal(t, d.Revision, w.shown(d.ID).Revision)
	_, err := w.PauseSchedule(t.Context(), w.by, w.project, d.ID)
	require.NoError(t, err)
	require.NoError(t, w.pushTimed("default = 1e-5", "default = 0.5"))
	changed := w.shown(d.ID)
	require.JSONEq(t, "0.5", string(changed.Spec.Workflow.Parameters["share"]))
	require.True(t, changed.Spec.Paused, "a push does not resume it")
	require.Contains(t, changed.PauseReason, "paused by")
	_, err = w.ResumeSchedule(t.Context(), w.by, w.project, d.ID)
	require.NoError(t, err)

	require.NoError(t, w.pushTimed(clocked[strings.Index(clocked, "[[schedules]]"):strings.Index(clocked, "[[steps]]")], ""))
	require.Empty(t, w.schedules(), "what is left out is deleted")
	require.NoError(t, w.pushTimed(`"hourly"`, `"other"`))
	w.settleAll()
	require.NoError(t, w.DeleteWorkflow(t.Context(), w.by, w.project, "timed", w.count("select newest from workflows")))
	require.Empty(t, w.schedules(), "schedules go with their workflow")
	require.Zero(t, w.controlCount("select count(*) from ostraka.due_schedules"))
}

// TestAPushMayMakeSchedulesPaused holds that those of an imported project begin by nobody but people, and that no push changes others.
func TestAPushMayMakeSchedulesPaused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.pushFunction("first", "")
	push := func(text string) {
		_, _, err := w.PushWorkflow(t.Context(), w.by, w.project, workflow.Push{Text: text, Functions: pinned("first"), Paused: true})
		require.NoError(t, err)
	}
	push(clocked)
	d := w.shown(w.schedules()[0].ID)
	require.True(t, d.Spec.Paused)
	w.due(d.ID, 30*time.Second)
	w.look()
	require.Zero(t, w.count("select count(*) from workflow_runs"), "nothing begins")

	_, err := w.ResumeSchedule(t.Context(), w.by, w.project, d.ID)
	require.NoError(t, err)
	push(clocked)
	push(strings.ReplaceAll(clocked, `every = "1h"`, `every = "2h"`))
	d = w.shown(d.ID)
	require.Equal(t, "2h", d.Spec.Every)
	require.False(t, d.Spec.Paused, "one that is there stays as it is")
	require.NotNil(t, d.NextAt)
}

// TestPushingAgainMendsSchedules that were changed by themselves, and takes over no name.
func TestPushingAgainMendsSchedules(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	w.pushFunction("first", "")
	require.NoError(t, w.pushTimed())
	d := w.shown(w.schedules()[0].ID)
	spec := d.Spec
	spec.Every = "2h"
	_, err := w.UpdateSchedule(ctx, w.by, w.project, d.ID, spec, d.Revision)
	require.NoError(t, err)
	require.NoError(t, w.pushTimed())
	require.Equal(t, "1h", w.shown(d.ID).Spec.Every)
	require.NoError(t, w.DeleteSchedule(ctx, w.by, w.project, d.ID, d.Revision+2))
	require.NoError(t, w.pushTimed())
	require.Len(t, w.schedules(), 1)

	w.schedule("taken")
	versions := w.count("select count(*) from workflow_versions")
	requireCode(t, w.pushTimed(`"hourly"`, `"taken"`), "name_taken")
	require.Equal(t, versions, w.count("select count(*) from workflow_versions"))
	require.Len(t, w.schedules(), 2, "nothing was deleted either")
	w.guard(guardRule("no-schedules", guardian.Deny, "", guardian.JobSchedule))
	requireCode(t, w.pushTimed("3*10", "20"), "denied_by_guardian")
	require.NoError(t, w.pushTimed(), "what does not change is not asked about")
}

func TestWhatOverlapsOfAWorkflow(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.pushFunction("first", "")
	require.NoError(t, w.pushTimed())
	for way, want := range map[schedule.Overlap][]schedule.Outcome{
		schedule.OverlapSkip:   {schedule.Skipped, schedule.Submitted},
		schedule.OverlapQueue:  {schedule.Submitted},
		schedule.OverlapCancel: {schedule.Submitted, schedule.Submitted},
	} {
		d := w.schedule(string(way), func(s *schedule.Spec) {
			s.Job, s.Overlap, s.Workflow = functions.NewJob{}, way, &schedule.WorkflowUse{Name: "timed"}
		})
		require.JSONEq(t, `"50"`, string(d.Spec.Workflow.Parameters["length"]), "a default is pinned as well")
		w.due(d.ID, time.Minute)
		w.look()
		first := w.runOf(d.ID)
		w.due(d.ID, 20*time.Second)
		w.look()
		shown := w.shown(d.ID)
		require.Equal(t, want, outcomes(shown), way)
		require.Equal(t, way == schedule.OverlapQueue, shown.Waits)
		now, err := w.GetWorkflowRun(t.Context(), w.project, first.ID)
		require.NoError(t, err)
		require.Equal(t, way == schedule.OverlapCancel, now.State == graph.RunCancelled, way)
		if way == schedule.OverlapSkip {
			require.Equal(t, "run "+first.ID.String()+" has not ended", shown.Firings[0].Detail)
		}
		_, _, err = w.RunSchedule(t.Context(), w.by, w.project, d.ID, functions.Idempotency{})
		requireCode(t, err, "schedule_starts_workflow")
	}
}

// TestStartingByTheClockMayBeCutOffAnywhere cuts off the step at each of its statements: the time comes once.
func TestStartingByTheClockMayBeCutOffAnywhere(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	w.pushFunction("first", "")
	require.NoError(t, w.pushTimed("every = \"1h\"", "every = \"1h\"\noverlap = \"cancel-other\""))
	id := w.schedules()[0].ID
	w.due(id, time.Minute)
	w.look()
	first := w.runOf(id)
	w.due(id, 20*time.Second)
	args := stepargs.FireScheduleArgs{Project: w.project, Schedule: id}
	require.Greater(t, w.cutOff(uuid.Nil, func() error { return w.Fire(ctx, args) }), 20)
	require.NoError(t, w.Fire(ctx, args), "and once more")
	require.Equal(t, int64(2), w.count("select count(*) from workflow_runs"))
	require.NotEqual(t, first.ID, w.runOf(id).ID)
	was, err := w.GetWorkflowRun(ctx, w.project, first.ID)
	require.NoError(t, err)
	require.Equal(t, graph.RunCancelled, was.State)
	require.Equal(t, int64(2), w.count("select count(*) from schedule_firings where outcome = 'submitted'"))
}

// TestAWorkflowThatCannotStart is written down as a time that failed; what it would have made is told to nobody.
func TestAWorkflowThatCannotStart(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.pushFunction("first", "")
	require.NoError(t, w.pushTimed())
	id := w.schedules()[0].ID
	w.guard(guardRule("no-runs", guardian.Deny, "", guardian.WorkflowStart))
	w.due(id, 20*time.Second)
	w.look()
	shown := w.shown(id)
	require.Equal(t, []schedule.Outcome{schedule.Failed}, outcomes(shown))
	require.Contains(t, shown.LastError, "denied_by_guardian")
	require.Zero(t, w.count("select count(*) from workflow_runs"))
	for code, use := range map[string]*schedule.WorkflowUse{
		"not_found": {Name: "missing"}, "bad_parameters": {Name: "timed", Parameters: map[string]json.RawMessage{"length": json.RawMessage("0.5")}},
	} {
		_, _, err := w.CreateSchedule(t.Context(), w.by, w.project, schedule.Spec{Name: "s", Every: "1h", Workflow: use}, functions.Idempotency{})
		requireCode(t, err, code)
	}
	_, _, err := w.CreateSchedule(t.Context(), w.by, w.project, hourly("s", func(s *schedule.Spec) { s.Workflow = &schedule.WorkflowUse{Name: "timed"} }), functions.Idempotency{})
	requireCode(t, err, "bad_schedule")
}
