package agent

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestBatchGrowsTowardsTheTarget(t *testing.T) {
	s := newBatchSizer(7 * time.Second)
	require.Equal(t, firstBatch, s.next(), "nothing is known: start small")
	for _, want := range []int{8, 32, 70, 70} {
		s.done(s.next(), time.Duration(s.next())*100*time.Millisecond, time.Minute)
		require.Equal(t, want, s.next())
	}
}

func TestBatchBounds(t *testing.T) {
	s := newBatchSizer(7 * time.Second)
	for range 10 {
		s.done(s.next(), time.Microsecond, time.Minute)
	}
	require.Equal(t, MaxBatch, s.next(), "quick shards stop at the limit")
	s.done(1, time.Hour, time.Minute)
	require.Equal(t, 1, s.next(), "a shard that takes an hour is lent alone")
	s = newBatchSizer(7 * time.Second)
	s.done(2, 2*time.Second, 4*time.Second)
	require.Equal(t, 2, s.next(), "half of the lease's time is planned for, not the target")
}

func TestBatchShrinksWhenNothingWasFinished(t *testing.T) {
	s := newBatchSizer(time.Second)
	s.done(2, 2*time.Millisecond, time.Minute)
	require.Equal(t, 8, s.next())
	for _, want := range []int{4, 2, 1, 1} {
		s.done(0, time.Second, time.Minute)
		require.Equal(t, want, s.next())
	}
}

// Whatever is reported, the next lease has between 1 and MaxBatch shards and is at most maxGrowth times the last.
func TestBatchIsAlwaysAskable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := newBatchSizer(DefaultLeaseWork)
		for range rapid.IntRange(1, 20).Draw(t, "leases") {
			before := s.next()
			s.done(rapid.IntRange(0, MaxBatch).Draw(t, "shards"),
				time.Duration(rapid.Int64Range(0, int64(time.Hour)).Draw(t, "took")),
				time.Duration(rapid.Int64Range(0, int64(time.Hour)).Draw(t, "ttl")))
			after := s.next()
			if after < 1 || after > MaxBatch || after > before*maxGrowth {
				t.Fatalf("after %d comes %d", before, after)
			}
		}
	})
}
