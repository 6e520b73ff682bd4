//go:build linux

package linux

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/runtime/bundle"
	"github.com/ostraka/ostraka/runtime/harness"
	"github.com/ostraka/ostraka/runtime/volume"
)

const writesVolume = `import ctypes, json, os, stat

CACHE = os.environ["OSTRAKA_VOLUMES"] + "/cache"

def attempt(what):
    try:
        what()
        return True
    except OSError:
        return False

def allocate(path):
    libc = ctypes.CDLL(None, use_errno=True)
    with open(path, "w") as f:
        done = libc.fallocate(f.fileno(), 1, ctypes.c_long(0), ctypes.c_long(1 << 16)) # beyond the end of the file
    os.remove(path)
    if done != 0:
        raise OSError(ctypes.get_errno(), "fallocate")

def handler(x):
    before = sorted(os.listdir(CACHE))
    with open(CACHE + "/seen", "a") as f:
        f.write("x")
    if x == "attack":
        os.mkfifo(CACHE + "/pipe")
        open(CACHE + "/suid", "w").close(); os.chmod(CACHE + "/suid", 0o6755)
        os.symlink("/etc/passwd", CACHE + "/link")
        os.mkdir(CACHE + "/closed"); open(CACHE + "/closed/a", "w").close(); os.chmod(CACHE + "/closed", 0)
        os.utime(CACHE, (4e9, 4e9))
        with open(CACHE + "/tool", "w") as f:
            f.write("#!/bin/true\n")
        os.chmod(CACHE + "/tool", 0o755)
        open("mine", "w").close()
    allowed = [name for name, what in (
        ("node", lambda: os.mknod(CACHE + "/null", 0o20666, os.makedev(1, 3))),
        ("block", lambda: os.mknod(CACHE + "/disk", 0o60666, os.makedev(8, 0))),
        ("climb", lambda: os.listdir(CACHE + "/../../..") and os.stat(CACHE + "/../../../secret")),
        ("beside", lambda: open(CACHE + "/../other", "w")),
        ("move", lambda: os.rename(CACHE, CACHE + "2")),
        ("follow", lambda: open(CACHE + "/link").read()),
        ("allocate", lambda: allocate(CACHE + "/big")),
        ("run", lambda: os.execv(CACHE + "/tool", ["tool"])),
        ("link in", lambda: os.link(os.environ["OSTRAKA_VOLUMES"] + "/ref/a.txt", CACHE + "/linked")),
        ("move in", lambda: os.rename(os.environ["OSTRAKA_VOLUMES"] + "/ref/a.txt", CACHE + "/moved")),
        ("write ref", lambda: open(os.environ["OSTRAKA_VOLUMES"] + "/ref/a.txt", "a")),
    ) if attempt(what)]
    flags = os.statvfs(CACHE).f_flag if CACHE.startswith("/volumes/") else None
    kept = None if flags is None else [bool(flags & f) for f in (os.ST_RDONLY, os.ST_NOSUID, os.ST_NODEV, os.ST_NOEXEC)]
    return [before, len(open(CACHE + "/seen").read()), allowed, kept]
`

// writingFunction is one that reads the volume ref and writes to the volume cache.
func writingFunction(t *testing.T, source string) *bundle.Bundle {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "main.py"), []byte(source), 0o600))
	manifest := "name = \"f\"\n[[volumes]]\nname = \"cache\"\nmode = \"rw\"\n[[volumes]]\nname = \"ref\"\n"
	require.NoError(t, os.WriteFile(filepath.Join(dir, bundle.ManifestName), []byte(manifest), 0o600))
	b, err := bundle.Pack(dir)
	require.NoError(t, err)
	return b
}

// writableFolder is a folder for a volume that sandboxes' users reach at every level, beside a secret.
func writableFolder(t *testing.T) volume.Mapping {
	t.Helper()
	base := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(base, "secret"), []byte("secret"), 0o600))
	require.NoError(t, os.Mkdir(filepath.Join(base, "cache"), 0o755))
	return volume.Mapping{Name: "cache", Path: filepath.Join(base, "cache"), Mode: volume.ReadWrite, MaxBytes: 1 << 20}
}

// lent opens the two volumes of a function of a project.
func lent(t *testing.T, w *volume.Writable, m volume.Mapping, project uuid.UUID, ref string) []*volume.Folder {
	t.Helper()
	cache, err := w.Lend(m, project, "f", volume.NewBlocklist())
	require.NoError(t, err)
	read, err := volume.Open("ref", ref, volume.NewBlocklist())
	require.NoError(t, err)
	return []*volume.Folder{cache, read}
}

func refFolder(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "data")
	require.NoError(t, os.Mkdir(dir, 0o777))
	require.NoError(t, os.Chmod(dir, 0o777))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a.txt"), []byte("one"), 0o600))
	require.NoError(t, os.Chmod(filepath.Join(dir, "a.txt"), 0o666))
	return dir
}

// At every level a function writes to its volume, finds there what an earlier sandbox of its own has left, and nothing of another project; it makes no
// devices, runs nothing from it and leaves it by no link. What it leaves that is no file, folder or link is removed, and so are bits of programs.
func TestWritableVolume(t *testing.T) {
	for _, level := range levelsHere() {
		t.Run(string(level), func(t *testing.T) {
			m, ref, w, r, b := writableFolder(t), refFolder(t), volume.NewWritable(slog.New(slog.DiscardHandler)), newRunner(t, level), writingFunction(t, writesVolume)
			flags := `[false,true,true,true]`
			if level == bundle.Landlock {
				flags = `null`
			}
			run := func(project uuid.UUID, input string) string {
				folders := lent(t, w, m, project, ref)
				defer func() { require.NoError(t, volume.CloseAll(folders)) }()
				s, err := r.Open(t.Context(), b, harness.Settings{Volumes: folders})
				require.NoError(t, err)
				defer func() { require.NoError(t, s.Close()) }()
				got, err := s.Run(t.Context(), 0, []byte(input))
				require.NoError(t, err)
				require.Equal(t, harness.StatusOK, got.Status, "%+v", got.Exception)
				require.NoError(t, volume.LookAt(folders))
				return got.Output
			}
			one, two := uuid.New(), uuid.New()
			require.JSONEq(t, `[[],1,[],`+flags+`]`, run(one, `"attack"`))
			require.JSONEq(t, `[["closed","link","seen","suid","tool"],2,[],`+flags+`]`, run(one, `"again"`))
			require.JSONEq(t, `[[],1,[],`+flags+`]`, run(two, `"other"`))

			lane := filepath.Join(m.Path, one.String(), "f", "0")
			info, err := os.Stat(filepath.Join(lane, "suid"))
			require.NoError(t, err)
			require.Zero(t, info.Mode()&(os.ModeSetuid|os.ModeSetgid), "bits of programs are left")
			require.NoFileExists(t, filepath.Join(lane, "pipe"))
			text, err := os.ReadFile(filepath.Join(ref, "a.txt"))
			require.NoError(t, err)
			require.Equal(t, "one", string(text))
		})
	}
}

const fillsVolume = `import os

def handler(x):
    piece, n = b"x" * 65536, 0
    while True:
        with open(os.environ["OSTRAKA_VOLUMES"] + "/cache/" + str(n), "wb") as f:
            f.write(piece)
        n += 1
        if n >= x:
            return n
`

// A function that keeps as much as the owner allows goes on; one that keeps more is ended, and what it has kept is gone.
func TestVolumeIsFilled(t *testing.T) {
	for _, level := range levelsHere() {
		t.Run(string(level), func(t *testing.T) {
			m, ref, w, project := writableFolder(t), refFolder(t), volume.NewWritable(slog.New(slog.DiscardHandler)), uuid.New()
			fill := func(pieces string) error {
				folders := lent(t, w, m, project, ref)
				defer func() { require.NoError(t, volume.CloseAll(folders)) }()
				guarded, stop := volume.Guard(t.Context(), folders)
				s, err := newRunner(t, level).Open(guarded, writingFunction(t, fillsVolume), harness.Settings{Volumes: folders})
				require.NoError(t, err)
				_, err = s.Run(guarded, 0, []byte(pieces))
				require.NoError(t, s.Close())
				if over := stop(); over != nil {
					return over
				}
				return err
			}
			require.NoError(t, fill("16"), "a MiB, to the byte")
			require.ErrorIs(t, fill("17"), volume.ErrFull)
			require.ErrorIs(t, fill("1000000000"), volume.ErrFull, "it would never end by itself")
			left, err := os.ReadDir(filepath.Join(m.Path, project.String(), "f", "0"))
			require.NoError(t, err)
			require.Empty(t, left)
		})
	}
}

// A function that writes while it is imported is ended as well, and nothing of it stays.
func TestVolumeIsFilledByAnImport(t *testing.T) {
	source := strings.Replace(fillsVolume, "def handler(x):", "def fill(x):", 1) + "\nfill(1000000000)\n\ndef handler(x):\n    return x\n"
	for _, level := range levelsHere() {
		t.Run(string(level), func(t *testing.T) {
			m, ref, project := writableFolder(t), refFolder(t), uuid.New()
			folders := lent(t, volume.NewWritable(slog.New(slog.DiscardHandler)), m, project, ref)
			guarded, stop := volume.Guard(t.Context(), folders)
			s, err := newRunner(t, level).Open(guarded, writingFunction(t, source), harness.Settings{Volumes: folders})
			if err == nil { // where the first shard imports it
				_, err = s.Run(guarded, 0, []byte("1"))
				require.NoError(t, s.Close())
			}
			require.Error(t, err)
			require.ErrorIs(t, stop(), volume.ErrFull)
			require.NoError(t, volume.CloseAll(folders))
			left, err := os.ReadDir(folders[0].Path())
			require.NoError(t, err)
			require.Empty(t, left)
		})
	}
}

// Two sandboxes of a function at a time write to folders of their own.
func TestVolumeOfTwoSandboxes(t *testing.T) {
	m, ref, w, project := writableFolder(t), refFolder(t), volume.NewWritable(slog.New(slog.DiscardHandler)), uuid.New()
	first, second := lent(t, w, m, project, ref), lent(t, w, m, project, ref)
	require.NotEqual(t, first[0].Path(), second[0].Path())
	other := lent(t, volume.NewWritable(slog.New(slog.DiscardHandler)), m, project, ref) // another agent on the same machine
	require.NotContains(t, []string{first[0].Path(), second[0].Path()}, other[0].Path())
	for _, folders := range [][]*volume.Folder{first, second, other} {
		require.NoError(t, volume.CloseAll(folders))
	}
	again := lent(t, w, m, project, ref)
	require.Equal(t, first[0].Path(), again[0].Path())
	require.NoError(t, volume.CloseAll(again))
}
