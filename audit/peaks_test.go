package audit_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/audit"
)

// TestPeaksHaveTheRootOfTheTree compares them with the tree of the log, which keeps all nodes.
func TestPeaksHaveTheRootOfTheTree(t *testing.T) {
	var peaks audit.Peaks
	var nodes []audit.Hash
	read := func(numbers []int64) ([]audit.Hash, error) {
		hashes := make([]audit.Hash, len(numbers))
		for i, n := range numbers {
			hashes[i] = nodes[n]
		}
		return hashes, nil
	}
	empty := peaks.Root()
	require.Equal(t, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", fmt.Sprintf("%x", empty[:]), "SHA-256 of nothing, RFC 6962 2.1")
	for size := range int64(300) {
		leaf := audit.Leaf(fmt.Append(nil, size))
		fresh, root, err := audit.Grow(size, []audit.Hash{leaf}, read)
		require.NoError(t, err)
		nodes = append(nodes, fresh...)
		resumed, err := audit.NewPeaks(peaks.Size(), peaks.Hashes())
		require.NoError(t, err)
		peaks = resumed
		peaks.Add(leaf)
		require.Equal(t, size+1, peaks.Size())
		require.Equal(t, root, peaks.Root(), "%d leaves", size+1)
	}
}

func TestPeaksThatFitNoTreeAreRefused(t *testing.T) {
	hash := make([]byte, 32)
	for name, c := range map[string]struct {
		size   int64
		hashes [][]byte
	}{
		"fewer than nothing": {-1, nil},
		"too few":            {3, [][]byte{hash}},
		"too many":           {2, [][]byte{hash, hash}},
		"a short one":        {1, [][]byte{hash[1:]}},
		"a long one":         {1, [][]byte{make([]byte, 33)}},
	} {
		_, err := audit.NewPeaks(c.size, c.hashes)
		require.Error(t, err, name)
	}
}
