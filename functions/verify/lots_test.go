package verify_test

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions/verify"
)

// TestEachShardIsForSoManyOwners: exactly, whoever asks, and each owner for its part.
func TestEachShardIsForSoManyOwners(t *testing.T) {
	t.Parallel()
	const shards, width = 4000, 3
	var owners []string
	for i := range 12 {
		owners = append(owners, fmt.Sprintf("owner %d", i))
	}
	secret := []byte("of the project")
	drawn := make(map[int64]int)
	pairs := map[[2]string]int{}
	var before []string
	for _, o := range owners {
		among := slices.Clone(owners)
		slices.Reverse(among)
		lots, again := verify.NewOwnerLots(secret, "job", o, owners), verify.NewOwnerLots(secret, "job", o, among)
		other := verify.NewOwnerLots([]byte("of another"), "job", o, owners)
		mine, differ := 0, false
		for n := range int64(shards) {
			require.Equal(t, lots.Drawn(n, width), again.Drawn(n, width), "in whatever order they are named")
			differ = differ || lots.Drawn(n, width) != other.Drawn(n, width)
			if !lots.Drawn(n, width) {
				continue
			}
			mine++
			drawn[n]++
			require.True(t, lots.Drawn(n, width+1), "who is among the first is so among more")
		}
		require.True(t, differ, "the secret decides")
		require.InDelta(t, shards*width/len(owners), mine, 6*math.Sqrt(shards*width/float64(len(owners))))
		for _, b := range before {
			theirs := verify.NewOwnerLots(secret, "job", b, owners)
			for n := range int64(shards) {
				if lots.Drawn(n, width) && theirs.Drawn(n, width) {
					pairs[[2]string{o, b}]++
				}
			}
		}
		before = append(before, o)
	}
	for n := range int64(shards) {
		require.Equal(t, width, drawn[n], "shard %d", n)
	}
	const together = shards * 3.0 * 2 / (12 * 11)
	for pair, n := range pairs {
		require.InDelta(t, together, n, 6*math.Sqrt(together), "%v meet no oftener than others", pair)
	}
	require.True(t, verify.NewOwnerLots(secret, "job", "a", []string{"a"}).Drawn(7, 1), "one that is there alone")
	require.True(t, verify.NewOwnerLots(secret, "job", "a", []string{"a", "b", "c"}).Alone(3))
	require.False(t, verify.NewOwnerLots(secret, "job", "a", []string{"a", "b", "c"}).Alone(2))
}

func TestAShardIsForMoreTheLongerItWaits(t *testing.T) {
	t.Parallel()
	for waited, want := range map[time.Duration]int64{
		0: 3, time.Second - 1: 3, time.Second: 6, 2*time.Second - 1: 6, 3 * time.Second: 24,
	} {
		require.Equal(t, want, verify.DrawWidth(3, waited, time.Second), waited)
	}
	require.Greater(t, verify.DrawWidth(1, time.Hour, time.Nanosecond), int64(1e9), "for all in the end, however long it was")
	require.Equal(t, int64(2), verify.DrawWidth(2, time.Hour, 0))
}
