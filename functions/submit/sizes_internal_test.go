package submit

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/partition"
)

// TestChosenShardsAreNotTooMany: as many as a range of a chosen size has at most, and who says a size gets it.
func TestChosenShardsAreNotTooMany(t *testing.T) {
	for _, c := range []struct {
		items, size int64
		chosen      bool
		want        int64
	}{
		{partition.MaxChosenShards, 1, true, 1},
		{partition.MaxChosenShards + 1, 1, true, 10},
		{partition.MaxChosenShards + 1, 1, false, 1},
		{partition.MaxShards + 1, 1, true, 100},
		{1 << 62, 1, true, partition.MaxItemsPerShard}, // and it is refused
	} {
		spec, n, err := countChosen(partition.Spec{Kind: partition.KindItems, Size: c.size}, c.chosen, func(s partition.Spec) (int64, error) {
			n := (c.items-1)/s.Size + 1
			if n > partition.MaxShards {
				return 0, functions.BadPartition(&partition.Error{Code: partition.CodeTooManyShards})
			}
			return n, nil
		})
		require.Equal(t, c.want, spec.Size, "%+v", c)
		require.Equal(t, c.items == 1<<62, err != nil, "%+v", c)
		if err == nil {
			require.Equal(t, (c.items-1)/c.want+1, n, "%+v", c)
		}
	}
}
