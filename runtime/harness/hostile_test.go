//go:build linux

package harness

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// hostile runs the source that it is given; the next shard must still work.
const hostile = `
import ctypes, json, os, resource, signal, subprocess, sys, threading, time
def handler(source):
    scope = {"result": None, **globals()}
    exec(source, scope)
    return scope["result"]
`

var attacks = []struct {
	name      string
	source    string
	status    Status
	exception string
	signal    string
}{
	{"raise", "raise ValueError('no')", StatusError, "ValueError", ""},
	{"raise with hostile str", "class E(Exception):\n  def __str__(self): raise OSError\nraise E", StatusError, "E", ""},
	{"raise keyboard interrupt", "raise KeyboardInterrupt", StatusError, "KeyboardInterrupt", ""},
	{"recursion", "def f(): f()\nf()", StatusError, "RecursionError", ""},
	{"exit", "sys.exit(0)", StatusError, "SystemExit", ""},
	{"exit without result", "os._exit(0)", StatusError, ExceptionNoResult, ""},
	{"exit code without result", "os._exit(7)", StatusError, ExceptionNoResult, ""},
	{"abort", "os.abort()", StatusKilled, ExceptionSignal, "SIGABRT"},
	{"segfault", "ctypes.string_at(8)", StatusKilled, ExceptionSignal, "SIGSEGV"},
	{"kill itself", "os.kill(os.getpid(), 9)", StatusKilled, ExceptionSignal, "SIGKILL"},
	{"kill its group", "os.killpg(0, 9)", StatusKilled, ExceptionSignal, "SIGKILL"},
	{"hang", "time.sleep(1000)", StatusTimeout, ExceptionLimit, "SIGKILL"},
	{"hang deaf to signals", "[signal.signal(s, signal.SIG_IGN) for s in (2, 15, 1)]; time.sleep(1000)", StatusTimeout, ExceptionLimit, "SIGKILL"},
	{"stop itself", "os.kill(os.getpid(), signal.SIGSTOP)", StatusTimeout, ExceptionLimit, "SIGKILL"},
	{"busy", "while True: pass", StatusCPULimit, ExceptionLimit, ""},
	{"busy deaf to SIGXCPU", "signal.signal(signal.SIGXCPU, signal.SIG_IGN)\nwhile True: pass", StatusCPULimit, ExceptionLimit, "SIGKILL"},
	{"memory", "result = len(bytearray(10**9))", StatusMemory, "MemoryError", ""},
	{"memory in small pieces", "x = []\nwhile True: x.append('a' * 10**6 + str(len(x)))", StatusMemory, "MemoryError", ""},
	{"memory of children together", "for _ in range(4):\n  if os.fork() == 0:\n    x = bytearray(b'x' * 100_000_000); time.sleep(1000)\ntime.sleep(1000)", StatusMemory, ExceptionLimit, "SIGKILL"},
	{"too many processes", "for _ in range(40):\n  if os.fork() == 0: time.sleep(1000)\ntime.sleep(1000)", StatusProcessLimit, ExceptionLimit, "SIGKILL"},
	{"huge result", "result = 'x' * 10_000_000", StatusOutputLimit, ExceptionLimit, ""},
	// One of them takes a second or so, a thousand a second on any machine: the output is not sent before it is whole.
	{"huge integers", "result = [1 << 20_000_000] * 1000", StatusCPULimit, ExceptionLimit, ""},
	{"prints megabytes", "print('x' * 5_000_000); os.write(2, b'y' * 5_000_000); result = 1", StatusLogLimit, ExceptionLimit, ""},
	{"closes everything", "os.closerange(0, 1000)", StatusError, ExceptionNoResult, ""},
	{"closes stdout", "sys.stdout.close(); os.close(2)", StatusOK, "", ""},
	{"garbage to every descriptor", "for fd in range(3, 300):\n  try: os.write(fd, b'garbage garbage')\n  except OSError: pass", StatusError, ExceptionProtocol, ""},
	{"a frame of its own, then the real one", forgedFrame, StatusError, ExceptionProtocol, ""},
	{"a frame of its own that is no JSON", forgedFrame + "os._exit(0)", StatusError, ExceptionOutput, ""},
	{"a frame that promises too much", "import struct\nfor fd in range(3, 300):\n  try: os.write(fd, b'O' + struct.pack('>Q', 1 << 63) + b'x')\n  except OSError: pass\ntime.sleep(1000)", StatusOutputLimit, ExceptionLimit, "SIGKILL"},
	{"half a frame", "for fd in range(3, 300):\n  try: os.write(fd, b'O\\0\\0\\0\\0\\0\\0\\0\\x09x')\n  except OSError: pass\nos._exit(0)", StatusError, ExceptionProtocol, ""},
	{"an exception that is no JSON", "for fd in range(3, 300):\n  try: os.write(fd, b'E\\0\\0\\0\\0\\0\\0\\0\\x01x')\n  except OSError: pass\nos._exit(0)", StatusError, ExceptionProtocol, ""},
	{"a forked child returns as well", "os.fork(); result = 1", StatusOK, "", ""},
	{"a thread that never ends", "threading.Thread(target=time.sleep, args=(1000,)).start(); result = 1", StatusOK, "", ""},
	{"monkey patches", "json.dumps = os.write = os._exit = None; result = 1", StatusOK, "", ""},
	{"limits are not raised", "resource.setrlimit(resource.RLIMIT_CORE, (1, 1)) if os.geteuid() else (_ for _ in ()).throw(ValueError())", StatusError, "ValueError", ""},
}

const forgedFrame = "for fd in range(3, 300):\n  try: os.write(fd, b'O\\0\\0\\0\\0\\0\\0\\0\\x02{x')\n  except OSError: pass\n"

// TestAttacks runs the attacks in the same session, with an honest shard after each. What is to end for another reason than a time gets
// enough of it, on a busy machine too, where touching memory costs many times as much processor time.
func TestAttacks(t *testing.T) {
	limited := func(wall, cpu int64) *rig {
		return start(t, hostile, func(c *Config) { c.Manifest.Limits.WallSeconds, c.Manifest.Limits.CPUSeconds = wall, cpu })
	}
	shortOf := map[Status]*rig{StatusTimeout: limited(6, 60), StatusCPULimit: limited(120, 1)}
	patient := limited(120, 60)
	for _, a := range attacks {
		r := cmp.Or(shortOf[a.status], patient)
		t.Run(a.name, func(t *testing.T) {
			got := r.run(quote(a.source))
			require.Equal(t, a.status, got.Status, "%+v %s", got.Exception, got.StderrTail)
			if a.exception != "" {
				require.NotNil(t, got.Exception)
				require.Equal(t, a.exception, got.Exception.Type, got.Exception.Message)
				require.Empty(t, got.Output)
			}
			if a.signal != "" {
				require.Equal(t, a.signal, got.Signal)
				require.Equal(t, -1, got.ExitCode)
			}
			require.Empty(t, children(t, r), "processes outlive the shard")
			require.Equal(t, `"fine"`, r.run(quote("result = 'fine'")).Output)
		})
	}
}

func quote(source string) string {
	b, err := json.Marshal(source)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// children lists what runs below the zygote beside the template.
func children(t *testing.T, r *rig) []proc {
	t.Helper()
	var left []proc
	spare := waiting(t, r)
	table, err := processes()
	require.NoError(t, err)
	for _, p := range table {
		if p.parent == r.s.z.cmd.Process.Pid && p.pid != r.s.z.template && p.pid != spare {
			left = append(left, p)
		}
	}
	return left
}

// waiting is the process that waits for the next shard.
func waiting(t *testing.T, r *rig) int {
	t.Helper()
	m, ok := <-r.s.z.messages
	require.True(t, ok)
	require.Equal(t, "next", m.Op)
	r.s.z.messages <- m // it is of the next shard
	return m.PID
}

// escapes start processes that try to outlive their shard. Each prints the
// numbers of what it started.
var escapes = map[string]string{
	"fork":             "pid = os.fork()\nif pid == 0: time.sleep(1000)\nresult = [pid]",
	"another group":    "pid = os.fork()\nif pid == 0:\n  os.setpgid(0, 0); time.sleep(1000)\nresult = [pid]",
	"deaf and stopped": "pid = os.fork()\nif pid == 0:\n  signal.signal(15, signal.SIG_IGN); os.kill(os.getpid(), signal.SIGSTOP)\nresult = [pid]",
	"double fork": `
r, w = os.pipe()
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.setsid(); os.write(w, str(os.getpid()).encode()); os.close(w); time.sleep(1000)
    os._exit(0)
os.close(w); result = [int(os.read(r, 100))]`,
	"daemon chain of another program": `
p = subprocess.run(["/bin/sh", "-c", "(setsid sleep 1000 >/dev/null 2>&1 & echo $!)"], capture_output=True, text=True)
result = [int(p.stdout)]`,
	"sibling of the shard": "pid = ctypes.CDLL(None).syscall({'x86_64': 56, 'aarch64': 220}[os.uname().machine], 0x8000 | 17, 0, 0, 0, 0)\nif pid == 0: time.sleep(1000)\nresult = [pid]",
	"deaf to every signal": "pid = os.fork()\nif pid == 0:\n  os.setsid(); [signal.signal(s, signal.SIG_IGN) for s in range(1, 32) if s not in (9, 19)]; time.sleep(1000)\nresult = [pid]",
	"holds the pipes":      "pid = os.fork()\nif pid == 0:\n  os.setsid(); time.sleep(1000)  # 1, 2 and the result stay open\nresult = [pid]",
	"a crowd":              "result = []\nfor _ in range(20):\n  pid = os.fork()\n  if pid == 0:\n    os.setsid(); time.sleep(1000)\n  result.append(pid)",
	"own subreaper": `
ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)
r, w = os.pipe()
if os.fork() == 0:
    if os.fork() == 0:
        os.setsid(); os.write(w, str(os.getpid()).encode()); os.close(w); time.sleep(1000)
    os._exit(0)
os.close(w); result = [int(os.read(r, 100))]`,
}

func TestNothingOutlivesItsShard(t *testing.T) {
	t.Run("the kernel lists children", func(t *testing.T) { nothingOutlivesItsShard(t, nil) })
	t.Run("it does not", func(t *testing.T) { nothingOutlivesItsShard(t, func(c *Config) { c.withoutChildren = true }) })
}

func nothingOutlivesItsShard(t *testing.T, change func(*Config)) {
	t.Helper()
	r := start(t, hostile, change)
	for name, source := range escapes {
		t.Run(name, func(t *testing.T) {
			got := r.run(quote(source))
			require.Equal(t, StatusOK, got.Status, "%+v", got.Exception)
			var pids []int
			require.NoError(t, json.Unmarshal([]byte(got.Output), &pids))
			require.NotEmpty(t, pids)
			for _, pid := range pids {
				require.False(t, lives(pid), "process %d outlives its shard", pid)
			}
		})
	}
}

// lives reports whether a process runs; a zombie does not.
func lives(pid int) bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return false
	}
	return !strings.Contains(string(stat), ") Z ")
}

// TestKillersOfTheirParents: at this level nothing keeps user code from killing
// what serves it, so the shard is reported and the session starts again.
func TestKillersOfTheirParents(t *testing.T) {
	r := start(t, hostile, func(c *Config) { c.Manifest.Limits.WallSeconds = 2 })
	r.run("\"\"")
	for name, source := range map[string]string{
		"kill the zygote":   "os.kill(os.getppid(), 9); time.sleep(1000)",
		"kill the template": "pid = int(sys.argv[0] or 0) if 0 else TEMPLATE; os.kill(pid, 9); time.sleep(1000)",
		"escape, then kill the zygote": `
if os.fork() == 0:
    os.setsid(); ctypes.CDLL(None).prctl(1, 0, 0, 0, 0)
    if os.fork() == 0: time.sleep(1000)
    os._exit(0)
os.kill(os.getppid(), 9); time.sleep(1000)`,
	} {
		t.Run(name, func(t *testing.T) {
			r.run("\"\"")
			mark := r.s.z.mark
			got := r.run(quote(strings.ReplaceAll(source, "TEMPLATE", strconv.Itoa(r.s.z.template))))
			require.Equal(t, StatusKilled, got.Status, "%+v", got.Exception)
			require.Equal(t, ExceptionHarness, got.Exception.Type)
			pids, err := marked([]byte(markName + "=" + mark))
			require.NoError(t, err)
			require.Empty(t, pids)
			require.Equal(t, `"fine"`, r.run(quote("result = 'fine'")).Output)
		})
	}
}

// TestStoppedZygote: a zygote that cannot answer is killed from outside.
func TestStoppedZygote(t *testing.T) {
	r := start(t, hostile, func(c *Config) { c.Manifest.Limits.WallSeconds = 1 })
	got := r.run(quote("os.kill(os.getppid(), signal.SIGSTOP); time.sleep(1000)"))
	require.Equal(t, StatusTimeout, got.Status, "%+v", got.Exception)
	require.Equal(t, `"fine"`, r.run(quote("result = 'fine'")).Output)
}

func TestImportsThatFail(t *testing.T) {
	tests := []struct {
		name, source string
		status       Status
		exception    string
	}{
		{"raises", "raise ValueError('bad import')", StatusError, "ValueError"},
		{"syntax", "def handler(x) return x", StatusError, "SyntaxError"},
		{"absent module", "import no_such_module", StatusError, "ModuleNotFoundError"},
		{"no handler", "x = 1", StatusError, "AttributeError"},
		{"handler that is no function", "handler = 1", StatusError, "AttributeError"},
		{"exits", "import sys; sys.exit(0)", StatusError, "SystemExit"},
		{"leaves", "import os; os._exit(0)", StatusError, ExceptionImport},
		{"crashes", "import os; os.abort()", StatusKilled, ExceptionImport},
		{"hangs", "import time; time.sleep(1000)", StatusTimeout, ExceptionImport},
		{"eats memory", "x = bytearray(10**9)", StatusMemory, "MemoryError"},
		{"kills the zygote", "import os; os.kill(os.getppid(), 9); import time; time.sleep(1000)", StatusKilled, ExceptionHarness},
		{"forks and leaves", "import os, time\nif os.fork() == 0: time.sleep(1000)\nos._exit(0)", StatusError, ExceptionImport},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := start(t, test.source, func(c *Config) { c.Manifest.Limits.WallSeconds = 1 })
			for range 2 {
				got := r.run("1")
				require.Equal(t, test.status, got.Status, "%+v", got.Exception)
				require.Equal(t, test.exception, got.Exception.Type, got.Exception.Message)
				require.Empty(t, got.Output)
			}
		})
	}
}

// TestImportThatWritesToEveryDescriptor breaks the conversation between the template and the zygote. Which of the two notices first, and
// so whether the import was killed or left, is chance; that nothing comes of it is not.
func TestImportThatWritesToEveryDescriptor(t *testing.T) {
	source := "import os\nfor fd in range(3, 300):\n  try: os.write(fd, b'{}')\n  except OSError: pass"
	r := start(t, source, func(c *Config) { c.Manifest.Limits.WallSeconds = 1 })
	for range 2 {
		got := r.run("1")
		require.Contains(t, []Status{StatusKilled, StatusError}, got.Status, "%+v", got.Exception)
		require.Equal(t, ExceptionImport, got.Exception.Type, got.Exception.Message)
		require.Empty(t, got.Output)
	}
}

// findChannel finds the template's socket to the zygote: an import can read all memory of its process.
const findChannel = `
frame = sys._getframe()
while not hasattr(frame.f_locals.get("self"), "sock"): frame = frame.f_back
channel = frame.f_locals["self"].sock
`

// TestImportCannotForge: code that runs at import owns the template. It can
// choose its own results, but neither measurements nor processes.
func TestImportCannotForge(t *testing.T) {
	t.Run("a process that is none of the zygote's", func(t *testing.T) {
		// The number of who writes comes from the kernel: a grandchild, and the template itself, are refused.
		for _, who := range []string{"0", "os.fork()"} {
			r := start(t, `
import os, sys, _socket
`+findChannel+`
lied = False
def lie():
    global lied
    if not lied:
        lied = True
        if `+who+` == 0:
            a, b = _socket.socketpair(_socket.AF_UNIX, _socket.SOCK_SEQPACKET)
            channel.sendmsg([b'{"op": "forked"}'], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, b.fileno().to_bytes(4, "little"))])
os.register_at_fork(before=lie)
def handler(x): return x
`, nil)
			// The lie and the truth race: the shard is killed, or has its own result.
			for range 3 {
				got := r.run("1")
				if got.Status != StatusOK {
					require.Equal(t, StatusKilled, got.Status, "%+v", got.Exception)
					require.Equal(t, ExceptionHarness, got.Exception.Type)
				} else {
					require.Equal(t, "1", got.Output)
				}
			}
		}
	})
	t.Run("work done elsewhere is counted", func(t *testing.T) {
		r := start(t, `
import os, time
def handler(x):
    if os.fork() == 0:
        if os.fork() == 0:
            os.setsid(); end = time.process_time() + 0.5
            while time.process_time() < end: pass
            open("done", "w").close()
        os._exit(0)
    while not os.path.exists("done"): time.sleep(0.01)
    return 1
`, nil)
		got := r.run("1")
		require.Equal(t, StatusOK, got.Status)
		require.GreaterOrEqual(t, got.CPUMicros, int64(450_000))
	})
}

func TestTracebackNamesOnlyTheFunction(t *testing.T) {
	r := start(t, "def handler(x):\n    return 1 / x\n", nil)
	got := r.run("0").Exception
	require.Equal(t, "division by zero", got.Message)
	require.Contains(t, got.Traceback, `File "main.py", line 2, in handler`)
	require.Equal(t, 1, strings.Count(got.Traceback, "File "))
}

func TestExceptionTextIsBounded(t *testing.T) {
	r := start(t, "def handler(x):\n  raise ValueError('\\0é' * 100000)\n", nil)
	got := r.run("0").Exception
	require.LessOrEqual(t, len(got.Message), MaxExceptionMessageBytes)
	require.LessOrEqual(t, len(got.Traceback), MaxTracebackBytes)
	require.NotContains(t, got.Message, "\x00")
}

// TestCloseLeavesNothing closes a session whose import left processes behind.
func TestCloseLeavesNothing(t *testing.T) {
	r := start(t, `
import os, time
for _ in range(3):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0: time.sleep(1000)
        os._exit(0)
    os.wait()
def handler(x): return x
`, nil)
	require.Equal(t, "1", r.run("1").Output)
	zygote, mark := r.s.z.cmd.Process.Pid, r.s.z.mark
	require.NoError(t, r.s.Close())
	require.False(t, lives(zygote))
	pids, err := marked([]byte(markName + "=" + mark))
	require.NoError(t, err)
	require.Empty(t, pids)
}

const helperVariable = "HARNESS_TEST_HELPER"

// TestHelper is the process that TestDeathOfTheParent kills.
func TestHelper(t *testing.T) {
	dir := os.Getenv(helperVariable)
	if dir == "" {
		return // it is no test of its own
	}
	r := start(t, hostile, func(c *Config) { c.Manifest.Limits.WallSeconds = 600 })
	known := fmt.Sprintln(r.s.z.mark, r.s.z.cmd.Process.Pid, r.s.z.template)
	require.NoError(t, os.WriteFile(dir+"/known", []byte(known), 0o600))
	_, err := r.s.Run(context.Background(), r.shard(quote(`
for _ in range(3):
    if os.fork() == 0:
        os.setsid(); signal.signal(15, signal.SIG_IGN)
        if os.fork() == 0: time.sleep(1000)
        os._exit(0)
open("`+dir+`/ready", "w").close()
time.sleep(1000)`)))
	require.NoError(t, err)
}

// TestDeathOfTheParent kills the Go process with SIGKILL in the middle of a
// shard: every process of the session must go with it.
func TestDeathOfTheParent(t *testing.T) {
	dir := t.TempDir()
	exe, err := os.Executable()
	require.NoError(t, err)
	helper, err := os.StartProcess(exe, []string{exe, "-test.run=^TestHelper$"}, &os.ProcAttr{
		Env: append(os.Environ(), helperVariable+"="+dir, "TMPDIR="+dir),
	})
	require.NoError(t, err)
	t.Cleanup(func() { _ = helper.Kill() }) // where the test has failed
	require.Eventually(t, func() bool {
		_, err := os.Stat(dir + "/ready")
		return err == nil
	}, time.Minute, 10*time.Millisecond)
	known, err := os.ReadFile(dir + "/known")
	require.NoError(t, err)
	var mark string
	var zygote, template int
	_, err = fmt.Sscan(string(known), &mark, &zygote, &template)
	require.NoError(t, err)
	want := []byte(markName + "=" + mark)
	// Zygote and template hide their environment from all but root, so what
	// must show are the shard and three daemons.
	require.Eventually(t, func() bool {
		before, err := marked(want)
		return err == nil && len(before) >= 4 && lives(zygote) && lives(template)
	}, time.Minute, 10*time.Millisecond)
	require.NoError(t, helper.Signal(syscall.SIGKILL))
	_, err = helper.Wait()
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		left, err := marked(want)
		return err == nil && len(left) == 0 && !lives(zygote) && !lives(template)
	}, time.Minute, 10*time.Millisecond)
}
