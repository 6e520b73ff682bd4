package engine_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/partition"
	"github.com/ostraka/ostraka/functions/stepargs"
)

// TestItemsInAShard: shards of several items get lists of them, whether the transaction that makes the job makes them or a worker does.
func TestItemsInAShard(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withShortcuts)
	w.pushFunction("numbers", "per = \"item\"\n")
	stored := w.put("1\n2\n3\n4\n5\n")
	inputs := func(job functions.Job) (list []string) {
		w.settleAll()
		list = []string{}
		for _, s := range w.agent(honest).lease(10).Shards {
			list = append(list, s.Input)
		}
		_, err := w.CancelJob(t.Context(), w.by, w.project, job.ID)
		require.NoError(t, err)
		w.settleAll()
		return list
	}
	for name, change := range map[string]func(*functions.NewJob){
		"an object": func(j *functions.NewJob) {
			j.Partition = partition.Spec{Kind: partition.KindItems, Object: stored, Size: 2}
		},
		"items of a body": func(j *functions.NewJob) {
			j.Partition, j.Items = partition.Spec{Kind: partition.KindItems, Size: 2}, []byte("1\n2\n3\n4\n5")
		},
		"values": func(j *functions.NewJob) {
			j.Partition = partition.Spec{Kind: partition.KindItems, Size: 2, Values: []json.RawMessage{[]byte("1"), []byte("2"), []byte("3"), []byte("4"), []byte("5")}}
		},
	} {
		job := w.submit(3, change, func(j *functions.NewJob) { j.Quorum, j.None = 0, true })
		require.Equal(t, int64(3), job.Shards.Total, name)
		require.Equal(t, int64(2), job.Partition.Size, name)
		require.Nil(t, job.Aggregator, "%s: outputs are lists, and nobody has said what folds them", name)
		require.ElementsMatch(t, []string{"[1,2]", "[3,4]", "[5]"}, inputs(job), name)
	}
	without := w.submit(1, func(j *functions.NewJob) { j.Partition, j.Quorum, j.None = partition.OfObject(stored), 0, true })
	require.Equal(t, int64(partition.ChosenItems), without.Partition.Size, "chosen")
	require.Equal(t, []string{"[1,2,3,4,5]"}, inputs(without))

	_, _, err := w.SubmitJob(t.Context(), w.by, w.project, functions.NewJob{
		Function:  "numbers",
		Partition: partition.Spec{Kind: partition.KindGrid, Grid: partition.Grid{Axes: []partition.Axis{{Name: "a", Values: []json.RawMessage{[]byte("1")}}}}},
	}, functions.Idempotency{})
	require.ErrorContains(t, err, `a function with per = "item" needs a range, lines, or items, and this is the kind grid`)
}

// TestSizesFollowFromWhatShardsTook: where nobody says how large shards are, those that were measured say it, and until then a guess.
func TestSizesFollowFromWhatShardsTook(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	long := func(j *functions.NewJob) {
		r, err := partition.ParseRangeOfAnySize("0:1000000")
		require.NoError(t, err)
		j.Partition, j.Chosen = partition.OfRange(r), true
	}
	size := func(change ...func(*functions.NewJob)) int64 {
		job := w.submit(0, change...)
		_, err := w.CancelJob(t.Context(), w.by, w.project, job.ID)
		require.NoError(t, err)
		w.settleAll()
		return job.Partition.Range.Size.Int64()
	}
	require.Equal(t, int64(1000), size(long), "a guess")
	job := w.submit(4) // of ten integers each
	w.settleAll()
	for range 2 {
		w.agent(honest).do(4)
	}
	w.settleAll()
	measured := func(micros int) {
		w.sql("update " + w.schema() + ".job_metrics set next_shard = 0, executions = 0, cpu_us = 0, wall_us = 0, output_bytes = 0, walls = '{}'")
		w.sql("update "+w.schema()+".attempts set wall_us = $1", micros)
		require.NoError(t, w.FollowUp(t.Context(), stepargs.FollowUpArgs{Project: w.project, Job: job.ID}))
	}
	measured(64_000) // ten integers in 64 ms, which the measurement says as at most 91
	require.Contains(t, []int64{300, 400}, size(long))
	measured(600_000_000)
	require.Equal(t, int64(10), size(long), "no less than a hundredth of the guess")
	require.Equal(t, int64(7), size(long, func(j *functions.NewJob) {
		r, err := partition.ParseRange("0:1000", "7")
		require.NoError(t, err)
		j.Partition, j.Chosen = partition.OfRange(r), false
	}), "who says a size gets it")
	w.pushFunction("numbers", "per = \"item\"\n")
	measured(64_000)
	require.Contains(t, []int64{300, 400}, size(long), "of another version, where of the newest there is none")
}

// TestAShardThatMayBeAlmostEmptySaysNothingOfSizes: one call of a function says nothing of how long a hundred items take.
func TestAShardThatMayBeAlmostEmptySaysNothingOfSizes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.pushFunction("numbers", "per = \"item\"\n")
	over := func(size int64, items string) func(*functions.NewJob) {
		return func(j *functions.NewJob) {
			j.Partition, j.Items = partition.Spec{Kind: partition.KindItems, Size: size}, []byte(items)
		}
	}
	measured := func(change func(*functions.NewJob)) {
		t.Helper()
		job := w.submit(0, change)
		require.Equal(t, functions.JobFinished, w.runWith(job.ID, func(string) functions.Result { return ok(`[1]`) }).State)
		w.sql("update " + w.schema() + ".job_metrics set next_shard = 0, executions = 0, cpu_us = 0, wall_us = 0, output_bytes = 0, walls = '{}'")
		w.sql("update " + w.schema() + ".attempts set wall_us = 64000")
		require.NoError(t, w.FollowUp(t.Context(), stepargs.FollowUpArgs{Project: w.project, Job: job.ID}))
	}
	chosen := func() int64 {
		job := w.submit(0, over(0, "1\n2\n3"))
		_, err := w.CancelJob(t.Context(), w.by, w.project, job.ID)
		require.NoError(t, err)
		w.settleAll()
		return job.Partition.Size
	}
	measured(over(0, "1"))
	require.Equal(t, int64(partition.ChosenItems), chosen(), "one item in a shard of up to a hundred")
	measured(over(50, strings.Repeat("1\n", 51)))
	require.Equal(t, int64(partition.ChosenItems), chosen(), "one shard is full, and the other one has an item")
	measured(over(2, "1\n2\n3\n4\n5"))
	require.Contains(t, []int64{60, 90}, chosen(), "two items in 64 ms, which the measurement says as at most 91")
	measured(over(1, "1"))
	require.Contains(t, []int64{30, 40}, chosen(), "one item in a shard of one")
}
