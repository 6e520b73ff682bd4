package agent

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestBatchGrowsTowardsTheTarget(t *testing.T) {
	s := NewBatchSizer(7 * time.Second)
	require.Equal(t, firstBatch, s.Next(), "nothing is known: start small")
	for _, want := range []int{8, 32, 70, 70} {
		s.Done(s.Next(), time.Duration(s.Next())*100*time.Millisecond, time.Minute)
		require.Equal(t, want, s.Next())
	}
}

func TestBatchBounds(t *testing.T) {
	s := NewBatchSizer(7 * time.Second)
	for range 10 {
		s.Done(s.Next(), time.Microsecond, time.Minute)
	}
	require.Equal(t, MaxBatch, s.Next(), "quick shards stop at the limit")
	s.Done(1, time.Hour, time.Minute)
	require.Equal(t, 1, s.Next(), "a shard that takes an hour is lent alone")
	s = NewBatchSizer(7 * time.Second)
	s.Done(2, 2*time.Second, 4*time.Second)
	require.Equal(t, 2, s.Next(), "half of the lease's time is planned for, not the target")
}

func TestBatchShrinksWhenNothingWasFinished(t *testing.T) {
	s := NewBatchSizer(time.Second)
	s.Done(2, 2*time.Millisecond, time.Minute)
	require.Equal(t, 8, s.Next())
	for _, want := range []int{4, 2, 1, 1} {
		s.Done(0, time.Second, time.Minute)
		require.Equal(t, want, s.Next())
	}
}

// Whatever is reported, the next lease has between 1 and MaxBatch shards and is at most maxGrowth times the last.
func TestBatchIsAlwaysAskable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := NewBatchSizer(DefaultLeaseWork)
		for range rapid.IntRange(1, 20).Draw(t, "leases") {
			before := s.Next()
			s.Done(rapid.IntRange(0, MaxBatch).Draw(t, "shards"),
				time.Duration(rapid.Int64Range(0, int64(time.Hour)).Draw(t, "took")),
				time.Duration(rapid.Int64Range(0, int64(time.Hour)).Draw(t, "ttl")))
			after := s.Next()
			if after < 1 || after > MaxBatch || after > before*maxGrowth {
				t.Fatalf("after %d comes %d", before, after)
			}
		}
	})
}
