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

// TestWhoDoesNotComeBackKeepsNoPlaceEmpty for longer than somebody takes who was told when to ask again.
func TestWhoDoesNotComeBackKeepsNoPlaceEmpty(t *testing.T) {
	t.Parallel()
	now, turns := time.Now(), newTurns()
	a, gone, asks := uuid.New(), uuid.New(), uuid.New()
	require.Greater(t, turnKept, importAgain, "who does as Retry-After says comes in time")
	require.LessOrEqual(t, turnKept, importAgain+5*time.Second)
	require.True(t, turns.take(a, now))
	require.False(t, turns.take(gone, now))
	now = now.Add(importAgain)
	require.False(t, turns.take(asks, now))
	now = now.Add(importAgain)
	turns.leave()
	require.False(t, turns.take(a, now), "it is kept for who asked last before it became free")
	require.NotContains(t, turns.asked, gone)
	require.True(t, turns.take(asks, now))
	turns.leave()
	require.True(t, turns.take(a, now.Add(turnKept+1)))
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
