package secretfile

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWriteAndRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "secret")
	for _, content := range [][]byte{[]byte("one"), {}, bytes.Repeat([]byte("x"), MaxBytes)} {
		require.NoError(t, Write(path, content))
		info, err := os.Stat(path)
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
		got, err := Read(path)
		require.NoError(t, err)
		require.Equal(t, content, got)
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	require.Len(t, entries, 1, "no temporary file stays")
}

func TestWriteThatFailsLeavesWhatWasThere(t *testing.T) {
	path := filepath.Join(t.TempDir(), "secret")
	require.NoError(t, Write(path, []byte("old")))
	require.ErrorContains(t, Write(path, make([]byte, MaxBytes+1)), "at most")
	got, err := Read(path)
	require.NoError(t, err)
	require.Equal(t, "old", string(got))
}

func TestReadRefuses(t *testing.T) {
	dir := t.TempDir()
	_, err := Read(filepath.Join(dir, "none"))
	require.ErrorIs(t, err, fs.ErrNotExist)

	open := filepath.Join(dir, "open")
	require.NoError(t, os.WriteFile(open, []byte("x"), 0o640))
	_, err = Read(open)
	require.ErrorContains(t, err, "chmod 600")

	large := filepath.Join(dir, "large")
	require.NoError(t, os.WriteFile(large, make([]byte, MaxBytes+1), 0o600))
	_, err = Read(large)
	require.ErrorContains(t, err, "no secret of ours")

	require.NoError(t, os.Symlink("large", filepath.Join(dir, "link")))
	_, err = Read(filepath.Join(dir, "link"))
	require.Error(t, err)
	require.NoError(t, os.Mkdir(filepath.Join(dir, "dir"), 0o700))
	_, err = Read(filepath.Join(dir, "dir"))
	require.ErrorContains(t, err, "mode")
}
