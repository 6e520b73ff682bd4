package filelock_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/agent/filelock"
)

func TestOneHoldsALock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	held, err := filelock.Try(path)
	require.NoError(t, err)
	_, err = filelock.Try(path)
	require.ErrorIs(t, err, filelock.ErrHeld)
	waited := make(chan error, 1)
	go func() {
		f, err := filelock.Wait(path)
		if err == nil {
			err = f.Close()
		}
		waited <- err
	}()
	require.NoError(t, held.Close())
	require.NoError(t, <-waited)
	_, err = filelock.Try(filepath.Join(path, "nowhere"))
	require.Error(t, err)
}
