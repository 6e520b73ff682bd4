package limit_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/api/limit"
)

func TestABucketFillsAgain(t *testing.T) {
	now := time.Unix(0, 0)
	b := limit.NewBuckets(limit.Rate{PerSecond: 2, Burst: 3}, func() time.Time { return now })
	for range 3 {
		_, ok := b.Take("a")
		require.True(t, ok)
	}
	wait, ok := b.Take("a")
	require.False(t, ok)
	require.Equal(t, time.Second/2, wait)
	_, ok = b.Take("b")
	require.True(t, ok, "another client")
	now = now.Add(wait - 1)
	_, ok = b.Take("a")
	require.False(t, ok)
	now = now.Add(1)
	_, ok = b.Take("a")
	require.True(t, ok)
	now = now.Add(time.Hour)
	for range 3 {
		_, ok = b.Take("a")
		require.True(t, ok)
	}
	_, ok = b.Take("a")
	require.False(t, ok, "an hour's pause gives no more than the burst")
}

func TestManyClientsAreForgotten(t *testing.T) {
	now := time.Unix(0, 0)
	b := limit.NewBuckets(limit.Rate{PerSecond: 1, Burst: 1}, func() time.Time { return now })
	for i := range 300_000 {
		_, ok := b.Take(strconv.Itoa(i))
		require.True(t, ok)
	}
}

func TestNoRateIsNoLimit(t *testing.T) {
	b := limit.NewBuckets(limit.Rate{}, nil)
	for range 1000 {
		_, ok := b.Take("a")
		require.True(t, ok)
	}
}
