package archive

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestOneArchiveAtATime: whoever finds the place taken is told to ask again, and waits nowhere.
func TestOneArchiveAtATime(t *testing.T) {
	t.Parallel()
	s := &Service{importing: make(chan struct{}, 1)}
	done, err := s.takePlace()
	require.NoError(t, err)
	_, err = s.takePlace()
	require.ErrorIs(t, err, ErrImportBusy)
	done()
	done, err = s.takePlace()
	require.NoError(t, err)
	done()
}
