package engine_test

import (
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/aggregation"
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
	require.Equal(t, []uuid.UUID{first.ID, second.ID}, idsOf(c.Jobs))
	require.Equal(t, []int64{18, 2}, []int64{c.Count, c.Missing})
	failing = ""
	third := over(failedOf(second.ID), second.ID)
	_, err = w.Combine(ctx, w.project, third.ID)
	requireCode(t, err, "source_not_finished")
	run(third, functions.JobFinished)
	c, err = w.Combine(ctx, w.project, third.ID)
	require.NoError(t, err)
	require.Equal(t, []uuid.UUID{first.ID, second.ID, third.ID}, idsOf(c.Jobs))
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

// TestAChainEndsWhereAJobRanAgainAsAWhole: what that job was is of no account, though it was cancelled or is gone.
func TestAChainEndsWhereAJobRanAgainAsAWhole(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	first := w.submit(20)
	w.settleAll()
	_, err := w.CancelJob(ctx, w.by, w.project, first.ID)
	require.NoError(t, err)
	w.settleAll()
	late := func(input string) functions.Result {
		if strings.Contains(input, `36","to"`) {
			return raised("ValueError", "late")
		}
		return honest(input)
	}
	whole := w.submit(20, func(j *functions.NewJob) { j.RerunOf = &first.ID })
	require.Equal(t, functions.JobFailed, w.runWith(whole.ID, late).State)
	last := w.submit(0, func(j *functions.NewJob) {
		j.Partition, j.Items, j.RerunOf = partition.Spec{Kind: partition.KindItems}, []byte(w.failedInputs(whole.ID)), &whole.ID
	})
	require.Equal(t, functions.JobFinished, w.runWith(last.ID, honest).State)
	requireBoth := func() {
		t.Helper()
		c, err := w.Combine(ctx, w.project, last.ID)
		require.NoError(t, err)
		require.Equal(t, []uuid.UUID{whole.ID, last.ID}, idsOf(c.Jobs))
		require.Equal(t, []int64{20, 0}, []int64{c.Count, c.Missing})
	}
	requireBoth()
	_, err = w.DeleteJob(ctx, w.by, w.project, first.ID)
	require.NoError(t, err)
	w.settleAll()
	requireBoth()
}

// TestFailedShardsOfItemsRunAgainAsTheyWere: a function that takes items gets the lists and ranges of the shards that failed, and no lists of those.
func TestFailedShardsOfItemsRunAgainAsTheyWere(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.pushFunction("numbers", "per = \"item\"\n")
	values := partition.Spec{Kind: partition.KindItems, Size: 2}
	for name, over := range map[string]func(*functions.NewJob){
		"items":   func(j *functions.NewJob) { j.Partition, j.Items = values, []byte("1\n2\n3\n4\n5\n6\n7") },
		"a range": func(j *functions.NewJob) { j.Partition = rangeOf(4) },
	} {
		one := func(string) functions.Result { return ok(`1`) }
		late := func(input string) functions.Result {
			if strings.Contains(input, "2") || strings.Contains(input, "5") {
				return raised("ValueError", "late")
			}
			return one(input)
		}
		sum := func(j *functions.NewJob) { j.Aggregator = "sum" }
		first := w.submit(0, over, sum)
		require.Equal(t, int64(4), first.Shards.Total, name)
		require.Equal(t, functions.JobFailed, w.runWith(first.ID, late).State, name)
		failed := w.failedInputs(first.ID)
		again := w.submit(0, sum, func(j *functions.NewJob) { j.Partition, j.RerunOf = partition.OfObject(w.put(failed)), &first.ID })
		require.Zero(t, again.Partition.Size, name)
		require.Equal(t, functions.JobFinished, w.runWith(again.ID, one).State, name)
		require.Equal(t, strings.Split(strings.TrimSpace(failed), "\n"), w.inputs(again.ID), name)
		c, err := w.Combine(t.Context(), w.project, again.ID)
		require.NoError(t, err, name)
		require.Equal(t, []int64{4, 0}, []int64{c.Count, c.Missing}, name)
		require.JSONEq(t, "4", string(c.Answer), name)
	}
}

// runWith has two agents do all of a job, which others have nothing of.
func (w *world) runWith(job uuid.UUID, answer func(string) functions.Result) functions.Job {
	w.t.Helper()
	agents := []*agent{w.agent(answer), w.agent(answer)}
	w.settleAll()
	for range 4 {
		for _, a := range agents {
			a.do(100)
		}
		w.settleAll()
	}
	return w.job(job)
}

func (w *world) inputs(job uuid.UUID) (list []string) {
	return w.inputsIn(job, "")
}

func (w *world) failedInputs(job uuid.UUID) string {
	return strings.Join(w.inputsIn(job, functions.ShardFailed), "\n") + "\n"
}

func (w *world) inputsIn(job uuid.UUID, state functions.ShardState) (list []string) {
	w.t.Helper()
	shards, err := w.ListShards(w.t.Context(), w.project, job, state, functions.ListPage{Limit: functions.MaxListLimit})
	require.NoError(w.t, err)
	for _, s := range shards {
		list = append(list, string(s.Input))
	}
	return list
}

// TestCombinedAnswersSayWhatTheyMix: a job of another function has other results, and one that verifies nothing is said to.
func TestCombinedAnswersSayWhatTheyMix(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	late := func(input string) functions.Result {
		if strings.Contains(input, `36","to"`) {
			return raised("ValueError", "late")
		}
		return honest(input)
	}
	first := w.submit(20)
	require.Equal(t, functions.JobFailed, w.runWith(first.ID, late).State)
	again := func(change func(*functions.NewJob)) functions.Job {
		job := w.submit(0, change, func(j *functions.NewJob) {
			j.Partition, j.Items, j.RerunOf = partition.Spec{Kind: partition.KindItems}, []byte(w.failedInputs(first.ID)), &first.ID
		})
		require.Equal(t, functions.JobFinished, w.runWith(job.ID, honest).State)
		return job
	}
	w.pushFunction("others", "")
	other := again(func(j *functions.NewJob) { j.Function = "others" })
	_, err := w.Combine(t.Context(), w.project, other.ID)
	requireCode(t, err, "not_folded")
	require.ErrorContains(t, err, "is of the function others")
	w.pushFunction("numbers", "per = \"shard\"\n")
	believed := again(func(j *functions.NewJob) { j.Quorum, j.None = 0, true })
	c, err := w.Combine(t.Context(), w.project, believed.ID)
	require.NoError(t, err)
	require.Equal(t, []aggregation.CombinedJob{
		{ID: first.ID, Version: 1, Accepted: 18, Policy: first.Policy},
		{ID: believed.ID, Version: 2, Accepted: 2, Policy: believed.Policy},
	}, c.Jobs)
	require.True(t, c.Jobs[1].Policy.None)
}

func idsOf(jobs []aggregation.CombinedJob) (list []uuid.UUID) {
	for _, j := range jobs {
		list = append(list, j.ID)
	}
	return list
}

func (w *world) firstShard(job uuid.UUID) functions.Shard {
	w.t.Helper()
	list, err := w.ListShards(w.t.Context(), w.project, job, "", functions.ListPage{Limit: 1})
	require.NoError(w.t, err)
	return list[0]
}
