package inputdir

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/runtime/inputfile"
)

func fileOf(path, content string) inputfile.File {
	sum := sha256.Sum256([]byte(content))
	return inputfile.File{Digest: hex.EncodeToString(sum[:]), Name: path, Path: path, Size: int64(len(content))}
}

// opens hands out contents by path.
func opens(contents map[string]string) Open {
	return func(_ context.Context, f inputfile.File) (io.ReadCloser, error) {
		text, found := contents[f.Path]
		if !found {
			return nil, errors.New("there is no such file")
		}
		return io.NopCloser(bytes.NewReader([]byte(text))), nil
	}
}

func listing(t *testing.T, d *Dir) map[string]string {
	t.Helper()
	found := map[string]string{}
	require.NoError(t, filepath.WalkDir(d.Path(), func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		name, relErr := filepath.Rel(d.Path(), path)
		found[filepath.ToSlash(name)] = string(text)
		return errors.Join(err, relErr)
	}))
	return found
}

func TestExactlyTheFilesOfTheShardLieThere(t *testing.T) {
	d, err := Make(filepath.Join(t.TempDir(), "input"))
	require.NoError(t, err)
	first := map[string]string{"a/b/c.txt": "abc", "d": "", "a/e": "e"}
	require.NoError(t, d.Replace(t.Context(), []inputfile.File{fileOf("a/b/c.txt", "abc"), fileOf("d", ""), fileOf("a/e", "e")}, opens(first)))
	require.Equal(t, first, listing(t, d))
	info, err := os.Stat(filepath.Join(d.Path(), "a", "b", "c.txt"))
	require.NoError(t, err)
	require.Equal(t, fs.FileMode(0o444), info.Mode())

	// What a shard that could has done to its copies does not reach the next.
	require.NoError(t, os.Chmod(filepath.Join(d.Path(), "a", "b"), 0))
	require.NoError(t, os.Chmod(d.Path(), 0o500))
	second := map[string]string{"d": "other"}
	require.NoError(t, d.Replace(t.Context(), []inputfile.File{fileOf("d", "other")}, opens(second)))
	require.Equal(t, second, listing(t, d))

	outside := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(outside, "kept"), nil, 0o600))
	require.NoError(t, os.RemoveAll(d.Path()))
	require.NoError(t, os.Symlink(outside, d.Path()))
	require.NoError(t, d.Replace(t.Context(), []inputfile.File{fileOf("d", "other")}, opens(second)))
	require.Equal(t, second, listing(t, d))
	require.FileExists(t, filepath.Join(outside, "kept"))
	require.NoError(t, d.Empty())
	require.Empty(t, listing(t, d))
}

func TestWrongBytesAreNotLaid(t *testing.T) {
	d, err := Make(filepath.Join(t.TempDir(), "input"))
	require.NoError(t, err)
	good := fileOf("good", "good")
	for name, content := range map[string]string{"others": "evil", "too long": "good+", "too short": "goo"} {
		err := d.Replace(t.Context(), []inputfile.File{fileOf("first", "1"), good}, opens(map[string]string{"first": "1", "good": content}))
		require.ErrorIs(t, err, ErrMismatch, name)
		require.Empty(t, listing(t, d), name)
	}
	require.ErrorContains(t, d.Replace(t.Context(), []inputfile.File{good}, opens(nil)), "no such file")
	require.Error(t, d.Replace(t.Context(), []inputfile.File{fileOf("../out", "x")}, opens(map[string]string{"../out": "x"})))
	require.NoFileExists(t, filepath.Join(filepath.Dir(d.Path()), "out"))

	ended, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, d.Replace(ended, []inputfile.File{good}, opens(map[string]string{"good": "good"})), context.Canceled)
}
