//go:build linux

package docker

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/docker/docker/api/types/container"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/runtime/linux"
)

// probe reports from inside what a function is held by.
const probe = `import ctypes, errno, os, resource, socket, sys
LIBC = ctypes.CDLL(None, use_errno=True)

def fails(what):
    try:
        what()
    except OSError as error:
        return errno.errorcode[error.errno]
    return ""

def call(*arguments):
    ctypes.set_errno(0)
    if LIBC.syscall(*arguments) < 0:
        raise OSError(ctypes.get_errno(), "")

def handler(x):
    header, data = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
    LIBC.capget(header, data)
    space, shm = os.statvfs("/work"), os.statvfs("/dev/shm")
    return {
        "network": fails(lambda: socket.socket()), "vsock": fails(lambda: socket.socket(40, socket.SOCK_STREAM)), "io_uring": fails(lambda: call(425, 1, 0)),
        "root read-only": fails(lambda: open("/x", "w")), "python read-only": fails(lambda: open(os.__file__, "a")), "bundle read-only": fails(lambda: open(__file__, "a")),
        "capabilities": any(data), "no new privileges": LIBC.prctl(39, 0, 0, 0, 0), "seccomp": LIBC.prctl(21, 0, 0, 0, 0),
        "user": os.getuid() >= 60000, "groups": os.getgroups() == [os.getgid()] or os.getgroups() == [],
        "workspace": space.f_blocks * space.f_frsize, "inodes": space.f_files, "mounts": [bool(s.f_flag & f) for s in (space, shm) for f in (os.ST_NOEXEC, os.ST_NOSUID, os.ST_NODEV)],
        "host": sorted(fails(lambda: os.listdir(p)) for p in ("/", "/proc", "/sys", "/etc", "/dev")), "hostname": os.uname().nodename,
        "core": resource.getrlimit(resource.RLIMIT_CORE), "files": resource.getrlimit(resource.RLIMIT_NOFILE)[1],
        "variables": sorted(k for k in os.environ if not k.startswith("OSTRAKA_")), "shell": [p for p in ("/bin/sh", "/bin/busybox", "/usr/bin/env") if os.path.exists(p)],
        "ipc": fails(lambda: call(29, 0, 4096, 0o1600)), "parent": os.getppid() > 1, "supervisor": fails(lambda: os.kill(1, 0)),
    }
`

// TestWalls asks from inside for every line of the table in docs/SANDBOX_DISTRIBUTED.md.
func TestWalls(t *testing.T) {
	x := newExecutor(t)
	r := run(t, x, pack(t, probe, "[limits]\ndisk_bytes = \"4Mi\"\ninodes = 100\nopen_files = 64\n"), "0")[0]
	require.Equal(t, "ok", string(r.Status), "%+v", r.Exception)
	var got map[string]any
	require.NoError(t, json.Unmarshal([]byte(r.Output), &got))
	for name, want := range map[string]any{
		"network": "EPERM", "vsock": "EPERM", "io_uring": "EPERM", "ipc": "ENOSYS", "root read-only": "EROFS", "python read-only": "EACCES", "bundle read-only": "EACCES",
		"capabilities": false, "no new privileges": 1.0, "seccomp": 2.0, "user": true, "groups": true, "workspace": float64(4 << 20), "inodes": 106.0,
		"mounts": []any{true, true, true, true, true, true}, "host": []any{"EACCES", "EACCES", "EACCES", "EACCES", "EACCES"}, "hostname": "sandbox",
		"core": []any{0.0, 0.0}, "files": 64.0, "shell": []any{}, "parent": true, "supervisor": "EPERM",
	} {
		require.Equal(t, want, got[name], name)
	}
	for _, v := range got["variables"].([]any) {
		require.Contains(t, []string{"HOME", "LC_ALL", "LD_BIND_NOW", "PATH", "PYTHONDONTWRITEBYTECODE", "PYTHONHASHSEED", "PYTHONNOUSERSITE", "PYTHONSAFEPATH", "PYTHONUTF8", "TMPDIR", "TZ"}, v)
	}
}

// TestContainerConfiguration holds what the daemon says of a container to the same table.
func TestContainerConfiguration(t *testing.T) {
	x := newExecutor(t, func(c *Config) { c.Warm = 1 })
	p, err := x.ready(t.Context())
	require.NoError(t, err)
	b, _, err := p.take(t.Context(), defaultShape())
	require.NoError(t, err)
	defer p.discard(b)
	got, err := x.client.ContainerInspect(t.Context(), b.id)
	require.NoError(t, err)
	h := got.HostConfig
	require.Equal(t, "none", string(h.NetworkMode))
	require.Equal(t, "none", string(h.IpcMode))
	require.Equal(t, "private", string(h.CgroupnsMode))
	require.Equal(t, "none", h.LogConfig.Type)
	require.True(t, h.ReadonlyRootfs)
	require.False(t, h.Privileged)
	require.Equal(t, []string{"ALL"}, []string(h.CapDrop))
	require.Empty(t, h.CapAdd)
	require.Contains(t, h.SecurityOpt, "no-new-privileges")
	require.Empty(t, h.Binds)
	require.Empty(t, h.Devices)
	require.Empty(t, got.Config.Volumes)
	require.Equal(t, h.Memory, h.MemorySwap)
	require.Positive(t, h.Memory)
	require.Positive(t, h.NanoCPUs)
	require.Equal(t, int64(32+linux.ContainerTasks), *h.PidsLimit)
	require.False(t, *h.Init)
	for at, options := range h.Tmpfs {
		for _, o := range []string{"noexec", "nosuid", "nodev", "size=", "nr_inodes=", "mode=0700"} {
			require.Contains(t, options, o, at)
		}
	}
	require.Equal(t, container.RestartPolicyDisabled, h.RestartPolicy.Name)
	require.NotContains(t, strings.Join(got.Config.Env, " "), "OSTRAKA")
	require.NotEqual(t, "0", strings.Split(got.Config.User, ":")[0])
}

// TestImageHoldsNothingElse looks at all that the image is made of.
func TestImageHoldsNothingElse(t *testing.T) {
	interpreter, err := tree()
	require.NoError(t, err)
	program, err := os.Executable()
	require.NoError(t, err)
	all, err := parts(interpreter, program)
	require.NoError(t, err)
	first, err := build(all)
	require.NoError(t, err)
	second, err := build(all)
	require.NoError(t, err)
	require.Equal(t, first.digest, second.digest)
	for _, p := range all {
		switch {
		case p.mode.IsDir(), strings.HasPrefix(p.path, linux.ContainerPython+"/"), p.path == treeFile, p.path == supervisorPath, p.path == "/tmp":
		default:
			require.Regexp(t, `^/(usr/)?lib(64)?/.*\.so`, p.path)
		}
		require.Zero(t, p.mode&0o6022, "%s is setuid, or others may write it", p.path)
	}
	// Another program, another image.
	small := withFolders(append([]part{}, all[:3]...))
	other, err := build(sorted(small))
	require.NoError(t, err)
	require.NotEqual(t, first.digest, other.digest)
}
