//go:build linux

package volume

import (
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

func writableMapping(t *testing.T, most int64) Mapping {
	t.Helper()
	return Mapping{Name: "cache", Path: t.TempDir(), Mode: ReadWrite, MaxBytes: most}
}

// newWritable leaves the machine's disk as it is.
func newWritable() *Writable {
	w := NewWritable(slog.New(slog.DiscardHandler))
	w.keepFree = 0
	return w
}

func lend(t *testing.T, w *Writable, m Mapping, project uuid.UUID, function string) *Folder {
	t.Helper()
	f, err := w.Lend(m, project, function, NewBlocklist())
	require.NoError(t, err)
	return f
}

func put(t *testing.T, f *Folder, name string, size int) {
	t.Helper()
	require.NoError(t, os.WriteFile(filepath.Join(f.Path(), name), make([]byte, size), 0o600))
}

// What the owner allows is allowed to the byte, for all lanes together; at fault is the project that keeps most.
func TestLookAtTheLimit(t *testing.T) {
	m, w := writableMapping(t, 1000), newWritable()
	first, second := lend(t, w, m, uuid.New(), "f"), lend(t, w, m, uuid.New(), "g")
	put(t, first, "a", 400)
	require.NoError(t, first.Look())
	put(t, second, "a", 600)
	require.NoError(t, second.Look())
	put(t, second, "b", 1)
	require.ErrorIs(t, second.Look(), ErrFull)
	require.NoError(t, first.Look())
	require.Equal(t, Usage{Files: 2, Bytes: 601}, second.Written())
	require.True(t, second.Full())
	require.False(t, first.Full())
	require.NoError(t, CloseAll([]*Folder{first, second}))
	require.NoFileExists(t, filepath.Join(second.Path(), "a"))
	require.FileExists(t, filepath.Join(first.Path(), "a"), "only what is at fault goes")
}

func TestLookAtTheNumberOfFiles(t *testing.T) {
	m, w := writableMapping(t, 1000), newWritable()
	w.entries = 10
	f := lend(t, w, m, uuid.New(), "f")
	defer f.Close()
	for n := range 10 {
		put(t, f, strconv.Itoa(n), 0)
	}
	require.NoError(t, f.Look())
	put(t, f, "one more", 0)
	require.ErrorIs(t, f.Look(), ErrFull)
}

func TestLookAtDepth(t *testing.T) {
	f := lend(t, newWritable(), writableMapping(t, 1000), uuid.New(), "f")
	defer f.Close()
	path := f.Path()
	for range MaxDepth {
		path = filepath.Join(path, "d")
		require.NoError(t, os.Mkdir(path, 0o700))
	}
	require.NoError(t, f.Look())
	require.NoError(t, os.Mkdir(filepath.Join(path, "d"), 0o700))
	require.ErrorIs(t, f.Look(), ErrFull)
}

// Room is made of what was not used for longest, whatever a function says of when it was; what is not ours and what others have in use stays.
func TestRoomInAVolume(t *testing.T) {
	m, w := writableMapping(t, 1000), newWritable()
	require.NoError(t, os.MkdirAll(filepath.Join(m.Path, "owner", "data", "0"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(m.Path, "owner", "data", "0", "a"), make([]byte, 5000), 0o600))
	require.NoError(t, os.Symlink("/etc", filepath.Join(m.Path, uuid.NewString())))
	used := lend(t, w, m, uuid.New(), "used")
	put(t, used, "a", 300)
	require.NoError(t, used.Look())
	var paths []string
	for n := range 2 {
		f := lend(t, w, m, uuid.New(), "f")
		put(t, f, "a", 200)
		future := time.Now().Add(time.Duration(100-n) * time.Hour)
		require.NoError(t, os.Chtimes(f.Path(), future, future))
		require.NoError(t, f.Close())
		paths = append(paths, f.Path())
	}
	old := time.Now().Add(-time.Hour)
	require.NoError(t, os.Chtimes(paths[0], old, old))
	next := lend(t, w, m, uuid.New(), "next")
	require.NoDirExists(t, paths[0])
	require.FileExists(t, filepath.Join(paths[1], "a"))
	require.FileExists(t, filepath.Join(used.Path(), "a"))
	require.FileExists(t, filepath.Join(m.Path, "owner", "data", "0", "a"))
	require.NoError(t, CloseAll([]*Folder{used, next}))
}

// Names of projects and functions make no way out of the volume, and a link in the place of a lane is not followed.
func TestLanesStayInTheirVolume(t *testing.T) {
	m, w, project := writableMapping(t, 1000), newWritable(), uuid.New()
	for _, name := range []string{"", ".", "..", "../x", "a/b", "/etc", "A", "a\x00"} {
		_, err := w.Lend(m, project, name, NewBlocklist())
		require.ErrorContains(t, err, "is no name of a function")
	}
	outside := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(m.Path, project.String(), "f"), 0o700))
	require.NoError(t, os.Symlink(outside, filepath.Join(m.Path, project.String(), "f", "0")))
	_, err := w.Lend(m, project, "f", NewBlocklist())
	require.ErrorContains(t, err, "there is a link in")
	other := uuid.New()
	require.NoError(t, os.Symlink(outside, filepath.Join(m.Path, other.String())))
	_, err = w.Lend(m, other, "f", NewBlocklist())
	require.Error(t, err)
	left, err := os.ReadDir(outside)
	require.NoError(t, err)
	require.Empty(t, left)
}

// What a function leaves that could do harm on the machine is taken away before the next one comes.
func TestTidyVolume(t *testing.T) {
	m, w, project := writableMapping(t, 1000), newWritable(), uuid.New()
	f := lend(t, w, m, project, "f")
	put(t, f, "program", 1)
	require.NoError(t, os.Chmod(filepath.Join(f.Path(), "program"), os.ModeSetuid|os.ModeSetgid|0o755))
	require.NoError(t, syscall.Mkfifo(filepath.Join(f.Path(), "pipe"), 0o666))
	require.NoError(t, os.Mkdir(filepath.Join(f.Path(), "closed"), 0))
	require.NoError(t, os.Symlink("/etc/passwd", filepath.Join(f.Path(), "link")))
	require.NoError(t, f.Close())
	info, err := os.Stat(filepath.Join(f.Path(), "program"))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o755), info.Mode())
	_, err = os.Lstat(filepath.Join(f.Path(), "pipe"))
	require.ErrorIs(t, err, os.ErrNotExist)
	_, err = os.Lstat(filepath.Join(f.Path(), "link"))
	require.NoError(t, err)
	info, err = os.Stat(filepath.Join(f.Path(), "closed"))
	require.NoError(t, err)
	require.Equal(t, os.ModeDir|0o700, info.Mode(), "the next one opens it")
}

// At most so many sandboxes of a function have a volume at a time.
func TestLanesOfAFunction(t *testing.T) {
	m, w, project := writableMapping(t, 1000), newWritable(), uuid.New()
	var all []*Folder
	for range MaxLanes {
		all = append(all, lend(t, w, m, project, "f"))
	}
	_, err := w.Lend(m, project, "f", NewBlocklist())
	require.ErrorContains(t, err, "64 sandboxes of the function have volume cache already")
	require.NoError(t, CloseAll(all))
}

// An empty volume of a server goes with who has had it.
func TestFreshVolume(t *testing.T) {
	dir := t.TempDir()
	f, err := newWritable().OpenFresh("cache", dir, 10)
	require.NoError(t, err)
	put(t, f, "a", 10)
	require.NoError(t, f.Look())
	put(t, f, "b", 1)
	require.ErrorIs(t, f.Look(), ErrFull)
	require.NoError(t, f.Close())
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, left)
}

// TestEmptyFoldersGo: whoever makes function after function leaves no folder for each, and what holds something stays.
func TestEmptyFoldersGo(t *testing.T) {
	m, w := writableMapping(t, 1000), newWritable()
	project := uuid.New()
	empty, kept, fresh := lend(t, w, m, project, "empty"), lend(t, w, m, project, "kept"), lend(t, w, m, uuid.New(), "fresh")
	put(t, kept, "a", 1)
	require.NoError(t, CloseAll([]*Folder{empty, kept, fresh}))
	before := time.Now().Add(-emptyKept - time.Minute)
	for _, f := range []*Folder{empty, kept} {
		require.NoError(t, os.Chtimes(f.Path(), before, before))
	}
	other := lend(t, w, m, uuid.New(), "other")
	require.NoDirExists(t, filepath.Dir(empty.Path()), "and what is above it")
	require.FileExists(t, filepath.Join(kept.Path(), "a"))
	require.DirExists(t, fresh.Path(), "its function may come again soon")
	require.NoError(t, other.Close())
	require.Equal(t, empty.Path(), lend(t, w, m, project, "empty").Path())
}
