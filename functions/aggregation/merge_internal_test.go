package aggregation

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Partials are read as many at a time as fit, and one at least.
func TestHowManyPartialsAreReadAtOnce(t *testing.T) {
	of := func(sizes ...int64) []partialDigest {
		list := make([]partialDigest, len(sizes))
		for i, n := range sizes {
			list[i].Bytes = n
		}
		return list
	}
	require.Equal(t, 3, someOf(of(1, 2, 3)))
	require.Equal(t, 2, someOf(of(MaxPreviewBytes/2, MaxPreviewBytes/2)))
	require.Equal(t, 1, someOf(of(MaxPreviewBytes/2, MaxPreviewBytes/2+1)))
	require.Equal(t, 1, someOf(of(MaxPreviewBytes+1, 0)))
	require.Equal(t, 2, someOf(of(MaxPreviewBytes, 0, 1)))
}
