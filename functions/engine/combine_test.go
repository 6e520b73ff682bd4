package engine_test

import (
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/partition"
)

// TestFailedShardsThatRanAgainAreFoldedWithTheRest: each result is in the combined answer once, however often something failed again; a job over
// other shards is not taken for one that ran the failed ones.
func TestFailedShardsThatRanAgainAreFoldedWithTheRest(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	// Each shard whose first number has one of these as its last digit but one fails: two of the twenty for each.
	failing := "37"
	answer := func(input string) functions.Result {
		from := strings.Split(input, `"`)[3]
		if strings.Contains(failing, from[len(from)-2:len(from)-1]) {
			return raised("ValueError", "late")
		}
		return honest(input)
	}
	agents := []*agent{w.agent(answer), w.agent(answer)}
	run := func(job functions.Job, want functions.JobState) functions.Job {
		t.Helper()
		w.settleAll()
		for range 4 {
			for _, a := range agents {
				a.do(100)
			}
			w.settleAll()
		}
		done := w.job(job.ID)
		require.Equal(t, want, done.State, "%+v", done)
		return done
	}
	failedOf := func(job uuid.UUID) (lines string) {
		t.Helper()
		list, err := w.ListShards(ctx, w.project, job, functions.ShardFailed, functions.ListPage{Limit: functions.MaxListLimit})
		require.NoError(t, err)
		for _, s := range list {
			lines += string(s.Input) + "\n"
		}
		return lines
	}
	over := func(lines string, of uuid.UUID) functions.Job {
		return w.submit(0, func(j *functions.NewJob) {
			j.Partition, j.Items, j.RerunOf = partition.Spec{Kind: partition.KindItems}, []byte(lines), &of
		})
	}
	first := run(w.submit(20), functions.JobFailed)
	require.Equal(t, int64(4), first.Shards.Failed)
	_, err := w.Combine(ctx, w.project, first.ID)
	requireCode(t, err, "not_folded")

	failing = "3"
	second := run(over(failedOf(first.ID), first.ID), functions.JobFailed)
	c, err := w.Combine(ctx, w.project, second.ID)
	require.NoError(t, err)
	require.Equal(t, []uuid.UUID{first.ID, second.ID}, c.Jobs)
	require.Equal(t, []int64{18, 2}, []int64{c.Count, c.Missing})
	failing = ""
	third := over(failedOf(second.ID), second.ID)
	_, err = w.Combine(ctx, w.project, third.ID)
	requireCode(t, err, "source_not_finished")
	run(third, functions.JobFinished)
	c, err = w.Combine(ctx, w.project, third.ID)
	require.NoError(t, err)
	require.Equal(t, []uuid.UUID{first.ID, second.ID, third.ID}, c.Jobs)
	require.Equal(t, []int64{20, 0}, []int64{c.Count, c.Missing})
	whole := run(w.submit(20), functions.JobFinished)
	require.JSONEq(t, string(whole.Aggregate.Value), string(c.Answer), "as if nothing had failed")

	// As many shards, and one of them another one; and the whole job once more.
	lines := strings.Split(strings.TrimSpace(failedOf(second.ID)), "\n")
	lines[0] = string(w.firstShard(first.ID).Input)
	for _, job := range []functions.Job{over(strings.Join(lines, "\n"), second.ID), w.submit(20, func(j *functions.NewJob) { j.RerunOf = &first.ID })} {
		run(job, functions.JobFinished)
		_, err = w.Combine(ctx, w.project, job.ID)
		requireCode(t, err, "not_folded")
	}
}

func (w *world) firstShard(job uuid.UUID) functions.Shard {
	w.t.Helper()
	list, err := w.ListShards(w.t.Context(), w.project, job, "", functions.ListPage{Limit: 1})
	require.NoError(w.t, err)
	return list[0]
}
