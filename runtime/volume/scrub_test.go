//go:build linux

package volume

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestScrub(t *testing.T) {
	dir := t.TempDir()
	here, err := os.Getwd()
	require.NoError(t, err)
	require.NoError(t, os.Chdir(dir)) //nolint:usetesting // deeper than a path is long
	for range 3000 {
		require.NoError(t, os.Mkdir("a-rather-long-name", 0o700))
		require.NoError(t, os.Chdir("a-rather-long-name")) //nolint:usetesting // as above
	}
	require.NoError(t, os.WriteFile("deep", nil, 0o600))
	require.NoError(t, os.Chdir(here)) //nolint:usetesting // as above
	for i := range 600 {
		require.NoError(t, os.WriteFile(filepath.Join(dir, strconv.Itoa(i)), nil, 0o600))
	}
	require.NoError(t, os.Mkdir(filepath.Join(dir, "scrub-1"), 0))
	require.NoError(t, os.Symlink("/", filepath.Join(dir, "link")))
	require.NoError(t, Scrub(dir))
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, left)
	require.DirExists(t, "/etc")
}
