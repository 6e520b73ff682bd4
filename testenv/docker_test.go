package testenv

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDockerDaemon(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "d")
	d, err := StartDocker(dir)
	require.NoError(t, err)
	require.NoError(t, d.ping(t.Context()))
	d.Stop()
	require.Error(t, d.ping(t.Context()))
	require.NoError(t, os.RemoveAll(dir), "something of it is mounted still")
	left, err := filepath.Glob("/sys/fs/cgroup/*/" + d.group)
	require.NoError(t, err)
	require.Empty(t, left)
}
