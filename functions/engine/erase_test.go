package engine_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/blob"
	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/insight"
	"github.com/ostraka/ostraka/functions/jobs"
	"github.com/ostraka/ostraka/functions/partition"
	"github.com/ostraka/ostraka/functions/planner"
	"github.com/ostraka/ostraka/functions/result"
	"github.com/ostraka/ostraka/functions/stepargs"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/runtime/canonical"
)

// inProject runs a statement as the project's role.
func (w *world) inProject(text string, args ...any) {
	w.t.Helper()
	require.NoError(w.t, w.store.Project(w.t.Context(), w.project, func(tx *store.Tx) error {
		_, err := tx.Exec(w.t.Context(), text, args...)
		return err
	}), text)
}

// tablesOfJobs are the tables of a project that refer to jobs.
func (w *world) tablesOfJobs() (tables []string) {
	w.t.Helper()
	require.NoError(w.t, w.store.Project(w.t.Context(), w.project, func(tx *store.Tx) (err error) {
		rows, err := tx.Query(w.t.Context(), `select c.table_name::text from information_schema.columns c join information_schema.tables t using (table_schema, table_name)
			where c.table_schema = $1 and c.column_name = 'job_id' and t.table_type = 'BASE TABLE' order by 1`, w.schema())
		if err != nil {
			return err
		}
		for rows.Next() {
			var name string
			if err := rows.Scan(&name); err != nil {
				return err
			}
			tables = append(tables, name)
		}
		return rows.Err()
	}))
	require.Greater(w.t, len(tables), 15)
	return tables
}

// fill gives a job a row in every table that may have some of it.
func (w *world) fill(job functions.Job, agent uuid.UUID) {
	w.t.Helper()
	w.inProject("insert into windows (job_id, agent_id, number) values ($1, $2, 1) on conflict do nothing", job.ID, agent)
	w.inProject("insert into audits (job_id, shard, agent_id, number) values ($1, 0, $2, 1) on conflict do nothing", job.ID, agent)
	w.inProject("insert into rechecks (job_id, shard, why) values ($1, 0, 'person') on conflict do nothing", job.ID)
	w.inProject("insert into controls (job_id, place, output_digest) values ($1, 0, decode(repeat('00', 32), 'hex'))", job.ID)
	w.inProject("insert into control_loans (job_id, place, lease_id, agent_id, hand) values ($1, 0, gen_random_uuid(), $2, 'x')", job.ID, agent)
	w.inProject("insert into recheck_holds (job_id, code, reason, until, operator_version, project_version) values ($1, 'x', 'x', now(), 0, 0)", job.ID)
	w.inProject("insert into incidents (id, agent_id, job_id, shards, job_state, reason) values (gen_random_uuid(), $2, $1, 1, 'finished', 'x') on conflict do nothing", job.ID, agent)
	w.inProject("insert into answer_classes (job_id, shard, outcome) values ($1, 0, decode(repeat('00', 32), 'hex')) on conflict do nothing", job.ID)
	w.inProject("insert into comparison_failures (job_id, shard, failures, error) values ($1, 0, 1, 'x') on conflict do nothing", job.ID)
	w.inProject("insert into wrong_alike (one, other, job_id, shard) values ('a', 'b', $1, 0) on conflict do nothing", job.ID)
	w.inProject("insert into unsteady_shards (function_id, function_version, job_id, shard) select function_id, function_version, id, 0 from jobs where id = $1 on conflict do nothing", job.ID)
	w.inProject("insert into findings (id, heuristic, key, function_id, function_version, job_id, shard, score, labels, explanation, places, actions) select gen_random_uuid(), 'h', repeat('0', 64), function_id, function_version, id, 0, 1, '{}', '', '[]', '{}' from jobs where id = $1", job.ID)
	w.inProject("insert into page_scores (job_id, page, key, heuristic, reopened, state) values ($1, 0, repeat('0', 64), 'h', 0, 'scored') on conflict do nothing", job.ID)
	w.inProject("insert into audit_raises (job_id, agent_id, factor) values ($1, $2, 2) on conflict do nothing", job.ID, agent)
	w.inProject(`insert into attempt_pages (job_id, number, submissions, leases, agents, reported_at, posts, shards, outputs, cpu_us, wall_us, peak_rss, diagnostics)
		values ($1, 0, '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}')`, job.ID)
	w.inProject("insert into partials (job_id, run, level, number, count) values ($1, 9, 9, 9, 0) on conflict do nothing", job.ID)
	w.inProject("insert into flags (id, job_id, kind, scope, item) values (gen_random_uuid(), $1::uuid, 'mismatch', 'job:' || $1::uuid, 'filled')", job.ID)
	w.inProject("insert into module_runs (id, module, digest, kind, phase, job_id, aggregation, class, started_at, ended_at, wall_ns, fuel, fuel_most, memory, in_lines, in_bytes, out_lines, out_bytes) values (gen_random_uuid(), 'm', repeat('0', 64), 'aggregator', 'fold', $1, 9, 'trap', now(), now(), 0, 0, 0, 0, 0, 0, 0, 0)", job.ID)
	w.inProject("insert into receipts (job_id, run, asked_by, making) values ($1, 9, 'x', true) on conflict do nothing", job.ID)
	w.inProject("insert into receipt_signatures (job_id, making, id, batch, place, kind, line) values ($1, 9, gen_random_uuid(), 0, 0, 1, 'x')", job.ID)
	w.inProject("insert into archives (job_id, state, asked_by) values ($1, 'writing', 'x')", job.ID)
	w.inProject("insert into archive_objects (job_id, digest) values ($1, repeat('0', 64))", job.ID)
	w.inProject("insert into job_metrics (job_id) values ($1) on conflict do nothing", job.ID)
	w.inProject("insert into rule_decisions (job_id, rule_id, rule, root_job, outcome) values ($1, gen_random_uuid(), 'r', $1, 'skipped')", job.ID)
	w.inProject(`insert into schedules (id, name, spec, created_by, wanted_by) values (gen_random_uuid(), 's', '{}', 'x', 'x') on conflict do nothing`)
	w.inProject("insert into schedule_firings (schedule_id, at, outcome, job_id) select id, clock_timestamp(), 'submitted', $1 from schedules", job.ID)
	w.inProject("insert into webhook_events (id, kind, job_id, data) values (gen_random_uuid(), 'job.finished', $1, '{}')", job.ID)
	w.inProject(`with made as (insert into workflows (id, name, newest, created_by) values (gen_random_uuid(), 'w', 1, 'x') on conflict do nothing returning id)
		insert into workflow_versions (workflow_id, version, digest, definition, functions, pushed_by) select id, 1, repeat('0', 64), '', '[]', 'x' from made`)
	w.inProject(`with made as (insert into workflow_runs (id, workflow_id, version, parameters, state, started_by, ended_at)
			select gen_random_uuid(), id, 1, '{}', 'failed', 'x', now() from workflows returning id)
		insert into workflow_run_steps (run_id, number, name, job_id) select id, 0, 's', $1 from made`, job.ID)
	w.inProject(`with made as (insert into workflow_rolling (run_id, number, first, until, size, shards, ahead, next)
			select run_id, number, 0, 9, 1, 1, 1, 0 from workflow_run_steps on conflict do nothing returning run_id, number)
		insert into workflow_parts (run_id, number, first, last, state, job_id, shards) select run_id, number, 0, 1, 'open', $1, 1 from made`, job.ID)
	w.inProject(`insert into workflow_wrong_shards (run_id, number, step, job_id, shard, first, last, agents, jobs)
		select run_id, number, 0, $1, 0, 0, 1, '[]', 1 from workflow_run_steps on conflict do nothing`, job.ID)
	for _, table := range w.tablesOfJobs() {
		require.Positive(w.t, w.rowsOf(table, job.ID), "the test covers %s", table)
	}
}

func (w *world) rowsOf(table string, job uuid.UUID) int64 {
	w.t.Helper()
	return w.count("select count(*) from "+table+" where job_id = $1", job)
}

// requireErased makes sure that nothing of a job is left.
func (w *world) requireErased(job uuid.UUID) {
	w.t.Helper()
	for _, table := range w.tablesOfJobs() {
		require.Zero(w.t, w.rowsOf(table, job), table)
	}
	require.Zero(w.t, w.count("select count(*) from submissions s where not exists (select from leases l where l.id = s.lease_id)"))
	require.Zero(w.t, w.count("select count(*) from jobs where id = $1", job))
	_, err := w.GetJob(w.t.Context(), w.project, job)
	require.ErrorIs(w.t, err, functions.ErrJobDeleted)
	require.Contains(w.t, err.Error(), "was deleted by "+w.by.Actor())
}

func (w *world) erase(job uuid.UUID) {
	w.t.Helper()
	_, err := w.DeleteJob(w.t.Context(), w.by, w.project, job)
	require.NoError(w.t, err)
	w.settleAll()
	w.requireErased(job)
}

func TestOnlyAnEndedJobIsDeleted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	job := w.submit(3)
	w.settleAll()
	_, err := w.DeleteJob(t.Context(), w.by, w.project, job.ID)
	require.ErrorIs(t, err, insight.ErrJobGoesOn)
	require.Contains(t, err.Error(), "running")
	require.Zero(t, w.count("select count(*) from deleted_jobs"))
	_, err = w.DeleteJob(t.Context(), w.by, w.project, uuid.New())
	requireCode(t, err, "not_found")
	_, err = w.cancel(job.ID)
	require.NoError(t, err)
	gone, err := w.DeleteJob(t.Context(), w.by, w.project, job.ID)
	require.NoError(t, err)
	require.Equal(t, functions.JobDeleting, gone.State)
	again, err := w.DeleteJob(t.Context(), w.by, w.project, job.ID)
	require.NoError(t, err, "deleting twice is harmless")
	require.Equal(t, functions.JobDeleting, again.State)
	w.settleAll()
	w.requireErased(job.ID)
	_, err = w.DeleteJob(t.Context(), w.by, w.project, job.ID)
	require.ErrorIs(t, err, functions.ErrJobDeleted)
	require.Equal(t, int64(1), w.count("select count(*) from audit where action = 'job.delete' and subject = $1 and detail in ('null', '{}')", job.ID.String()), "without what the job was about")
}

// TestADeletedJobLeavesNothing deletes a job with rows everywhere, beside one that must keep all of its own.
func TestADeletedJobLeavesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	large := `"` + strings.Repeat("x", result.MaxInlineOutput) + `"`
	items := func(text string) func(*functions.NewJob) {
		return func(j *functions.NewJob) {
			j.Partition, j.Items, j.Quorum, j.Aggregator = partition.Spec{Kind: partition.KindItems}, []byte(text), 1, "count"
		}
	}
	a := w.agent(func(string) functions.Result {
		return functions.Result{
			Status: "ok", OutputDigest: canonical.Digest([]byte(large)), OutputBytes: int64(len(large)),
			Files: []functions.File{{Path: "plot.png", Size: 4, Digest: canonical.Digest([]byte("plot"))}},
		}
	})
	job := w.submit(0, items("1\n"))
	w.settleAll()
	lease := a.lease(1)
	a.store(lease, large)
	a.store(lease, "plot")
	a.report(lease)
	w.settleAll()
	require.Equal(t, functions.JobFinished, w.job(job.ID).State)
	beside := w.submit(5, func(j *functions.NewJob) { j.Quorum = 1 })
	w.settleAll()
	late := w.agent(honest)
	require.Equal(t, 1, late.do(1))
	w.settleAll()
	held := late.lease(2)
	w.fill(job, a.id)
	w.fill(beside, a.id)
	kept := map[string]int64{}
	for _, table := range w.tablesOfJobs() {
		kept[table] = w.rowsOf(table, beside.ID)
	}
	w.inProject("insert into trust (agent_id, passed) values ($1, 7) on conflict (agent_id) do update set passed = 7", a.id)
	require.NoError(t, w.Retain(ctx, stepargs.RetentionArgs{}))
	results, events := *w.quota(functions.QuotaResults).Used, *w.quota(functions.QuotaEvents).Used
	require.Equal(t, int64(6), results)

	_, err := w.DeleteJob(ctx, w.by, w.project, job.ID)
	require.NoError(t, err)
	require.Equal(t, functions.JobDeleting, w.job(job.ID).State)
	listed := func(state functions.JobState) (ids []uuid.UUID) {
		list, err := w.ListJobs(ctx, w.project, jobs.JobFilter{State: state}, functions.ListPage{Limit: 10})
		require.NoError(t, err)
		for _, j := range list {
			ids = append(ids, j.ID)
		}
		return ids
	}
	require.Equal(t, []uuid.UUID{beside.ID}, listed(""))
	require.Equal(t, []uuid.UUID{job.ID}, listed(functions.JobDeleting))
	refused := func() {
		for what, do := range map[string]func() error{
			"results": func() error { return firstError(w.Results(ctx, w.project, job.ID, jobs.ResultQuery{After: -1})) },
			"shards": func() error {
				_, err := w.ListShards(ctx, w.project, job.ID, "", functions.ListPage{Limit: 1})
				return err
			},
			"shard":  func() error { _, err := w.GetShard(ctx, w.project, job.ID, 0); return err },
			"events": func() error { _, err := w.ListEvents(ctx, w.project, job.ID, 0, 1); return err },
			"artifacts": func() error {
				_, err := w.ListArtifacts(ctx, w.project, job.ID, functions.ListPage{Limit: 1})
				return err
			},
			"cancel":   func() error { _, err := w.cancel(job.ID); return err },
			"priority": func() error { _, err := w.SetPriority(ctx, w.by, w.project, job.ID, 1); return err },
			"aggregation": func() error {
				_, err := w.ListAggregations(ctx, w.project, job.ID, functions.ListPage{Limit: 1})
				return err
			},
			"map": func() error {
				_, err := w.Map(ctx, w.project, job.ID, jobs.MapWindow{Mode: jobs.MapPages})
				return err
			},
			"rerun": func() error {
				_, _, err := w.SubmitJob(ctx, w.by, w.project, functions.NewJob{Function: "numbers", Partition: rangeOf(1), RerunOf: &job.ID}, functions.Idempotency{})
				return err
			},
		} {
			require.ErrorIs(t, do(), functions.ErrJobDeleted, what)
		}
	}
	refused()
	w.settleAll()
	w.requireErased(job.ID)
	refused()
	for table, rows := range kept {
		require.Equal(t, rows, w.rowsOf(table, beside.ID), "%s of another job", table)
	}
	require.Equal(t, int64(2), w.count("select count(*) from wrong_alike"), "what speaks against owners stays")
	require.Equal(t, int64(2), w.count("select count(*) from unsteady_shards"), "and what a version is known for")
	require.Equal(t, int64(7), w.count("select passed from trust where agent_id = $1", a.id), "the record of the agent stays")
	require.Equal(t, results-1, *w.quota(functions.QuotaResults).Used)
	require.Less(t, *w.quota(functions.QuotaEvents).Used, events)
	used := *w.quota(functions.QuotaResults).Used
	require.NoError(t, w.Retain(ctx, stepargs.RetentionArgs{}))
	require.Equal(t, used, *w.quota(functions.QuotaResults).Used, "a count says the same")

	w.ageObjects()
	w.collect()
	for _, content := range []string{"1\n", large, "plot"} {
		_, err := w.blobs.Stat(ctx, w.project, canonical.Digest([]byte(content)))
		require.ErrorIs(t, err, blob.ErrNotFound)
	}
	_, err = late.post(held.ID, late.results(held.Shards)...)
	require.NoError(t, err, "another job's lease")
}

func firstError[T any](results func(yield func(T, error) bool)) (err error) {
	results(func(_ T, e error) bool { err = e; return false })
	return err
}

// TestLateResultsOfADeletedJob: an agent that comes back when the job is gone is told so, in a way that it knows.
func TestLateResultsOfADeletedJob(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	job := w.submit(3)
	w.settleAll()
	a := w.agent(honest)
	lease := a.lease(3)
	_, err := w.cancel(job.ID)
	require.NoError(t, err)
	_, err = w.DeleteJob(t.Context(), w.by, w.project, job.ID)
	require.NoError(t, err)
	_, err = a.post(lease.ID, a.results(lease.Shards)...)
	require.ErrorIs(t, err, functions.ErrLeaseEnded, "while it is being deleted")
	w.settleAll()
	w.requireErased(job.ID)
	_, err = a.post(lease.ID, a.results(lease.Shards)...)
	require.ErrorIs(t, err, functions.ErrLeaseEnded)
	require.ErrorIs(t, a.put(lease, "late"), functions.ErrLeaseEnded)
	require.NoError(t, w.ReturnLease(t.Context(), a.id, lease.ID))
	bad := a.results(lease.Shards)
	bad[0].Status = "nonsense"
	_, err = a.post(lease.ID, bad...)
	require.ErrorIs(t, err, functions.ErrBadResult)
	w.settleAll()
	w.requireErased(job.ID)
	require.Zero(t, w.controlCount("select count(*) from leases where job_id = $1 and ended_at is null", job.ID))
}

// TestStepsOfADeletedJobDoNothing runs every step that may still wait for a job.
func TestStepsOfADeletedJobDoNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	job := w.submit(3, func(j *functions.NewJob) { j.Quorum = 1 })
	w.settleAll()
	a := w.agent(honest)
	lease := a.lease(3)
	a.report(lease)
	var submission uuid.UUID
	require.NoError(t, w.store.Project(t.Context(), w.project, func(tx *store.Tx) error {
		return tx.QueryRow(t.Context(), "select id from submissions").Scan(&submission)
	}))
	w.settleAll()
	require.Equal(t, functions.JobFinished, w.job(job.ID).State)
	p, id, ctx := w.project, job.ID, t.Context()
	steps := map[string]func() error{
		"verify":    func() error { return w.Verify(ctx, stepargs.VerifyArgs{Project: p, Submission: submission}) },
		"compare":   func() error { return w.Compare(ctx, stepargs.CompareArgs{Project: p, Submission: submission}) },
		"score":     func() error { return w.ScoreResults(ctx, stepargs.ScoreResultsArgs{Project: p, Job: id}) },
		"aggregate": func() error { return w.Aggregate(ctx, stepargs.AggregateArgs{Project: p, Job: id}) },
		"merge":     func() error { return w.Merge(ctx, stepargs.MergeArgs{Project: p, Job: id}) },
		"preview":   func() error { return w.Preview(ctx, stepargs.PreviewArgs{Project: p, Job: id}) },
		"refold":    func() error { return w.Refold(ctx, stepargs.RefoldArgs{Project: p, Job: id}) },
		"finish":    func() error { return w.Finish(ctx, stepargs.FinishArgs{Project: p, Job: id}) },
		"follow up": func() error { return w.FollowUp(ctx, stepargs.FollowUpArgs{Project: p, Job: id}) },
		"cancel":    func() error { return w.Cancel(ctx, stepargs.CancelArgs{Project: p, Job: id}) },
		"window": func() error {
			return w.CloseWindow(ctx, stepargs.CloseWindowArgs{Project: p, Job: id, Agent: a.id, Window: 1})
		},
		"tail":      func() error { return w.Tail(ctx, stepargs.TailArgs{Project: p, Job: id}) },
		"finalise":  func() error { return w.Finalise(ctx, stepargs.FinaliseArgs{Project: p, Job: id, Agent: a.id}) },
		"platforms": func() error { return w.ComparePlatforms(ctx, stepargs.ComparePlatformsArgs{Project: p, Job: id}) },
		"unsteady":  func() error { return w.ExcuseUnsteady(ctx, stepargs.ExcuseUnsteadyArgs{Project: p, Job: id}) },
		"taint": func() error {
			return w.Taint(ctx, stepargs.TaintArgs{Project: p, Agent: a.id, Reason: "x", Proven: true})
		},
		"erase": func() error { return w.Erase(ctx, stepargs.EraseArgs{Project: p, Job: id}) },
	}
	all := func() {
		for what, step := range steps {
			if err := step(); !errors.Is(err, functions.ErrJobDeleted) {
				require.NoError(t, err, what)
			}
		}
	}
	_, err := w.DeleteJob(ctx, w.by, p, id)
	require.NoError(t, err)
	all()
	w.settleAll()
	w.requireErased(id)
	all()
	w.settleAll()
	w.requireErased(id)
}

// TestDeletingMayBeCutOffAnywhere deletes a job of two pages, cut off at each statement, and what others keep of it comes out as of a quiet run.
func TestDeletingMayBeCutOffAnywhere(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	job := w.submit(1030, func(j *functions.NewJob) { j.Quorum = 1 })
	w.settleAll()
	a, b := w.agent(honest), w.agent(honest)
	require.Equal(t, 700, a.do(700))
	require.Equal(t, 330, b.do(700))
	w.settleAll()
	require.Equal(t, functions.JobFinished, w.job(job.ID).State)
	w.fill(job, a.id)
	w.cutOff(uuid.Nil, func() error {
		_, err := w.DeleteJob(t.Context(), w.by, w.project, job.ID)
		return err
	})
	cuts := 0
	w.drain(func(s waiting) {
		cuts += w.cutOff(uuid.Nil, func() error { return w.step(s) })
		require.NoError(t, w.step(s), "and once more")
	})
	require.Greater(t, cuts, 10)
	w.requireErased(job.ID)
	require.Equal(t, int64(1), w.count("select count(*) from audit where action = 'job.delete'"))
	require.Equal(t, int64(1), w.count("select count(*) from deleted_jobs where erased_at is not null and suspect_agents = array[$1::uuid] and cardinality(suspect_owners) = 1", a.id))
	require.Equal(t, int64(1), w.count("select count(*) from wrong_alike"))
	require.Zero(t, *w.quota(functions.QuotaResults).Used)
	require.Equal(t, int64(1), w.controlCount("select count(*) from river.river_job where kind = 'erase' and state = 'scheduled'"), "it looks once more, later")
	require.NoError(t, w.Erase(context.Background(), stepargs.EraseArgs{Project: w.project, Job: job.ID}))
}

// TestFollowUpsOutliveTheirJob: what a deleted job has led to goes on, and no rule makes it once more.
func TestFollowUpsOutliveTheirJob(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.pushFunction("proof", "[verification]\nquorum = 1\n")
	_, _, err := w.CreateRule(t.Context(), w.by, w.project, planner.Rule{
		Name: "prove", Enabled: true, OnFunction: "numbers", When: "true",
		Then: planner.Then{Function: "proof", Partition: `{"kind": "items", "values": [aggregate.value.sum]}`},
	}, functions.Idempotency{})
	require.NoError(t, err)
	job := w.submit(3, func(j *functions.NewJob) { j.Quorum = 1 })
	w.settleAll()
	a := w.agent(honest)
	require.Equal(t, 3, a.do(3))
	w.settleAll()
	list, err := w.ListJobs(t.Context(), w.project, jobs.JobFilter{Function: "proof"}, functions.ListPage{Limit: 10})
	require.NoError(t, err)
	require.Len(t, list, 1)
	require.Equal(t, job.ID, *list[0].Parent)
	require.False(t, list[0].ParentDeleted)
	_, err = w.cancel(list[0].ID)
	require.NoError(t, err)
	w.settleAll()
	w.erase(list[0].ID)
	require.NoError(t, w.FollowUp(t.Context(), stepargs.FollowUpArgs{Project: w.project, Job: job.ID}))
	require.Equal(t, int64(1), w.count("select count(*) from jobs"), "a follow-up that was deleted is not made again")

	other := w.submit(3, func(j *functions.NewJob) { j.Quorum = 1 })
	w.settleAll()
	require.Equal(t, 3, a.do(3))
	w.settleAll()
	require.Equal(t, functions.JobFinished, w.job(other.ID).State)
	w.erase(other.ID)
	list, err = w.ListJobs(t.Context(), w.project, jobs.JobFilter{Function: "proof"}, functions.ListPage{Limit: 10})
	require.NoError(t, err)
	require.Len(t, list, 1)
	require.Equal(t, other.ID, *list[0].Parent)
	require.True(t, list[0].ParentDeleted)
	require.Equal(t, 1, w.agent(func(string) functions.Result { return ok("1") }).do(1), "it goes on")
	w.settleAll()
	follow := w.job(list[0].ID)
	require.Equal(t, functions.JobFinished, follow.State)
	require.True(t, follow.ParentDeleted)
	w.erase(follow.ID)
}

// TestARerunOutlivesItsJob: those with incidents in a job that was deleted have no part in jobs that run it again.
func TestARerunOutlivesItsJob(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withCourt(&court{}))
	w.opened()
	suspect, sibling := w.agent(liar), w.sibling(liar)
	w.sql("update ostraka.agents set owner = (select owner from ostraka.agents where id = $1) where id = $2", suspect.id, sibling.id)
	job := w.submit(20, trusting)
	w.settleAll()
	require.Equal(t, functions.JobFinished, w.workOff(job, 20, suspect).State)
	require.NoError(t, w.Taint(t.Context(), stepargs.TaintArgs{Project: w.project, Agent: suspect.id, Reason: "an audit has failed"}))
	require.Equal(t, int64(1), w.count("select count(*) from incidents"))
	again := w.submit(20, trusting, rerunOf(job.ID))
	third := w.submit(20, trusting, rerunOf(again.ID))
	w.settleAll()
	_, err := w.cancel(again.ID)
	require.NoError(t, err)
	w.settleAll()
	w.erase(job.ID)
	require.True(t, w.job(again.ID).RerunOfDeleted)
	w.erase(again.ID)
	for _, a := range []*agent{suspect, sibling} {
		require.Nil(t, a.lease(8), "not of a rerun of a rerun either")
	}
	requireTruth(t, w.workOff(third, 20, w.agent(honest)), truth(rangeOf(20)))
	require.Zero(t, w.count("select count(*) from attempts where agent_id = any ($1)", []uuid.UUID{suspect.id, sibling.id}), fmt.Sprint(third.ID))
}
