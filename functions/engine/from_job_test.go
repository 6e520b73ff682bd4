package engine_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/jobs"
	"github.com/ostraka/ostraka/functions/partition"
	"github.com/ostraka/ostraka/functions/submit"
	"github.com/ostraka/ostraka/functions/turns"
)

// of asks for a job over the outputs of another one.
func of(job uuid.UUID) functions.NewJob {
	return functions.NewJob{Function: "numbers", Partition: partition.Spec{Kind: partition.KindItems}, FromJob: &job, Quorum: 1}
}

// TestOutputsOfAJobAreTheInputOfAnother: one shard for each, in the order of the shards, and as they were accepted.
func TestOutputsOfAJobAreTheInputOfAnother(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	source := w.submit(1200, func(j *functions.NewJob) { j.Quorum = 1 })
	w.settleAll()
	_, _, err := w.SubmitJob(ctx, w.by, w.project, of(source.ID), functions.Idempotency{})
	require.ErrorIs(t, err, submit.ErrSourceNotFinished)
	a := w.agent(honest)
	for a.do(600) > 0 {
	}
	w.settleAll()
	require.Equal(t, functions.JobFinished, w.job(source.ID).State)

	const objects = "select count(*) from objects"
	before := w.controlCount(objects)
	plan, err := w.PlanJob(ctx, w.project, of(source.ID))
	require.NoError(t, err)
	require.Equal(t, int64(1200), plan.Shards)
	refused := of(source.ID)
	refused.Priority = turns.MaxPriority + 1
	_, _, err = w.SubmitJob(ctx, w.by, w.project, refused, functions.Idempotency{})
	require.Error(t, err)
	require.Equal(t, before, w.controlCount(objects), "neither a plan nor a job that is refused stores the outputs")

	job, _, err := w.SubmitJob(ctx, w.by, w.project, of(source.ID), functions.Idempotency{})
	require.NoError(t, err)
	require.Equal(t, int64(1200), job.Shards.Total)
	require.Equal(t, partition.KindItems, job.Partition.Kind)
	require.NotEmpty(t, job.Partition.Object, "the job depends on what is stored, and not on the other job")
	require.Equal(t, before+1, w.controlCount(objects))
	w.settleAll()
	var inputs []string
	b := w.agent(func(string) functions.Result { return ok("1") })
	for lease := b.lease(600); lease != nil; lease = b.lease(600) {
		for _, shard := range lease.Shards {
			require.Equal(t, int64(len(inputs)), shard.Number)
			inputs = append(inputs, shard.Input)
		}
		b.report(lease)
	}
	var outputs []string
	for r, err := range w.Results(ctx, w.project, source.ID, jobs.ResultQuery{After: -1}) {
		require.NoError(t, err)
		outputs = append(outputs, string(r.Output))
	}
	require.Len(t, inputs, 1200)
	require.True(t, slices.Equal(outputs, inputs))
	require.Contains(t, string(w.events(job.ID, base.EventSubmitted)[0].Data), source.ID.String())
}

func TestJobsThatCannotBeAnInput(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	refused := func(job uuid.UUID) *functions.Error {
		_, _, err := w.SubmitJob(ctx, w.by, w.project, of(job), functions.Idempotency{})
		var e *functions.Error
		require.ErrorAs(t, err, &e)
		return e
	}
	require.Equal(t, functions.KindNotFound, refused(uuid.New()).Kind)
	source := w.submit(1, func(j *functions.NewJob) { j.Quorum = 1 })
	w.settleAll()
	_, err := w.CancelJob(ctx, w.by, w.project, source.ID)
	require.NoError(t, err)
	w.settleAll()
	require.Contains(t, refused(source.ID).Message, "is cancelled")

	// One output is as large as an item may be, and one of another job a byte larger: that is an object, and no item.
	for _, more := range []int{0, 1} {
		text := `"` + strings.Repeat("x", partition.MaxItemBytes-2+more) + `"`
		source := w.submit(1, func(j *functions.NewJob) { j.Quorum = 1 })
		w.settleAll()
		a := w.agent(func(string) functions.Result { return ok(text) })
		lease := a.lease(1)
		results := a.results(lease.Shards)
		if more > 0 {
			_, err := w.PutOutput(ctx, a.id, lease.ID, results[0].OutputDigest, strings.NewReader(text))
			require.NoError(t, err)
			results[0].Output, results[0].OutputBytes = "", int64(len(text))
		}
		_, err := a.post(lease.ID, results...)
		require.NoError(t, err)
		w.settleAll()
		if more == 0 {
			job, _, err := w.SubmitJob(ctx, w.by, w.project, of(source.ID), functions.Idempotency{})
			require.NoError(t, err)
			require.Equal(t, int64(1), job.Shards.Total)
			_, err = w.CancelJob(ctx, w.by, w.project, job.ID)
			require.NoError(t, err)
			continue
		}
		_, _, err = w.SubmitJob(ctx, w.by, w.project, of(source.ID), functions.Idempotency{})
		var wrong *partition.Error
		require.ErrorAs(t, err, &wrong)
		require.Equal(t, partition.CodeItemTooLarge, wrong.Code)
		require.Contains(t, wrong.Detail, "the output of shard 0 has more than 65536 bytes")
	}
}

// TestAJobOfAnotherProjectIsNotThere: the two must not be told apart.
func TestAJobOfAnotherProjectIsNotThere(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	source := w.submit(1)
	other, by := w.newProject("other")
	_, _, err := w.SubmitJob(t.Context(), by, other, of(source.ID), functions.Idempotency{})
	var e *functions.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, functions.KindNotFound, e.Kind)
}
