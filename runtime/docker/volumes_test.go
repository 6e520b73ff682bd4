//go:build linux

package docker

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/runtime/bundle"
	"github.com/ostraka/ostraka/runtime/recheck"
	"github.com/ostraka/ostraka/runtime/volume"
)

const readsVolume = `import os

REF = os.environ["OSTRAKA_VOLUMES"] + "/ref"
BEFORE = sorted(os.listdir(REF))

def attempt(what):
    try:
        what()
        return True
    except OSError:
        return False

def handler(x):
    allowed = [name for name, what in (
        ("create", lambda: open(REF + "/new", "w")),
        ("mkdir", lambda: os.mkdir(REF + "/dir")),
        ("write", lambda: open(REF + "/a.txt", "r+")),
        ("truncate", lambda: os.truncate(REF + "/a.txt", 0)),
        ("remove", lambda: os.remove(REF + "/a.txt")),
        ("chmod", lambda: os.chmod(REF + "/a.txt", 0o777)),
        ("node", lambda: os.mknod(REF + "/null", 0o20666, os.makedev(1, 3))),
        ("beside", lambda: open(os.path.dirname(REF) + "/new", "w")),
        ("move", lambda: os.rename(REF, os.path.dirname(REF) + "/moved")),
        ("follow", lambda: open(REF + "/outside").read()),
        ("climb", lambda: open(REF + "/../../secret").read()),
        ("run", lambda: os.execv(REF + "/tool", ["tool"])),
    ) if attempt(what)]
    return [REF, BEFORE, open(REF + "/a.txt").read(), allowed, bool(os.statvfs(REF).f_flag & os.ST_RDONLY)]
`

// volumeFolder is a folder with a file, a program and a link that leads out of it, beside a secret.
func volumeFolder(t *testing.T, content string) (dir string) {
	t.Helper()
	base := t.TempDir()
	dir = filepath.Join(base, "data")
	require.NoError(t, os.Mkdir(dir, 0o777))
	require.NoError(t, os.Chmod(dir, 0o777))
	for name, mode := range map[string]os.FileMode{"a.txt": 0o666, "tool": 0o755} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600))
		require.NoError(t, os.Chmod(filepath.Join(dir, name), mode))
	}
	require.NoError(t, os.WriteFile(filepath.Join(base, "secret"), []byte("secret"), 0o644))
	require.NoError(t, os.Symlink(filepath.Join(base, "secret"), filepath.Join(dir, "outside")))
	return dir
}

func readOnly(dir string, projects ...uuid.UUID) []volume.Mapping {
	return []volume.Mapping{{Name: "ref", Path: dir, Mode: volume.ReadOnly, Projects: projects}}
}

// A function in a container reads its volume from its import on, and can change nothing in it nor leave it; that of another project has none.
func TestVolumes(t *testing.T) {
	for _, level := range levelsHere() {
		t.Run(string(level), func(t *testing.T) {
			dir, project := volumeFolder(t, "one"), uuid.New()
			x := newExecutor(t, at(level), func(c *Config) { c.Volumes = readOnly(dir, project) })
			batch := batchOf(pack(t, readsVolume, "[[volumes]]\nname = \"ref\"\n"), "1", "2")
			batch.Project = project
			results, err := x.Recheck(t.Context(), batch)
			require.NoError(t, err)
			require.Len(t, results, 2)
			for _, r := range results {
				require.Equal(t, "ok", string(r.Status), "%+v", r.Exception)
				var got []any
				require.NoError(t, json.Unmarshal([]byte(r.Output), &got))
				require.Equal(t, []any{"/volumes/ref", []any{"a.txt", "outside", "tool"}, "one", []any{}}, got[:4])
				require.True(t, level == bundle.GVisor || got[4].(bool))
			}
			batch.Project = uuid.New()
			_, err = x.Recheck(t.Context(), batch)
			require.ErrorContains(t, err, "this server has no volume ref for the project")
			entries, err := os.ReadDir(dir)
			require.NoError(t, err)
			require.Len(t, entries, 3)
		})
	}
}

// Whatever takes a folder's place after it was checked is not shown: the daemon mounts it, and the container's first process refuses it before there is
// any code of the function.
func TestVolumeSwapped(t *testing.T) {
	for _, level := range levelsHere() {
		x := newExecutor(t, at(level))
		p, err := x.ready(t.Context())
		require.NoError(t, err)
		for name, swap := range map[string]func(dir, secrets string) error{
			"for a link":           func(dir, secrets string) error { return os.Symlink(secrets, dir) },
			"for another folder":   func(dir, secrets string) error { return os.Rename(secrets, dir) },
			"for an empty folder":  func(dir, _ string) error { return os.Mkdir(dir, 0o755) },
			"for a file":           func(dir, _ string) error { return os.WriteFile(dir, nil, 0o644) },
			"for nothing":          func(string, string) error { return nil },
			"for a link to itself": func(dir, _ string) error { return os.Symlink(dir, dir) },
		} {
			t.Run(string(level)+" "+name, func(t *testing.T) {
				dir, secrets := volumeFolder(t, "one"), volumeFolder(t, "secret")
				folder, err := volume.Open("ref", dir, volume.NewBlocklist())
				require.NoError(t, err)
				defer folder.Close()
				require.NoError(t, os.Rename(dir, dir+"-moved"))
				require.NoError(t, swap(dir, secrets))
				batch := batchOf(pack(t, readsVolume, "[[volumes]]\nname = \"ref\"\n"), "1")
				results, failed := p.withVolumes(t.Context(), "", batch, []*volume.Folder{folder})
				require.Error(t, failed)
				require.Empty(t, results)
				require.NotContains(t, failed.Error(), "secret")
				if info, err := os.Stat(dir); err == nil && info.IsDir() {
					require.ErrorContains(t, failed, volume.ErrOtherFolder.Error())
				}
			})
		}
	}
}

// A folder that cannot be a volume keeps the executor from being made.
func TestVolumeThatCannotBeOne(t *testing.T) {
	cfg := config(t)
	cfg.Volumes = readOnly("/etc")
	_, err := New(cfg)
	require.ErrorContains(t, err, "nothing in /etc may be shown to functions")
	cfg.Volumes = readOnly(cfg.Dir)
	_, err = New(cfg)
	require.ErrorContains(t, err, "can never be a volume")
}

// A function whose volumes the server lacks is a matter of the server's, not a result.
func TestVolumeThatIsMissing(t *testing.T) {
	x := newExecutor(t)
	_, err := x.Recheck(t.Context(), batchOf(pack(t, readsVolume, "[[volumes]]\nname = \"ref\"\n"), "1"))
	var own *recheck.Error
	require.ErrorAs(t, err, &own)
	require.ErrorContains(t, err, "this server has no volume ref for the project")
}

// A function that writes to a volume finds it empty in each container, and bounded by the kernel; what it reads besides stays read-only.
func TestVolumeThatIsWritten(t *testing.T) {
	const source = `import errno, os

CACHE = os.environ["OSTRAKA_VOLUMES"] + "/cache"

def fails(what):
    try:
        what()
    except OSError as error:
        return errno.errorcode[error.errno]
    return ""

def handler(x):
    before = sorted(os.listdir(CACHE))
    with open(CACHE + "/seen", "a") as f:
        f.write("x")
    with open(CACHE + "/tool", "w") as f:
        f.write("#!/bin/true")
    os.chmod(CACHE + "/tool", 0o4755)
    flags = os.statvfs(CACHE)
    return [before, len(open(CACHE + "/seen").read()), fails(lambda: os.execv(CACHE + "/tool", ["tool"])), fails(lambda: os.mknod(CACHE + "/null", 0o20666, os.makedev(1, 3))) != "",
        fails(lambda: open(os.environ["OSTRAKA_VOLUMES"] + "/ref/a.txt", "a")) != "", flags.f_blocks * flags.f_frsize]
`
	for _, level := range levelsHere() {
		t.Run(string(level), func(t *testing.T) {
			dir := volumeFolder(t, "one")
			x := newExecutor(t, at(level), func(c *Config) { c.Volumes = readOnly(dir) })
			b := pack(t, source, "[[volumes]]\nname = \"cache\"\nmode = \"rw\"\n[[volumes]]\nname = \"ref\"\n")
			for range 2 { // another container each time
				results := run(t, x, b, "1", "2")
				require.Equal(t, "ok", string(results[0].Status), "%+v", results[0].Exception)
				require.JSONEq(t, `[[],1,"EACCES",true,true,268435456]`, results[0].Output)
				require.JSONEq(t, `[["seen","tool"],2,"EACCES",true,true,268435456]`, results[1].Output)
			}
		})
	}
}
