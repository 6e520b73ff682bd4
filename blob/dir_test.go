package blob_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/blob"
	"github.com/ostraka/ostraka/blob/blobtest"
)

func openDir(t *testing.T, dir string) *blob.Store {
	t.Helper()
	store, err := blob.OpenDir(dir)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	return store
}

// files lists the regular files below a directory but for the lock.
func files(t *testing.T, dir string) []string {
	t.Helper()
	var found []string
	require.NoError(t, filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		name, _ := filepath.Rel(dir, path)
		if err == nil && !e.IsDir() && name != "tmp/lock" {
			found = append(found, name)
		}
		return err
	}))
	slices.Sort(found)
	return found
}

func TestDirKeepsTheContract(t *testing.T) {
	blobtest.Run(t, func(t *testing.T) blobtest.Backend {
		t.Helper()
		dir := filepath.Join(t.TempDir(), "objects")
		return blobtest.Backend{
			Store: openDir(t, dir),
			Overwrite: func(key string, content []byte) {
				require.NoError(t, os.WriteFile(filepath.Join(dir, key), content, 0o600))
			},
			// Left temporary files would show here too.
			Keys: func() []string { return files(t, dir) },
		}
	})
}

func TestDirIsPrivate(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "objects")
	store := openDir(t, dir)
	_, _, err := store.Put(t.Context(), uuid.New(), strings.NewReader("x"), 1)
	require.NoError(t, err)
	require.NoError(t, filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		require.NoError(t, err)
		info, err := e.Info()
		require.NoError(t, err)
		want := fs.FileMode(0o600)
		if e.IsDir() {
			want = 0o700
		}
		require.Equal(t, want, info.Mode().Perm(), path)
		return nil
	}))
}

// blockedReader lets a test look at a Put that is half done.
type blockedReader struct{ reached, release chan struct{} }

func (r blockedReader) Read(p []byte) (int, error) {
	close(r.reached)
	<-r.release
	return 0, os.ErrDeadlineExceeded
}

func TestDirSweepsWhatDeadProcessesLeft(t *testing.T) {
	dir := t.TempDir()
	live := openDir(t, dir)
	r := blockedReader{make(chan struct{}), make(chan struct{})}
	failed := make(chan error)
	go func() {
		_, _, err := live.Put(t.Context(), uuid.New(), r, 10)
		failed <- err
	}()
	<-r.reached
	writing := files(t, dir)
	require.Len(t, writing, 1)

	dead := filepath.Join(dir, "tmp", uuid.NewString())
	require.NoError(t, os.Mkdir(dead, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dead, "half"), []byte("written"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "tmp", "stray"), nil, 0o600))
	openDir(t, dir)
	require.Equal(t, writing, files(t, dir), "the live process keeps its file, the dead one does not")

	close(r.release)
	require.ErrorIs(t, <-failed, os.ErrDeadlineExceeded)
	require.Empty(t, files(t, dir))
}

func TestDirFollowsNoLink(t *testing.T) {
	outside, dir := t.TempDir(), t.TempDir()
	store := openDir(t, dir)
	project := uuid.New()
	digest, _, err := store.Put(t.Context(), project, strings.NewReader("secret"), 10)
	require.NoError(t, err)
	path := filepath.Join(dir, blobtest.Key(project, digest))

	require.NoError(t, os.WriteFile(filepath.Join(outside, "file"), []byte("secret"), 0o600))
	require.NoError(t, os.Remove(path))
	require.NoError(t, os.Symlink(filepath.Join(outside, "file"), path))
	_, err = store.Get(t.Context(), project, digest, 10)
	require.ErrorIs(t, err, blob.ErrCorrupt)

	other := uuid.New()
	require.NoError(t, os.Symlink(outside, filepath.Join(dir, "projects", other.String())))
	_, _, err = store.Put(t.Context(), other, strings.NewReader("x"), 10)
	require.ErrorContains(t, err, "escapes")
	require.NoError(t, store.DeleteProject(t.Context(), other))
	require.Equal(t, []string{"file"}, files(t, outside))
}

func TestDirPingFindsALostDirectory(t *testing.T) {
	dir := t.TempDir()
	store := openDir(t, dir)
	require.NoError(t, store.Ping(t.Context()))
	require.NoError(t, os.RemoveAll(filepath.Join(dir, "tmp")))
	require.ErrorContains(t, store.Ping(t.Context()), "reaching the object store")
}

func TestOpenDirRefusesAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	_, err := blob.OpenDir(path)
	require.ErrorContains(t, err, "making the object store's directory")
}
