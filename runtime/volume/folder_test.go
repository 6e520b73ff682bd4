//go:build unix

package volume

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// place is a folder without links above it, which the temporary one has on macOS.
func place(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	return dir
}

func TestOpenFollowsNoLink(t *testing.T) {
	base := place(t)
	real, inner := filepath.Join(base, "real"), filepath.Join(base, "real", "inner")
	require.NoError(t, os.MkdirAll(inner, 0o755))
	require.NoError(t, os.Symlink(real, filepath.Join(base, "link")))
	require.NoError(t, os.Symlink("/etc", filepath.Join(base, "etc")))
	require.NoError(t, os.WriteFile(filepath.Join(base, "file"), nil, 0o600))
	for path, says := range map[string]string{
		filepath.Join(base, "link"): "there is a link in", filepath.Join(base, "link", "inner"): "there is a link in",
		filepath.Join(base, "etc"): "there is a link in", filepath.Join(base, "etc", "ssl"): "there is a link in",
		filepath.Join(base, "none"): "no such file", filepath.Join(base, "file"): "is no folder",
	} {
		_, err := Open("ref", path, NewBlocklist())
		require.ErrorContains(t, err, says, path)
	}
	f, err := Open("ref", inner, NewBlocklist())
	require.NoError(t, err)
	require.NoError(t, f.Close())
	_, err = Open("Ref", inner, NewBlocklist())
	require.ErrorContains(t, err, "is no name of a volume")
}

func TestResolve(t *testing.T) {
	base := place(t)
	require.NoError(t, os.Mkdir(filepath.Join(base, "real"), 0o755))
	require.NoError(t, os.Symlink("real", filepath.Join(base, "link")))
	require.NoError(t, os.WriteFile(filepath.Join(base, "file"), nil, 0o600))
	got, err := Resolve(filepath.Join(base, "link"))
	require.NoError(t, err)
	require.Equal(t, filepath.Join(base, "real"), got)
	_, err = Resolve(filepath.Join(base, "file"))
	require.ErrorContains(t, err, "is no folder")
	_, err = Resolve(filepath.Join(base, "none"))
	require.ErrorContains(t, err, "no such file")
}

// A blocked folder under another name is recognised by itself.
func TestOpenKnowsABlockedFolderByItself(t *testing.T) {
	base := place(t)
	own := filepath.Join(base, "own")
	require.NoError(t, os.Mkdir(own, 0o755))
	b := NewBlocklist(own)
	require.NoError(t, os.Rename(own, filepath.Join(base, "other")))
	require.NoError(t, os.Symlink("other", own)) // so that the blocked path is that folder
	_, err := Open("ref", filepath.Join(base, "other"), b)
	require.ErrorContains(t, err, "under another name")
}

func TestPatterns(t *testing.T) {
	for pattern, says := range map[string]string{
		"data": "matches nothing", "/data/": "matches nothing", "/data/../x": "matches nothing", "//data": "matches nothing", "": "matches nothing",
		"/data/**": "write one *", "/data/[": "is no pattern",
	} {
		require.ErrorContains(t, CheckPattern(pattern), says, "%q", pattern)
	}
	for _, c := range []struct {
		pattern, path string
		want          bool
	}{
		{"/data", "/data", true},
		{"/data", "/data/a/b", true},
		{"/data", "/database", false},
		{"/data/*", "/data", false},
		{"/data/*", "/data/a/b", true},
		{"/home/*/public", "/home/me/public/x", true},
		{"/home/*/public", "/home/me/private", false},
		{"/", "/x", true},
	} {
		require.NoError(t, CheckPattern(c.pattern))
		require.Equal(t, c.want, Matches(c.pattern, c.path), "%+v", c)
	}
}
