package agent

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDataDirIsMadePrivate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "agent")
	d, err := openDataDir(path)
	require.NoError(t, err)
	defer d.close()
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o700), info.Mode().Perm())
}

func TestTwoAgentsDoNotShareADataDir(t *testing.T) {
	t.Parallel()
	path := t.TempDir()
	first, err := openDataDir(path)
	require.NoError(t, err)
	_, err = openDataDir(path)
	require.ErrorIs(t, err, ErrInUse)
	require.ErrorContains(t, err, "--data")
	first.close()
	second, err := openDataDir(path)
	require.NoError(t, err, "the first is gone")
	second.close()
}

// TestAnAgentStartsWhileItIsLookedFor has `ostraka agent status` ask without end while an agent starts.
func TestAnAgentStartsWhileItIsLookedFor(t *testing.T) {
	path := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	var looking sync.WaitGroup
	looking.Go(func() {
		for ctx.Err() == nil {
			if _, err := ReadStatus(path); err != nil {
				t.Error(err)
			}
		}
	})
	for range 10 {
		d, err := openDataDir(path)
		require.NoError(t, err)
		d.close()
	}
	cancel()
	looking.Wait()
}

func TestDataDirThatOthersMayWriteIsRefused(t *testing.T) {
	path := t.TempDir()
	require.NoError(t, os.Chmod(path, 0o777))
	_, err := openDataDir(path)
	require.ErrorContains(t, err, "chmod 700")
}

func TestDataDirClearsWhatAKilledAgentLeft(t *testing.T) {
	path := t.TempDir()
	left := filepath.Join(path, "work", "lease-1", "main.py")
	require.NoError(t, os.MkdirAll(filepath.Dir(left), 0o700))
	require.NoError(t, os.WriteFile(left, nil, 0o400))
	d, err := openDataDir(path)
	require.NoError(t, err)
	defer d.close()
	require.NoFileExists(t, left)
	require.DirExists(t, d.work())
}
