package engine_test

import (
	"fmt"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions/jobs"
)

func TestResultsThatMayBeTakenBackAreLeftOutOfTheFinalOnes(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withCourt(&court{}))
	w.opened()
	job := w.submit(100, bounded(1e-3))
	w.settleAll()
	w.agent(honest).do(30) // fewer than close its window; those that the server has executed are final
	w.settleAll()
	shards := w.job(job.ID).Shards
	require.Equal(t, int64(30), shards.Accepted)
	require.Positive(t, shards.Provisional)
	require.Equal(t, 30, w.numberOfResults(job.ID, false))
	require.EqualValues(t, shards.Accepted-shards.Provisional, w.numberOfResults(job.ID, true))
	marked := int64(0)
	for line, err := range w.Results(t.Context(), w.project, job.ID, jobs.ResultQuery{After: 9, Input: true}) {
		require.NoError(t, err)
		require.Greater(t, line.Shard, int64(9))
		require.Contains(t, string(line.Input), fmt.Sprintf(`"from":"18446744073709%d"`, 551616+10*line.Shard))
		if line.Provisional {
			marked++
		}
	}
	require.Positive(t, marked)
	require.LessOrEqual(t, marked, shards.Provisional)
	w.workOff(job, 100, w.agent(honest))
	require.Equal(t, 100, w.numberOfResults(job.ID, true))
}

func (w *world) numberOfResults(job uuid.UUID, final bool) (n int) {
	w.t.Helper()
	for _, err := range w.Results(w.t.Context(), w.project, job, jobs.ResultQuery{After: -1, Final: final}) {
		require.NoError(w.t, err)
		n++
	}
	return n
}
