package engine_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/jobs"
	"github.com/ostraka/ostraka/functions/partition"
	"github.com/ostraka/ostraka/functions/schedule"
	"github.com/ostraka/ostraka/functions/stepargs"
	"github.com/ostraka/ostraka/functions/timetable"
	"github.com/ostraka/ostraka/guardian"
)

// hourly is a schedule of one shard an hour.
func hourly(name string, change ...func(*schedule.Spec)) schedule.Spec {
	spec := schedule.Spec{Name: name, Every: "1h", Job: functions.NewJob{Function: "numbers", Partition: rangeOf(1), Quorum: 1}}
	for _, c := range change {
		c(&spec)
	}
	return spec
}

func (w *world) schedule(name string, change ...func(*schedule.Spec)) schedule.Detail {
	w.t.Helper()
	d, replayed, err := w.CreateSchedule(w.t.Context(), w.by, w.project, hourly(name, change...), functions.Idempotency{})
	require.NoError(w.t, err)
	require.False(w.t, replayed)
	return d
}

// due has a schedule's next time be so long ago.
func (w *world) due(id uuid.UUID, ago time.Duration) {
	w.t.Helper()
	// The anchor moves as well, so that the time is one of the timetable.
	w.inProject("update schedules set next_at = date_trunc('second', now()) - $2::interval, created_at = date_trunc('second', now()) - $2::interval where id = $1", id, ago)
	w.sql("update ostraka.due_schedules set look_at = now() where schedule_id = '" + id.String() + "'")
}

// look takes up what is due, and carries it out.
func (w *world) look() {
	w.t.Helper()
	require.NoError(w.t, w.Due(w.t.Context(), stepargs.DueSchedulesArgs{}))
	for _, s := range w.steps() {
		if s.Kind == (stepargs.FireScheduleArgs{}).Kind() {
			w.once(s)
			w.done(s)
		}
	}
}

func (w *world) shown(id uuid.UUID) schedule.Detail {
	w.t.Helper()
	d, err := w.GetSchedule(w.t.Context(), w.project, id)
	require.NoError(w.t, err)
	return d
}

func outcomes(d schedule.Detail) (list []schedule.Outcome) {
	for _, f := range d.Firings {
		list = append(list, f.Outcome)
	}
	return list
}

func (w *world) allJobs() []functions.Job {
	w.t.Helper()
	list, err := w.ListJobs(w.t.Context(), w.project, jobs.JobFilter{}, functions.ListPage{Limit: 100})
	require.NoError(w.t, err)
	return list
}

func TestAScheduleFires(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	later := w.schedule("later", func(s *schedule.Spec) {
		at := time.Now().Add(time.Hour).Truncate(time.Second)
		s.Starts = &at
	})
	require.Len(t, later.Next, schedule.ShownTimes)
	require.Equal(t, later.Next[0].Due, *later.NextAt)
	w.look()
	require.Empty(t, w.allJobs(), "nothing is due")
	// The first time of a pause is the second after it was made: this one is due as soon as that has passed.
	d := w.schedule("hourly")
	w.due(d.ID, 30*time.Second)
	w.look()
	w.look()
	list := w.allJobs()
	require.Len(t, list, schedule.JobsPerFiring, "a time comes once")
	require.Equal(t, w.by.Actor(), list[0].CreatedBy, "the job is of who wanted the schedule")
	shown := w.shown(d.ID)
	require.Equal(t, []schedule.Outcome{schedule.Submitted}, outcomes(shown))
	require.Equal(t, list[0].ID, *shown.Firings[0].JobID)
	require.True(t, shown.NextAt.After(shown.Firings[0].At))
	require.Equal(t, d.Revision, shown.Revision, "what people write has not changed")
	require.Len(t, w.decided(guardian.JobSchedule), 2)
	require.Len(t, w.decided(guardian.JobSubmit), 1)
	w.settleAll()
	require.Equal(t, 1, w.agent(honest).do(1), "the job is lent as any other")
}

func TestWhatOverlaps(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, c := range []struct {
		way  schedule.Overlap
		want []schedule.Outcome // the newest first
	}{
		{schedule.OverlapSkip, []schedule.Outcome{schedule.Skipped, schedule.Submitted}},
		{schedule.OverlapQueue, []schedule.Outcome{schedule.Submitted}},
		{schedule.OverlapCancel, []schedule.Outcome{schedule.Submitted, schedule.Submitted}},
	} {
		d := w.schedule(string(c.way), func(s *schedule.Spec) { s.Overlap = c.way })
		w.due(d.ID, time.Minute)
		w.look()
		first := *w.shown(d.ID).Firings[0].JobID
		w.due(d.ID, 20*time.Second)
		w.look()
		shown := w.shown(d.ID)
		require.Equal(t, c.want, outcomes(shown), c.way)
		require.Equal(t, c.way == schedule.OverlapCancel, w.job(first).State == functions.JobCancelled, c.way)
		require.Equal(t, c.way == schedule.OverlapQueue, shown.Waits)
		if c.way != schedule.OverlapQueue {
			continue
		}
		// However long it waits, it comes when the other job has ended.
		w.due(d.ID, timetable.MaxLate+time.Minute)
		w.look()
		require.True(t, w.shown(d.ID).Waits)
		_, err := w.CancelJob(t.Context(), w.by, w.project, first)
		require.NoError(t, err)
		w.due(d.ID, timetable.MaxLate+time.Minute)
		w.inProject("update schedule_firings set at = at - interval '1 hour' where schedule_id = $1", d.ID)
		w.look()
		require.Equal(t, []schedule.Outcome{schedule.Submitted, schedule.Submitted}, outcomes(w.shown(d.ID)))
		require.False(t, w.shown(d.ID).Waits)
	}
}

func TestMissedTimes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for way, want := range map[timetable.CatchUp][]schedule.Outcome{
		timetable.CatchUpNone: {schedule.Missed},
		timetable.CatchUpOne:  {schedule.Submitted, schedule.Missed},
		timetable.CatchUpAll:  {schedule.Submitted, schedule.Submitted, schedule.Submitted},
	} {
		d := w.schedule(string(way), func(s *schedule.Spec) { s.CatchUp, s.Overlap = way, schedule.OverlapCancel })
		w.due(d.ID, 2*time.Hour+30*time.Minute)
		for range 5 {
			w.look()
		}
		require.Equal(t, want, outcomes(w.shown(d.ID)), way)
	}
}

func TestPausedAndResumed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	d := w.schedule("hourly", func(s *schedule.Spec) { s.Paused = true })
	require.Nil(t, d.NextAt)
	require.Empty(t, d.Next)
	w.due(d.ID, time.Minute)
	w.look()
	require.Empty(t, w.allJobs())
	for range 2 {
		resumed, err := w.ResumeSchedule(ctx, w.by, w.project, d.ID)
		require.NoError(t, err)
		require.True(t, resumed.NextAt.After(time.Now()), "what was missed in a pause does not come")
	}
	w.due(d.ID, time.Minute)
	for range 2 {
		paused, err := w.PauseSchedule(ctx, w.by, w.project, d.ID)
		require.NoError(t, err)
		require.True(t, paused.Spec.Paused)
		require.Equal(t, "paused by "+w.by.Actor(), paused.PauseReason)
	}
	w.look()
	require.Empty(t, w.allJobs())

	job, replayed, err := w.RunSchedule(ctx, w.by, w.project, d.ID, functions.Idempotency{Key: "run"})
	require.NoError(t, err)
	require.False(t, replayed)
	again, replayed, err := w.RunSchedule(ctx, w.by, w.project, d.ID, functions.Idempotency{Key: "run"})
	require.NoError(t, err)
	require.True(t, replayed)
	require.Equal(t, job.ID, again.ID)
	w.guard(guardRule("none", guardian.Deny, "", guardian.JobSubmit))
	again, replayed, err = w.RunSchedule(ctx, w.by, w.project, d.ID, functions.Idempotency{Key: "run"})
	require.NoError(t, err, "what was made stands, whatever rules say today")
	require.True(t, replayed)
	require.Equal(t, job.ID, again.ID)
	_, _, err = w.RunSchedule(ctx, w.by, w.project, d.ID, functions.Idempotency{Key: "refused"})
	requireCode(t, err, "denied_by_guardian")
	shown := w.shown(d.ID)
	require.Len(t, shown.Firings, 1)
	require.True(t, shown.Firings[0].ByHand)
}

func TestAScheduleThatFailsIsPaused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := w.schedule("hourly")
	other := w.schedule("other")
	w.inProject(`update schedules set spec = jsonb_set(spec, '{job,function}', '"missing"') where id = $1`, d.ID)
	for n := 1; n <= schedule.MaxFailures; n++ {
		require.False(t, w.shown(d.ID).Spec.Paused, "after %d", n-1)
		w.due(d.ID, time.Duration(schedule.MaxFailures-n)*3*time.Second)
		w.look()
		require.Equal(t, n, w.shown(d.ID).Failures)
	}
	shown := w.shown(d.ID)
	require.True(t, shown.Spec.Paused)
	require.Contains(t, shown.PauseReason, "10 times in a row failed")
	require.Contains(t, shown.LastError, "missing")
	require.Equal(t, schedule.Failed, shown.Firings[0].Outcome)
	w.due(other.ID, time.Second)
	w.look()
	require.Len(t, w.allJobs(), 1, "others go on")
}

func TestTheGuardianDecidesAboutSchedules(t *testing.T) {
	t.Parallel()
	w := newWorld(t, guarded(&watch{}))
	ctx := t.Context()
	d := w.schedule("hourly")
	w.guard(guardRule("no-schedules", guardian.Ask, "", guardian.JobSchedule))
	_, _, err := w.CreateSchedule(ctx, w.by, w.project, hourly("second"), functions.Idempotency{})
	requireCode(t, err, "approval_needed")
	list, err := w.ListApprovals(ctx, w.project, "waiting", functions.ListPage{Limit: 10})
	require.NoError(t, err)
	require.Len(t, list, 1)
	_, err = w.DecideApproval(ctx, w.by, w.project, list[0].ID, true, "fine")
	require.NoError(t, err)
	_, _, err = w.CreateSchedule(ctx, w.by, w.project, hourly("second"), functions.Idempotency{})
	require.NoError(t, err, "the same passes once")
	_, err = w.PauseSchedule(ctx, w.by, w.project, d.ID)
	require.NoError(t, err)
	_, err = w.ResumeSchedule(ctx, w.by, w.project, d.ID)
	requireCode(t, err, "approval_needed")

	second := w.shown(w.schedules()[1].ID)
	w.guard(guardRule("no-jobs", guardian.Deny, "", guardian.JobSubmit))
	w.due(second.ID, time.Second)
	w.look()
	refused := w.shown(second.ID)
	require.Equal(t, []schedule.Outcome{schedule.Failed}, outcomes(refused))
	require.Contains(t, refused.LastError, "denied_by_guardian")
	require.Empty(t, w.allJobs())
}

// TestAYesToAScheduleHoldsWhateverIsMeasured: how large shards are chosen is no part of what was asked.
func TestAYesToAScheduleHoldsWhateverIsMeasured(t *testing.T) {
	t.Parallel()
	w := newWorld(t, guarded(&watch{}))
	ctx := t.Context()
	long, err := partition.ParseRangeOfAnySize("0:1000000")
	require.NoError(t, err)
	spec := hourly("long")
	spec.Job.Partition, spec.Job.Chosen = partition.OfRange(long), true
	w.guard(guardRule("no-schedules", guardian.Ask, "", guardian.JobSchedule))
	_, _, err = w.CreateSchedule(ctx, w.by, w.project, spec, functions.Idempotency{})
	requireCode(t, err, "approval_needed")

	job := w.submit(4)
	require.Equal(t, functions.JobFinished, w.runWith(job.ID, honest).State)
	w.sql("update " + w.schema() + ".job_metrics set next_shard = 0, executions = 0, cpu_us = 0, wall_us = 0, output_bytes = 0, walls = '{}'")
	w.sql("update " + w.schema() + ".attempts set wall_us = 64000")
	require.NoError(t, w.FollowUp(ctx, stepargs.FollowUpArgs{Project: w.project, Job: job.ID}))
	measured := w.submit(0, func(j *functions.NewJob) { j.Partition, j.Chosen = spec.Job.Partition, true })
	require.NotEqual(t, long.Size, measured.Partition.Range.Size)

	asked := w.waiting()
	require.Len(t, asked, 1)
	_, err = w.DecideApproval(ctx, w.by, w.project, asked[0].ID, true, "fine")
	require.NoError(t, err)
	_, _, err = w.CreateSchedule(ctx, w.by, w.project, spec, functions.Idempotency{})
	require.NoError(t, err)
}

func (w *world) schedules() []schedule.Schedule {
	w.t.Helper()
	list, err := w.ListSchedules(w.t.Context(), w.project, functions.ListPage{Limit: 200})
	require.NoError(w.t, err)
	return list
}

func TestChangingASchedule(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	d := w.schedule("hourly", func(s *schedule.Spec) {
		s.Job.Partition, s.Job.Items = partition.Spec{Kind: partition.KindItems}, []byte("{\"from\":\"1\",\"to\":\"2\"}\n")
	})
	require.NotEmpty(t, d.Spec.Job.Partition.Object, "items are an object")
	_, err := w.UpdateSchedule(ctx, w.by, w.project, d.ID, hourly("daily"), d.Revision+1)
	requireCode(t, err, "revision_changed")
	daily := hourly("daily", func(s *schedule.Spec) { s.Every, s.Cron, s.TimeZone = "", "0 3 * * *", "Europe/Berlin" })
	changed, err := w.UpdateSchedule(ctx, w.by, w.project, d.ID, daily, d.Revision)
	require.NoError(t, err)
	require.Equal(t, "daily", changed.Spec.Name)
	require.Equal(t, d.Revision+1, changed.Revision)
	require.Contains(t, []int{1, 2}, changed.NextAt.UTC().Hour())
	requireCode(t, w.DeleteSchedule(ctx, w.by, w.project, d.ID, d.Revision), "revision_changed")
	w.due(d.ID, time.Second)
	require.NoError(t, w.Due(ctx, stepargs.DueSchedulesArgs{}))
	require.NoError(t, w.DeleteSchedule(ctx, w.by, w.project, d.ID, changed.Revision))
	w.settleAll()
	require.Empty(t, w.allJobs(), "a step that waits finds it deleted")
	_, err = w.GetSchedule(ctx, w.project, d.ID)
	requireCode(t, err, "not_found")
}

func TestSchedulesThatAreRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for code, changes := range map[string][]func(*schedule.Spec){
		"bad_name": {func(s *schedule.Spec) { s.Name = "Bad" }},
		"bad_schedule": {
			func(s *schedule.Spec) { s.Every = "" }, func(s *schedule.Spec) { s.Every = "often" }, func(s *schedule.Spec) { s.Every = "59s" },
			func(s *schedule.Spec) { s.Overlap = "never" }, func(s *schedule.Spec) { s.CatchUp = "some" },
			func(s *schedule.Spec) { s.Job.RerunOf = new(uuid.New()) },
		},
		"not_found":    {func(s *schedule.Spec) { s.Job.Function = "missing" }},
		"bad_priority": {func(s *schedule.Spec) { s.Job.Priority = 10 }},
		"schedule_too_large": {func(s *schedule.Spec) {
			values := strings.Split(strings.Repeat(`"`+strings.Repeat("x", 500)+`" `, 140), " ")
			axis := partition.Axis{Name: "x"}
			for i, v := range values[:140] {
				axis.Values = append(axis.Values, []byte(fmt.Sprintf(`"%d%s`, i, v[1:])))
			}
			s.Job.Partition = partition.Spec{Kind: partition.KindGrid, Grid: partition.Grid{Axes: []partition.Axis{axis}}}
		}},
	} {
		for _, change := range changes {
			_, _, err := w.CreateSchedule(t.Context(), w.by, w.project, hourly("s", change), functions.Idempotency{})
			requireCode(t, err, code)
		}
	}
	w.schedule("s")
	_, _, err := w.CreateSchedule(t.Context(), w.by, w.project, hourly("s"), functions.Idempotency{})
	requireCode(t, err, "name_taken")
	w.inProject("insert into schedules (id, name, spec, created_by, wanted_by) select gen_random_uuid(), 's' || n, spec, created_by, wanted_by from schedules, generate_series(1, $1) n", schedule.MaxSchedules-2)
	w.schedule("last")
	_, _, err = w.CreateSchedule(t.Context(), w.by, w.project, hourly("more"), functions.Idempotency{})
	requireCode(t, err, "too_many_schedules")
}

// TestFiringMayBeCutOffAnywhere cuts off the look and the step at each of their statements: the time comes once, and the next is known.
func TestFiringMayBeCutOffAnywhere(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	d := w.schedule("hourly", func(s *schedule.Spec) { s.Overlap, s.CatchUp = schedule.OverlapCancel, timetable.CatchUpOne })
	w.due(d.ID, 3*time.Hour)
	w.look()
	first := *w.shown(d.ID).Firings[0].JobID
	w.due(d.ID, 2*time.Hour+time.Minute)
	cuts := w.cutOff(uuid.Nil, func() error { return w.Due(ctx, stepargs.DueSchedulesArgs{}) })
	require.Greater(t, cuts, 2)
	args := stepargs.FireScheduleArgs{Project: w.project, Schedule: d.ID}
	cuts = w.cutOff(first, func() error { return w.Fire(ctx, args) })
	require.Greater(t, cuts, 20)
	require.NoError(t, w.Fire(ctx, args), "and once more")
	shown := w.shown(d.ID)
	require.Equal(t, int64(2), w.count("select count(*) from jobs"))
	require.Equal(t, functions.JobCancelled, w.job(first).State)
	require.Equal(t, schedule.Submitted, shown.Firings[0].Outcome)
	require.Equal(t, int64(2), w.count("select count(*) from schedule_firings where outcome = 'submitted'"))
	require.True(t, shown.NextAt.After(time.Now()))
	require.Equal(t, int64(1), w.controlCount("select count(*) from ostraka.due_schedules where look_at > now()"))
}

// TestOnlyTheLastTimesAreKept at the limit.
func TestOnlyTheLastTimesAreKept(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := w.schedule("hourly")
	w.inProject("insert into schedule_firings (schedule_id, at, outcome) select $1, now() - n * interval '1 day', 'failed' from generate_series(1, $2) n", d.ID, schedule.KeptFirings)
	w.due(d.ID, time.Second)
	w.look()
	require.Equal(t, int64(schedule.KeptFirings), w.count("select count(*) from schedule_firings"))
	shown := w.shown(d.ID)
	require.Len(t, shown.Firings, schedule.ShownFirings)
	require.Equal(t, schedule.Submitted, shown.Firings[0].Outcome)
}

// TestFourEyesAreThoseOfWhoWantsASchedule holds that nobody approves through a schedule what they could not approve as a job of theirs.
func TestFourEyesAreThoseOfWhoWantsASchedule(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	require.NoError(t, w.SetFourEyes(ctx, w.by, w.project, true))
	d := w.schedule("hourly")
	w.guard(guardRule("jobs", guardian.Ask, "", guardian.JobSubmit))
	w.due(d.ID, 30*time.Second)
	w.look()
	asked := w.waiting()
	require.Len(t, asked, 1)
	require.Equal(t, w.by.Actor(), asked[0].RequestedBy)
	_, err := w.DecideApproval(ctx, w.by, w.project, asked[0].ID, true, "mine")
	requireCode(t, err, "four_eyes")
	w.approve(functions.Principal{KeyID: uuid.New(), Role: functions.RoleReviewer, Project: w.project}, asked[0])
	_, err = w.CancelJob(ctx, w.by, w.project, w.allJobs()[0].ID) // the next time waits for no other
	require.NoError(t, err)

	// Whoever changes it wants what comes of it from then on.
	other := functions.Principal{KeyID: uuid.New(), Role: functions.RoleOwner, Project: w.project}
	d, err = w.UpdateSchedule(ctx, other, w.project, d.ID, hourly("hourly"), w.shown(d.ID).Revision)
	require.NoError(t, err)
	w.due(d.ID, 10*time.Second)
	w.look()
	asked = w.waiting()
	require.Len(t, asked, 1)
	require.Equal(t, other.Actor(), asked[0].RequestedBy)
}

// TestATimeWhoseJobGoesOnIsKept holds that a job which lasts longer than all times that are kept is still known to the next one.
func TestATimeWhoseJobGoesOnIsKept(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := w.schedule("hourly")
	w.due(d.ID, time.Second)
	w.look()
	require.Len(t, w.allJobs(), 1)
	w.inProject("update schedule_firings set at = now() - interval '200 days'")
	w.inProject("insert into schedule_firings (schedule_id, at, outcome) select $1, now() - n * interval '1 day', 'skipped' from generate_series(1, $2) n", d.ID, schedule.KeptFirings)
	w.due(d.ID, time.Second)
	w.look()
	require.Len(t, w.allJobs(), 1, "it has not ended")
	require.Equal(t, schedule.Skipped, w.shown(d.ID).Firings[0].Outcome)
	w.due(d.ID, time.Second)
	w.look()
	require.Len(t, w.allJobs(), 1, "nor is it forgotten")
}
