package dispatch

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

func TestRefusalsAreCountedAndWrittenFromTimeToTime(t *testing.T) {
	t.Parallel()
	var r refusedCounts
	now := time.Unix(1000, 0)
	key := refusedKey{uuid.New(), uuid.New(), "bad_signature"}
	require.EqualValues(t, 1, r.due(key, now), "the first is written at once")
	for range 5 {
		require.EqualValues(t, 0, r.due(key, now.Add(flagRefusedEvery-1)))
	}
	other := key
	other.rule = "bad_result"
	require.EqualValues(t, 1, r.due(other, now), "every rule has a count of its own")
	require.EqualValues(t, 6, r.due(key, now.Add(flagRefusedEvery)), "and those in between come with the next")
	for range maxRefusedKept - 2 {
		r.due(refusedKey{uuid.New(), uuid.New(), "x"}, now)
	}
	require.Len(t, r.counts, maxRefusedKept)
	r.due(refusedKey{uuid.New(), uuid.New(), "x"}, now)
	require.Len(t, r.counts, 1, "memory is bounded")
}
