package engine_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/partition"
)

// TestASmallJobHasItsShardsAtOnce: no worker runs before an agent is lent them.
func TestASmallJobHasItsShardsAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withShortcuts)
	a := w.agent(honest)
	for name, change := range map[string]func(*functions.NewJob){
		"a range": func(*functions.NewJob) {},
		"items of a body": func(j *functions.NewJob) {
			j.Partition, j.Items = partition.Spec{Kind: partition.KindItems}, []byte("[0, 1]\n\n[1, 2]\r\n[2, 3]")
		},
		"items of a value": func(j *functions.NewJob) {
			j.Partition = partition.OfValues([]json.RawMessage{[]byte("[0,\n1]"), []byte("[1,2]"), []byte("[2,3]")})
		},
	} {
		job := w.submit(3, change, func(j *functions.NewJob) { j.Quorum, j.None, j.Aggregator = 0, true, functions.NoAggregator })
		require.Equal(t, functions.JobRunning, job.State, name)
		require.Empty(t, w.steps(), name)
		require.Len(t, w.events(job.ID, base.EventRunning), 1, name)
		require.Len(t, a.lease(10).Shards, 3, name)
		w.check(job.ID)
		w.settleAll()
	}

	large := w.submit(partition.PageSize + 1)
	require.Equal(t, functions.JobSplitting, large.State, "more than a page is for workers")
	stored := w.put("1\n2\n")
	ofObject := w.submit(2, func(j *functions.NewJob) { j.Partition = partition.OfObject(stored) })
	require.Equal(t, functions.JobSplitting, ofObject.State, "what must be read is for workers")
	w.settleAll()
	require.Equal(t, functions.JobRunning, w.job(large.ID).State)
	require.Equal(t, functions.JobRunning, w.job(ofObject.ID).State)
	w.check(large.ID)
}

// TestASubmissionMayBeCutOffAnywhere: the same request sent again finds a small job whole, or makes it whole.
func TestASubmissionMayBeCutOffAnywhere(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withShortcuts)
	w.submit(3) // pins what jobs need
	want := functions.NewJob{Function: "numbers", Partition: partition.Spec{Kind: partition.KindItems}, Items: []byte("[0,1]\n[1,2]\n[2,3]\n"), Quorum: 2}
	for n := 1; ; n++ {
		require.Less(t, n, mostStatements)
		once := functions.Idempotency{Key: fmt.Sprintf("cut off at %d", n)}
		w.faults.arm(n)
		_, _, err := w.SubmitJob(t.Context(), w.by, w.project, want, once)
		cut := w.disarm()
		require.Equal(t, cut, err != nil, "cut off at statement %d", n)
		job, _, err := w.SubmitJob(t.Context(), w.by, w.project, want, once)
		require.NoError(t, err)
		require.Equal(t, functions.JobRunning, job.State)
		require.Empty(t, w.steps())
		w.check(job.ID)
		if !cut {
			break
		}
	}
}
