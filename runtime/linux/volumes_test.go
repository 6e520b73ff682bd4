//go:build linux

package linux

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/runtime/bundle"
	"github.com/ostraka/ostraka/runtime/harness"
	"github.com/ostraka/ostraka/runtime/volume"
)

const readsVolumes = `import os, stat

def attempt(what):
    try:
        what()
        return True
    except OSError:
        return False

BEFORE = sorted(os.listdir(os.environ["OSTRAKA_VOLUMES"] + "/ref"))

def handler(x, context):
    ref = os.environ["OSTRAKA_VOLUMES"] + "/ref"
    allowed = []
    for name, what in (
        ("create", lambda: open(ref + "/new", "w")),
        ("mkdir", lambda: os.mkdir(ref + "/dir")),
        ("write", lambda: open(ref + "/sub/a.txt", "r+")),
        ("append", lambda: open(ref + "/sub/a.txt", "a")),
        ("truncate", lambda: os.truncate(ref + "/sub/a.txt", 0)),
        ("remove", lambda: os.remove(ref + "/sub/a.txt")),
        ("rename", lambda: os.rename(ref + "/sub/a.txt", ref + "/other")),
        ("link", lambda: os.link(ref + "/sub/a.txt", "linked")),
        ("chmod", lambda: os.chmod(ref + "/sub/a.txt", 0o777)),
        ("remount", lambda: os.rename(os.environ["OSTRAKA_VOLUMES"] + "/ref", os.environ["OSTRAKA_VOLUMES"] + "/moved")),
        ("follow", lambda: open(ref + "/outside").read()),
        ("climb", lambda: open(ref + "/../../secret").read()),
    ):
        if attempt(what):
            allowed.append(name)
    flags = os.statvfs(ref).f_flag if ref.startswith("/volumes/") else None
    kept = None if flags is None else [bool(flags & f) for f in (os.ST_RDONLY, os.ST_NOSUID, os.ST_NODEV, os.ST_NOEXEC)]
    return [ref if kept else "", BEFORE, open(ref + "/sub/a.txt").read(), allowed, kept]
`

// volumeFunction is a function that reads the volume ref.
func volumeFunction(t *testing.T) *bundle.Bundle {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "main.py"), []byte(readsVolumes), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, bundle.ManifestName), []byte("name = \"f\"\n[[volumes]]\nname = \"ref\"\n"), 0o600))
	b, err := bundle.Pack(dir)
	require.NoError(t, err)
	return b
}

// volumeFolder is a folder with a file and a link that leads out of it, beside a secret.
func volumeFolder(t *testing.T, content string) (dir string) {
	t.Helper()
	base := t.TempDir()
	dir = filepath.Join(base, "data")
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "sub"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "sub", "a.txt"), []byte(content), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(base, "secret"), []byte("secret"), 0o644))
	require.NoError(t, os.Symlink(filepath.Join(base, "secret"), filepath.Join(dir, "outside")))
	return dir
}

func openVolume(t *testing.T, dir string) harness.Settings {
	t.Helper()
	folder, err := volume.Open("ref", dir, volume.NewBlocklist())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, folder.Close()) })
	return harness.Settings{Volumes: []*volume.Folder{folder}}
}

// At every level a function reads its volume from its import on, and can change nothing in it nor leave it.
func TestVolumes(t *testing.T) {
	for _, level := range levelsHere() {
		t.Run(string(level), func(t *testing.T) {
			dir := volumeFolder(t, "one")
			s, err := newRunner(t, level).Open(t.Context(), volumeFunction(t), openVolume(t, dir))
			require.NoError(t, err)
			defer func() { require.NoError(t, s.Close()) }()
			want := `["/volumes/ref",["outside","sub"],"one",[],[true,true,true,true]]`
			if level == bundle.Landlock {
				want = `["",["outside","sub"],"one",[],null]`
			}
			for shard := range int64(2) {
				got, err := s.Run(t.Context(), shard, []byte("1"))
				require.NoError(t, err)
				require.Equal(t, harness.StatusOK, got.Status, "%+v", got.Exception)
				require.JSONEq(t, want, got.Output)
			}
			text, err := os.ReadFile(filepath.Join(dir, "sub", "a.txt"))
			require.NoError(t, err)
			require.Equal(t, "one", string(text))
		})
	}
}

// Whatever takes a folder's place after it was opened is not shown: neither when the sandbox is opened nor when its interpreter is started again.
func TestVolumeSwappedForALink(t *testing.T) {
	for _, level := range levelsHere() {
		t.Run(string(level), func(t *testing.T) {
			dir, secrets := volumeFolder(t, "one"), volumeFolder(t, "secret")
			settings := openVolume(t, dir)
			require.NoError(t, os.Rename(dir, dir+"-moved"))
			require.NoError(t, os.Symlink(secrets, dir))
			s, err := newRunner(t, level).Open(t.Context(), volumeFunction(t), settings)
			if err != nil {
				require.ErrorContains(t, err, "there is a link in")
				return
			}
			defer func() { require.NoError(t, s.Close()) }()
			got, err := s.Run(t.Context(), 0, []byte("1"))
			require.NoError(t, err)
			require.NotContains(t, got.Output, "secret")
			if level != bundle.Landlock { // where the path is gone, and nothing else is to be seen
				require.Contains(t, got.Output, `"one"`)
			}
		})
	}
}

// A folder that is swapped for a link and back all the time is never followed.
func TestVolumeRace(t *testing.T) {
	dir, secrets := volumeFolder(t, "one"), volumeFolder(t, "secret")
	link := dir + "-link"
	require.NoError(t, os.Symlink(secrets, link))
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			default:
			}
			_ = os.Rename(dir, dir+"-moved")
			_ = os.Rename(link, dir)
			_ = os.Rename(dir, link)
			_ = os.Rename(dir+"-moved", dir)
		}
	}()
	defer func() { close(stop); <-stopped }()
	level, b := levelsHere()[0], volumeFunction(t)
	r := newRunner(t, level)
	shown, refused := 0, 0
	for shown < 5 || refused < 5 {
		switch output, err := raceOnce(t, r, b, dir); {
		case err != nil:
			refused++
		default:
			require.Contains(t, output, `"one"`)
			shown++
		}
	}
}

// raceOnce opens the volume and runs the function on it; it fails where a link is in the way, or nothing.
func raceOnce(t *testing.T, r *Runner, b *bundle.Bundle, dir string) (output string, err error) {
	t.Helper()
	folder, err := volume.Open("ref", dir, volume.NewBlocklist())
	if err != nil {
		return "", err
	}
	defer folder.Close()
	s, err := r.Open(t.Context(), b, harness.Settings{Volumes: []*volume.Folder{folder}})
	if err != nil {
		return "", err
	}
	defer func() { require.NoError(t, s.Close()) }()
	got, err := s.Run(t.Context(), 0, []byte("1"))
	require.NoError(t, err)
	if got.Status != harness.StatusOK {
		return "", fmt.Errorf("%+v", got.Exception)
	}
	return got.Output, nil
}

// A sandbox is opened with the folders that its function wants, or not at all.
func TestVolumesThatAreNotOpen(t *testing.T) {
	r := newRunner(t, levelsHere()[0])
	_, err := r.Open(t.Context(), volumeFunction(t), harness.Settings{})
	require.ErrorContains(t, err, "the function wants 1 volumes, 0 folders are open")
}
