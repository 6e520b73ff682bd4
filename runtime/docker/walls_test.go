//go:build linux

package docker

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/docker/docker/api/types/container"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/runtime/bundle"
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
        "bundle of another": sorted({fails(lambda: f(p)) for p in (__file__, "/bundle") for f in (lambda p: os.chmod(p, 0o777), lambda p: os.utime(p), lambda p: os.chown(p, os.getuid(), -1), lambda p: os.setxattr(p, "user.x", b"x"))}),
        "bundle's owner": os.stat(__file__).st_uid == os.getuid(), "bundle's modes": [oct(os.stat(p).st_mode & 0o7777) for p in ("/bundle", __file__)],
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
		"bundle of another": []any{"EACCES", "ENOTSUP", "EPERM"}, "bundle's owner": false, "bundle's modes": []any{"0o755", "0o444"},
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

// TestContainerConfiguration asks the daemon, of a container that waits, for every line of the table in docs/SANDBOX_DISTRIBUTED.md.
func TestContainerConfiguration(t *testing.T) {
	x := newExecutor(t, func(c *Config) { c.Warm = 1 })
	p, err := x.ready(t.Context())
	require.NoError(t, err)
	b, _, err := p.take(t.Context(), defaultShape(), batchOf(pack(t, "def handler(x): return x\n", "")), false)
	require.NoError(t, err)
	defer p.discard(b)
	got, err := x.client.ContainerInspect(t.Context(), b.id)
	require.NoError(t, err)
	h, number := got.HostConfig, 0
	_, err = fmt.Sscanf(got.Config.User, "%d:", &number)
	require.NoError(t, err)
	u := user(number)
	require.Equal(t, u.String(), got.Config.User)
	require.GreaterOrEqual(t, number, firstRemapped, "a user that nobody else has")

	for name, same := range map[string][2]any{
		"no network":            {"none", string(h.NetworkMode)},
		"no IPC":                {"none", string(h.IpcMode)},
		"cgroups of its own":    {"private", string(h.CgroupnsMode)},
		"processes of its own":  {"", string(h.PidMode)},
		"host name of its own":  {"", string(h.UTSMode)},
		"no users of the host":  {"", string(h.UsernsMode)},
		"nothing is logged":     {"none", h.LogConfig.Type},
		"it is not restarted":   {container.RestartPolicyDisabled, h.RestartPolicy.Name},
		"read-only root":        {true, h.ReadonlyRootfs},
		"not privileged":        {false, h.Privileged},
		"no capability":         {[]string{"ALL"}, []string(h.CapDrop)},
		"walls":                 {[]string{"no-new-privileges", "seccomp=" + seccompProfile}, h.SecurityOpt},
		"no swap":               {h.Memory, h.MemorySwap},
		"memory":                {defaultShape().memory, h.Memory},
		"processors":            {int64(oneProcessor), h.NanoCPUs},
		"processes":             {bundle.DefaultLimits().Pids + linux.ContainerTasks, *h.PidsLimit},
		"no other process 1":    {false, *h.Init},
		"the kernel may end it": {false, *h.OomKillDisable},
		"before the server":     {preferredVictim, h.OomScoreAdj},
		"image":                 {x.Describe().Image, got.Image},
		"nothing is published":  {false, h.PublishAllPorts},
		"no terminal":           {false, got.Config.Tty},
		"stdin ends with us":    {true, got.Config.StdinOnce},
		"supervisor":            {[]string{supervisorPath}, []string(got.Config.Entrypoint)},
	} {
		require.Equal(t, same[0], same[1], name)
	}
	for name, none := range map[string]any{
		"environment": got.Config.Env, "volumes": got.Config.Volumes, "binds": h.Binds, "mounts": h.Mounts, "volumes of others": h.VolumesFrom, "devices": h.Devices,
		"device requests": h.DeviceRequests, "device rules": h.DeviceCgroupRules, "capabilities": h.CapAdd, "groups": h.GroupAdd, "links": h.Links, "hosts": h.ExtraHosts,
		"DNS": h.DNS, "ports": h.PortBindings, "exposed ports": got.Config.ExposedPorts, "kernel settings": h.Sysctls, "mount points": got.Mounts,
	} {
		require.Empty(t, none, name)
	}
	require.Subset(t, h.MaskedPaths, []string{"/proc/kcore", "/proc/keys", "/sys/firmware", "/sys/kernel"})
	require.Subset(t, h.ReadonlyPaths, []string{"/proc/sys", "/proc/sysrq-trigger"})
	limits := map[string]int64{}
	for _, l := range h.Ulimits {
		require.Equal(t, l.Soft, l.Hard, l.Name)
		limits[l.Name] = l.Hard
	}
	for _, name := range []string{"core", "memlock", "msgqueue", "nice", "rtprio"} {
		require.Zero(t, limits[name], name)
	}
	require.Equal(t, bundle.MaxLimits().OpenFiles, limits["nofile"])
	require.Equal(t, *h.PidsLimit+spareTasks, limits["nproc"])
	require.Equal(t, defaultShape().workspace, limits["fsize"])
	requireTmpfs(t, h.Tmpfs, u)
}

// requireTmpfs finds every place that can be written limited, without programs and devices, and the bundle another user's.
func requireTmpfs(t *testing.T, mounts map[string]string, u user) {
	t.Helper()
	require.Len(t, mounts, 5)
	for at, options := range mounts {
		mode, owner := "mode=0700", u
		if at == linux.ContainerMounts(bundle.Manifest{}).Bundle {
			mode, owner = "mode=0755", u.writer()
		}
		for _, o := range []string{"noexec", "nosuid", "nodev", "size=", "nr_inodes=", mode, fmt.Sprintf("uid=%d", owner)} {
			require.Contains(t, options, o, at)
		}
	}
}

// TestTheInterpreterWaits finds Python running in a container that has no batch yet, and the same interpreter serving it.
func TestTheInterpreterWaits(t *testing.T) {
	x := newExecutor(t, func(c *Config) { c.Warm = 1 })
	p, err := x.ready(t.Context())
	require.NoError(t, err)
	tells := pack(t, "import os\ndef handler(x):\n    return [os.environ['PYTHONHASHSEED'], hash('a')]\n", "")
	interpreters := func(b *box) (pids []string) {
		top, err := x.client.ContainerTop(t.Context(), b.id, []string{"-eo", "pid,args"})
		require.NoError(t, err)
		for _, row := range top.Processes {
			if strings.HasPrefix(row[len(row)-1], linux.ContainerPython+"/") {
				pids = append(pids, row[0])
			}
		}
		return pids
	}
	var answers []string
	for _, seed := range []uint32{0, 1, 0} {
		b, _, err := p.take(t.Context(), defaultShape(), batchOf(tells), false)
		require.NoError(t, err)
		require.Len(t, interpreters(b), 1, "of a container that waits")
		batch := batchOf(tells, "0")
		batch.HashSeed = seed
		results, err := b.run(t.Context(), batch)
		require.NoError(t, err)
		answers = append(answers, results[0].Output)
		p.discard(b)
	}
	require.Equal(t, answers[0], answers[2], "the same hashes")
	require.Contains(t, answers[0], `"0"`)
	require.Contains(t, answers[1], `"1"`, "another hash seed gets another interpreter")
	require.NotEqual(t, answers[0], answers[1])
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
