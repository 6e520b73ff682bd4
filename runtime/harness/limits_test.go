//go:build linux

package harness

import (
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/runtime/bundle"
)

// tight are limits that tests can reach.
func tight(c *Config) {
	c.Manifest.Limits = bundle.Limits{
		CPUSeconds: 60, WallSeconds: 120, MemoryBytes: 128 << 20, OutputBytes: 100, StdoutBytes: 1000, StderrBytes: 500,
		DiskBytes: 100_000, Inodes: 10, Files: 3, ArtifactBytes: 1000, Pids: 4, OpenFiles: 32,
	}
}

// limited are programs that use a limit up, and programs that pass it.
var limited = []struct {
	name, source string
	status       Status
	says         string // part of the message
}{
	{"wall: past", "time.sleep(100)", StatusTimeout, "limits.wall_seconds"},
	{"wall: in a child that is waited for", "subprocess.run(['sleep', '100'])", StatusTimeout, "limits.wall_seconds"},

	{"cpu: past", "while True: pass", StatusCPULimit, "limits.cpu_seconds"},
	{"cpu: past, deaf to the warning", "signal.signal(signal.SIGXCPU, lambda *_: None)\nwhile True: pass", StatusCPULimit, "limits.cpu_seconds"},
	{"cpu: several together", "for _ in range(3):\n  if os.fork() == 0:\n    while True: pass\ntime.sleep(100)", StatusCPULimit, "limits.cpu_seconds"},
	{"cpu: of a child that was waited for", "for _ in range(2):\n  if os.fork() == 0:\n    end = time.process_time() + 0.7\n    while time.process_time() < end: pass\n    os._exit(0)\n  os.wait()\nresult = 1", StatusCPULimit, "limits.cpu_seconds"},

	{"memory: below", "result = len(bytearray(b'x' * 40_000_000))", StatusOK, ""},
	{"memory: past", "result = len(bytearray(b'x' * 140_000_000))", StatusMemory, ""},
	{"memory: past, and caught", "try: bytearray(10**9)\nexcept MemoryError: result = 1", StatusOK, ""},
	{"memory: several together", "for _ in range(3):\n  if os.fork() == 0:\n    x = bytearray(90_000_000); x[::4096] = b'x' * len(range(0, len(x), 4096)); time.sleep(100)\ntime.sleep(100)", StatusMemory, "together"},
	{"memory: said by the function only", "raise MemoryError('pretended')", StatusError, "pretended"},
	{"memory: said by the function only, as a cause", "raise ValueError('no') from MemoryError()", StatusError, "no"},
	{"memory: past, and raised again", "try: bytearray(10**9)\nexcept MemoryError: raise", StatusMemory, ""},
	{"memory: past, and wrapped", "try: bytearray(10**9)\nexcept MemoryError as e: raise ValueError('no') from e", StatusMemory, ""},
	{"memory: mapped", "import mmap\nm = mmap.mmap(-1, 2 << 30)", StatusMemory, ""},

	{"processes: as many as allowed", "for _ in range(3):\n  if os.fork() == 0:\n    time.sleep(0.6); os._exit(0)\nfor _ in range(3): os.wait()\nresult = 1", StatusOK, ""},
	{"processes: one more", "for _ in range(4):\n  if os.fork() == 0: time.sleep(100)\ntime.sleep(100)", StatusProcessLimit, "limits.pids"},
	{"processes: a refusal that is the function's own", "raise RuntimeError(\"can't start new thread\")", StatusError, ""},
	{"processes: a refusal of something else", "raise BlockingIOError(11, 'not now')", StatusError, ""},

	{"open files: as many as allowed", "files = []\ntry:\n  while True: files.append(open(os.devnull))\nexcept OSError: pass\nresult = len(files)", StatusOK, ""},
	{"open files: one more", "files = []\nwhile True: files.append(open(os.devnull))", StatusFileLimit, "Too many open files"},

	{"open files: said by the function only", "raise OSError(24, 'Too many open files')", StatusError, ""},

	{"output: at the limit", "result = 'x' * 98", StatusOK, ""},
	{"output: past", "result = 'x' * 99", StatusOutputLimit, "limits.output_bytes"},

	{"stdout: at the limit", "print('x' * 999); result = 1", StatusOK, ""},
	{"stdout: past", "print('x' * 1000); result = 1", StatusLogLimit, "limits.stdout_bytes"},
	{"stdout: without end", "while True: print('x')", StatusLogLimit, "limits.stdout_bytes"},
	{"stdout: of a child", "subprocess.run(['yes'])", StatusLogLimit, "limits.stdout_bytes"},
	{"stderr: at the limit", "os.write(2, b'x' * 500); result = 1", StatusOK, ""},
	{"stderr: past", "os.write(2, b'x' * 501); result = 1", StatusLogLimit, "limits.stderr_bytes"},

	{"disk: at the limit", "write('a', 60_000); write('b', 40_000); result = 1", StatusOK, ""},
	{"disk: past", "write('a', 60_000); write('b', 40_001); result = 1", StatusDiskLimit, "limits.disk_bytes"},
	{"disk: one file at the limit", "write('a', 100_000); result = 1", StatusOK, ""},
	{"disk: one file past", "write('a', 100_001); result = 1", StatusDiskLimit, ""},
	{"disk: one file past, and caught", "try: write('a', 100_001)\nexcept OSError: os.remove('a'); result = 1", StatusOK, ""},
	{"disk: the signal of the limit", "signal.signal(signal.SIGXFSZ, signal.SIG_DFL); write('a', 100_001)", StatusDiskLimit, "limits.disk_bytes"},
	{"disk: while it runs", "write('a', 60_000); write('b', 60_000); time.sleep(100)", StatusDiskLimit, "limits.disk_bytes"},
	{"disk: links are one file", "write('a', 60_000); os.link('a', 'b'); os.link('a', 'c'); result = 1", StatusOK, ""},
	{"disk: in a locked folder", "os.mkdir('d'); write('d/a', 60_000); write('d/b', 60_000); os.chmod('d', 0); result = 1", StatusDiskLimit, "limits.disk_bytes"},
	{"disk: one file past that is none", "raise OSError(27, 'File too large')", StatusError, ""},
	{"disk: full that is none", "raise OSError(28, 'No space left on device')", StatusError, ""},

	{"inodes: at the limit", "[write(str(i), 1) for i in range(9)]; os.mkdir('d'); result = 1", StatusOK, ""},
	{"inodes: past", "[write(str(i), 1) for i in range(9)]; os.makedirs('d/e'); result = 1", StatusInodeLimit, "limits.inodes"},
	{"inodes: while it runs", "[os.symlink('x', str(i)) for i in range(11)]; time.sleep(100)", StatusInodeLimit, "limits.inodes"},

	{"artifacts: as many as allowed", "[write(out + '/' + str(i), 1) for i in range(3)]; result = 1", StatusOK, ""},
	{"artifacts: one more", "[write(out + '/' + str(i), 1) for i in range(4)]; result = 1", StatusArtifactLimit, "limits.files"},
	{"artifacts: at the limit", "write(out + '/a', 1000); result = 1", StatusOK, ""},
	{"artifacts: past", "write(out + '/a', 500); write(out + '/b', 501); result = 1", StatusArtifactLimit, "limits.artifact_bytes"},
	{"artifacts: path at the limit", "os.mkdir(out + '/' + 'd' * 120); write(out + '/' + 'd' * 120 + '/' + 'f' * 119, 1); result = 1", StatusOK, ""},
	{"artifacts: path past", "os.mkdir(out + '/' + 'd' * 120); write(out + '/' + 'd' * 120 + '/' + 'f' * 120, 1); result = 1", StatusArtifactLimit, "241 bytes"},
}

const limitedHandler = `
import os, signal, subprocess, time
def write(name, size):
    with open(name, "wb") as f: f.write(b"x" * size)
def handler(source):
    scope = {"result": None, "out": os.environ["OSTRAKA_OUTPUT"], "write": write, **globals()}
    exec(source, scope)
    return scope["result"]
`

// TestLimitsAtThemAndPast runs all in one session: what breaks a limit costs its own shard only.
func TestLimitsAtThemAndPast(t *testing.T) {
	rigs := map[string]*rig{
		"wall": start(t, limitedHandler, func(c *Config) { tight(c); c.Manifest.Limits.WallSeconds = 2 }),
		"cpu":  start(t, limitedHandler, func(c *Config) { tight(c); c.Manifest.Limits.CPUSeconds = 1 }),
	}
	rest := start(t, limitedHandler, tight)
	for _, test := range limited {
		kind, _, _ := strings.Cut(test.name, ":")
		r := cmp.Or(rigs[kind], rest)
		r.kept = true
		t.Run(test.name, func(t *testing.T) {
			got := r.run(quote(test.source))
			require.Equal(t, test.status, got.Status, "%+v %s", got.Exception, got.StderrTail)
			if test.says != "" {
				require.Contains(t, got.Exception.Message, test.says)
			}
			require.Empty(t, children(t, r), "processes outlive the shard")
			require.Equal(t, `"fine"`, r.run(quote("result = 'fine'")).Output)
		})
	}
}

// TestDeepFolders: a chain of folders deeper than any path reaches is measured and ends.
func TestDeepFolders(t *testing.T) {
	r := start(t, limitedHandler, func(c *Config) { c.Manifest.Limits.Inodes = 100_000 })
	r.kept = true
	deep := "for _ in range(%): os.mkdir('d'); os.chdir('d')\nresult = 1"
	require.Equal(t, StatusOK, r.run(quote(strings.Replace(deep, "%", "256", 1))).Status)
	got := r.run(quote(strings.Replace(deep, "%", "3000", 1)))
	require.Equal(t, StatusInodeLimit, got.Status)
	require.Contains(t, got.Exception.Message, "nested deeper than 256")
}

func TestLimitsOfAnImport(t *testing.T) {
	for name, test := range map[string]struct {
		source string
		status Status
	}{
		"prints too much":      {"print('x' * 1001, flush=True)\nimport time; time.sleep(100)", StatusLogLimit},
		"too many open files":  {"import os\nf = []\nwhile True: f.append(open(os.devnull))", StatusFileLimit},
		"too many processes":   {"import os, time\nfor _ in range(5):\n  if os.fork() == 0: time.sleep(100)\ntime.sleep(100)", StatusProcessLimit},
		"too large a file":     {"f = open('a', 'wb')\nf.write(b'x' * 200_000)\nf.close()", StatusDiskLimit},
		"memory of its family": {"import os, time\nfor _ in range(3):\n  if os.fork() == 0:\n    x = bytearray(b'x' * 60_000_000); time.sleep(100)\ntime.sleep(100)", StatusMemory},
	} {
		t.Run(name, func(t *testing.T) {
			got := start(t, test.source+"\ndef handler(x): return x\n", tight).run("1")
			require.Equal(t, test.status, got.Status, "%+v", got.Exception)
		})
	}
}

// TestStatusOfQuotas: where the kernel keeps a workspace within limits, its refusals are the limit's status.
func TestStatusOfQuotas(t *testing.T) {
	raised := func(limit string, e ending) Status {
		data, err := json.Marshal(described{Exception: Exception{Type: "OSError"}, Limit: limit})
		require.NoError(t, err)
		e.limits, e.frame = bundle.DefaultLimits(), frame{kind: frameException, data: data}
		return decide(e).status
	}
	own, host := ending{quota: quota{own: true}}, ending{quota: quota{full: true}}
	require.Equal(t, StatusDiskLimit, raised(limitDisk, own))
	require.Equal(t, StatusInodeLimit, raised(limitInodes, own))
	require.Equal(t, StatusError, raised(limitDisk, host), "the machine's disk is no limit of the function")
	require.Equal(t, StatusError, raised(limitInodes, host))
	require.Equal(t, StatusError, raised(limitAgain, ending{}))
	require.Equal(t, StatusProcessLimit, raised(limitAgain, ending{refused: 1}), "the kernel counted a refusal")
	require.Equal(t, StatusMemory, raised("", ending{oomKills: 1}), "a child was killed for lack of memory")
	require.Equal(t, StatusError, raised("none of ours", ending{}))
}

// TestFailedImports: limits that end an import are named, whoever's signal it was.
func TestFailedImports(t *testing.T) {
	lost := message{Op: "lost", Signal: int(sigKILL)}
	status := func(m message, e ending) Status {
		e.limits = bundle.DefaultLimits()
		return importVerdict(m, true, &e).status
	}
	require.Equal(t, StatusKilled, status(lost, ending{}))
	require.Equal(t, StatusProcessLimit, status(lost, ending{refused: 1}))
	require.Equal(t, StatusProcessLimit, status(message{Op: "lost"}, ending{refused: 1}))
	require.Equal(t, StatusMemory, status(lost, ending{oomKills: 1}))
}

func TestQuotas(t *testing.T) {
	limits := bundle.DefaultLimits()
	require.False(t, quotas("/", limits).own, "the machine's disk is nobody's quota")
	require.Equal(t, quota{}, quotas("/no/such/folder", limits))
}

func TestMeasure(t *testing.T) {
	dir := t.TempDir()
	for _, sub := range []string{"home", "output"} {
		require.NoError(t, os.Mkdir(filepath.Join(dir, sub), 0o700))
	}
	limits := bundle.Limits{DiskBytes: 100, Inodes: 3}
	got, err := measure(dir, limits, true)
	require.NoError(t, err)
	require.Equal(t, space{}, got, "the harness's own folders do not count")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "home", "a"), make([]byte, 60), 0o600))
	require.NoError(t, os.Symlink("/etc", filepath.Join(dir, "output", "link")))
	require.NoError(t, os.Mkdir(filepath.Join(dir, "output", "locked"), 0))
	got, err = measure(dir, limits, true)
	require.NoError(t, err)
	require.Equal(t, int64(3), got.inodes)
	require.Equal(t, stopNone, got.over(limits))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "output", "locked", "b"), make([]byte, 41), 0o600))
	got, err = measure(dir, limits, true)
	require.NoError(t, err)
	require.Equal(t, stopInodes, got.over(limits))
	require.NoError(t, os.RemoveAll(filepath.Join(dir, "output", "locked")))
	for _, name := range []string{"b", "c"} {
		require.NoError(t, os.Link(filepath.Join(dir, "home", "a"), filepath.Join(dir, "home", name)))
	}
	got, err = measure(dir, bundle.DefaultLimits(), true)
	require.NoError(t, err)
	require.Equal(t, int64(60+len("/etc")), got.bytes, "a file's bytes count once")
	require.Equal(t, int64(4), got.inodes, "each of its names counts")
	require.Equal(t, stopInodes, got.over(limits))
	got, err = measure(filepath.Join(dir, "absent"), limits, true)
	require.NoError(t, err, "a function may move its own workspace away")
	require.Zero(t, got)
}
