//go:build unix

package bundle

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPackRefusesSpecialFiles(t *testing.T) {
	dir := writeTree(t, map[string]string{ManifestName: minimal, "main.py": ""})
	link := filepath.Join(dir, "passwd")
	require.NoError(t, os.Symlink("/etc/passwd", link))
	_, err := Pack(dir)
	require.ErrorContains(t, err, "passwd is a link")
	require.NoError(t, os.Remove(link))
	require.NoError(t, syscall.Mkfifo(link, 0o600))
	_, err = Pack(dir)
	require.ErrorContains(t, err, "special file")
}
