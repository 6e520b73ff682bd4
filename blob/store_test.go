package blob

import (
	"bytes"
	"context"
	"io"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSpoolAtItsLimit(t *testing.T) {
	for size, fits := range map[int]bool{9: true, 10: true, 11: false} {
		_, n, err := spool(context.Background(), io.Discard, bytes.NewReader(make([]byte, size)), 10)
		if fits {
			require.NoError(t, err)
			require.EqualValues(t, size, n)
			continue
		}
		require.ErrorIs(t, err, ErrTooLarge)
		require.ErrorContains(t, err, "the limit is 10 bytes")
	}
}
