package wholefile_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/agent/wholefile"
)

func TestAFileIsReplacedWhole(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	for content, mode := range map[string]fs.FileMode{"one": 0o600, "another": 0o644} {
		require.NoError(t, wholefile.Write(path, []byte(content), mode))
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, content, string(text))
		info, err := os.Stat(path)
		require.NoError(t, err)
		require.Equal(t, mode, info.Mode().Perm())
	}
	require.Error(t, wholefile.Write(filepath.Join(path, "below"), nil, 0o600))
	require.NoError(t, os.Mkdir(filepath.Join(dir, "folder"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "folder", "x"), nil, 0o600))
	require.Error(t, wholefile.Write(filepath.Join(dir, "folder"), []byte("x"), 0o600))
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, left, 2, "nothing is left of what failed")
}
