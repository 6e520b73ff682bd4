//go:build linux

package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// A server that was killed leaves its folder to the next one, which leaves those of servers that live alone.
func TestFoldersOfKilledServersAreRemoved(t *testing.T) {
	config := serverConfig{CacheDir: filepath.Join(t.TempDir(), "modules")}
	alive, err := makeRecheckDir(config)
	require.NoError(t, err)
	require.Equal(t, filepath.Join(filepath.Dir(config.CacheDir), "recheck"), filepath.Dir(alive.path))
	killed, err := makeRecheckDir(config)
	require.NoError(t, err)
	require.NoError(t, os.Mkdir(filepath.Join(killed.path, "lease"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(killed.path, "lease", "main.py"), []byte("x"), 0o400))
	require.NoError(t, killed.lock.Close()) // as the kernel does when a process ends

	next, err := makeRecheckDir(config)
	require.NoError(t, err)
	require.NoDirExists(t, killed.path)
	require.DirExists(t, alive.path)
	require.NoError(t, next.remove())
	require.NoError(t, alive.remove())
	require.NoDirExists(t, next.path)
	require.NoDirExists(t, alive.path)

	config.CacheDir = "/proc/none/modules" // where nothing can be made
	elsewhere, err := makeRecheckDir(config)
	require.NoError(t, err)
	require.NoError(t, elsewhere.remove())
}
