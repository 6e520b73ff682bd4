package archive

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// TestOneArchiveAtATime: who finds the place taken is told to ask again, and waits nowhere.
func TestOneArchiveAtATime(t *testing.T) {
	t.Parallel()
	now, turns := time.Now(), newTurns()
	a, b, c := uuid.New(), uuid.New(), uuid.New()
	require.True(t, turns.take(a, now))
	require.False(t, turns.take(a, now), "also for the project that has it")
	require.False(t, turns.take(b, now))
	turns.leave()

	require.False(t, turns.take(a, now), "b has found it taken, and comes first")
	require.True(t, turns.take(b, now))
	turns.leave()
	require.True(t, turns.take(a, now))
	require.False(t, turns.take(c, now))
	turns.leave()
	require.False(t, turns.take(a, now.Add(turnKept)), "it is kept for c")
	require.True(t, turns.take(a, now.Add(turnKept+1)), "c has not come")
	turns.leave()
	require.True(t, turns.take(a, now.Add(turnKept+1)), "nobody else asks")
}

// TestManyWhoFindThePlaceTaken: no more of them are remembered than there is room for.
func TestManyWhoFindThePlaceTaken(t *testing.T) {
	t.Parallel()
	now, turns := time.Now(), newTurns()
	require.True(t, turns.take(uuid.New(), now))
	for range maxWaiting + 1 {
		require.False(t, turns.take(uuid.New(), now))
	}
	require.Len(t, turns.asked, maxWaiting)
}
