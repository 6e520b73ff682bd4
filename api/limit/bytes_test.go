package limit_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/api/limit"
)

func TestBytesAreBoundedInAllAndForEach(t *testing.T) {
	b := limit.NewBytes(100, 60, 0)
	first, ok := b.Take(t.Context(), "a", 60)
	require.True(t, ok, "as much as one may")
	_, ok = b.Take(t.Context(), "a", 1)
	require.False(t, ok, "one more for the same client")
	second, ok := b.Take(t.Context(), "b", 40)
	require.True(t, ok, "the rest, for another")
	_, ok = b.Take(t.Context(), "c", 1)
	require.False(t, ok, "one more for a third")
	first()
	first()
	_, ok = b.Take(t.Context(), "c", 61)
	require.False(t, ok)
	third, ok := b.Take(t.Context(), "c", 60)
	require.True(t, ok, "what was given back once, and no more")
	second()
	third()
	_, ok = b.Take(t.Context(), "a", 60)
	require.True(t, ok)
}

func TestWhoFindsNoRoomWaits(t *testing.T) {
	b := limit.NewBytes(10, 10, time.Hour)
	release, ok := b.Take(t.Context(), "a", 10)
	require.True(t, ok)
	got := make(chan bool)
	go func() {
		_, ok := b.Take(t.Context(), "b", 10)
		got <- ok
	}()
	release()
	require.True(t, <-got)
}
