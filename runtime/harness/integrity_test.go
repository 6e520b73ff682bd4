//go:build linux

package harness

import (
	"encoding/json"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestTheTemplateHoldsNothingOfAShard: code that runs at import, in threads and at every fork, never sees a descriptor of a shard. A file
// that is only read is none: where there are threads Python itself opens some for a moment at a fork, /proc/self/stat to count them and its
// own modules to warn of them.
func TestTheTemplateHoldsNothingOfAShard(t *testing.T) {
	for name, source := range map[string]string{
		"a thread": `
def look():
    while True: count()
threading.Thread(target=look, daemon=True).start()`,
		"what runs at forks": "os.register_at_fork(before=count, after_in_parent=count)",
	} {
		t.Run(name, func(t *testing.T) {
			r := start(t, `
import fcntl, mmap, os, stat, threading
seen, template = mmap.mmap(-1, 8), os.getpid()
def held():
    n = 0
    for fd in range(64):
        try:
            kind = os.fstat(fd).st_mode
            n += not (stat.S_ISREG(kind) or stat.S_ISDIR(kind)) or fcntl.fcntl(fd, fcntl.F_GETFL) & os.O_ACCMODE != os.O_RDONLY
        except OSError: pass
    return n
base = held()
def count():
    if os.getpid() == template:
        n = held()
        seen[0] = max(seen[0], n); seen[1] = min(255, seen[1] + 1)
`+source+`
def handler(x):
    while seen[1] < 5 and x: pass
    return [seen[0] - base, seen[1]]
`, nil)
			var last []int
			require.Equal(t, StatusOK, r.run("0").Status)
			for range 20 {
				require.Equal(t, StatusOK, r.run("0").Status)
			}
			require.NoError(t, json.Unmarshal([]byte(r.run("1").Output), &last))
			require.LessOrEqual(t, last[0], 0, "what it held at import, and no more")
			require.Positive(t, last[1], "it did look")
		})
	}
}

// TestPatchesOfTheStandardLibrary: functions replace parts of it, in good faith too.
func TestPatchesOfTheStandardLibrary(t *testing.T) {
	r := start(t, `
import gc, json, os, random, resource, signal, struct, sys, traceback
for module, names in ((json, "dumps loads JSONEncoder JSONDecoder"), (os, "write read fork close dup2 chdir getpid waitpid setsid environ"),
                      (struct, "pack unpack"), (random, "seed"), (resource, "setrlimit getrlimit"), (traceback, "print_exc")):
    for name in names.split():
        setattr(module, name, None)
sys.settrace(lambda *a: None)
signal.signal(signal.SIGTERM, signal.SIG_IGN)
gc.disable()
def handler(x): return x * 2
`, nil)
	for range 3 {
		got := r.run("21")
		require.Equal(t, StatusOK, got.Status, "%+v %s", got.Exception, got.StderrTail)
		require.Equal(t, "42", got.Output)
	}
}

// keeper is an import that keeps its process's channel to the zygote for its shards, which send on it what the source says.
const keeper = `
import ctypes, os, sys, time, _socket
` + findChannel + `
kept = channel.dup() if hasattr(channel, "dup") else _socket.socket(_socket.AF_UNIX, _socket.SOCK_SEQPACKET, 0, os.dup(channel.fileno()))
def claim():
    a, b = _socket.socketpair(_socket.AF_UNIX, _socket.SOCK_SEQPACKET)
    kept.sendmsg([b'{"op": "forked"}'], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, b.fileno().to_bytes(4, "little"))])
    return a
def handler(source):
    scope = {"result": 1, **globals()}
    exec(source, scope)
    return scope["result"]
`

// TestShardsCannotSpeakForOthers: what a shard says on a channel that it should not have ends the interpreter, and no other
// shard's result.
func TestShardsCannotSpeakForOthers(t *testing.T) {
	for name, source := range map[string]string{
		"a second import":       `kept.send(b'{"op": "imported"}'); time.sleep(100)`,
		"a failed import":       `kept.send(b'{"op": "imported", "exception": {"type": "X", "message": "y"}}'); time.sleep(100)`,
		"another shard":         `claim(); time.sleep(100)`,
		"the end of this shard": `kept.send(b'{"op": "done", "seq": 1, "exit_code": 0, "cpu_us": 0}'); time.sleep(100)`,
		"no message":            `kept.send(b'\xff{'); time.sleep(100)`,
		"a list":                `kept.send(b'[]'); time.sleep(100)`,
	} {
		t.Run(name, func(t *testing.T) {
			r := start(t, keeper, nil)
			require.Equal(t, "1", r.run(quote("pass")).Output)
			got := r.run(quote(source))
			require.Equal(t, StatusKilled, got.Status, "%+v", got.Exception)
			require.Equal(t, ExceptionHarness, got.Exception.Type)
			require.Equal(t, `"fine"`, r.run(quote("result = 'fine'")).Output)
		})
	}
}

// TestNoProcessOfAShardBecomesTheNext: what is left of a shard is gone before the next one is asked for.
func TestNoProcessOfAShardBecomesTheNext(t *testing.T) {
	r := start(t, keeper, nil)
	got := r.run(quote(`
if os.fork() == 0:
    if os.fork() == 0:
        os.setsid()
        while True:
            try: a = claim()
            except OSError: os._exit(0)
            a.recv(1 << 16)
    os._exit(0)
os.wait(); time.sleep(0.05)`))
	require.Contains(t, []Status{StatusKilled, StatusOK}, got.Status, "%+v", got.Exception)
	for i := range 3 {
		require.Equal(t, strconv.Itoa(i), r.run(quote("result = "+strconv.Itoa(i))).Output)
	}
}

// TestAStoppedTemplateGoesOn: a signal of one shard does not hold up the next.
func TestAStoppedTemplateGoesOn(t *testing.T) {
	r := start(t, hostile, nil)
	for range 2 {
		require.Equal(t, "1", r.run(quote("os.kill("+strconv.Itoa(r.s.z.template)+", signal.SIGSTOP); result = 1")).Output)
	}
}

// TestShardsHoldNothingOfTheHarness: a shard has its own pipes and nothing else.
func TestShardsHoldNothingOfTheHarness(t *testing.T) {
	r := start(t, hostile, nil)
	got := r.run(quote(`
import stat
result = []
for fd in range(3, 256):
    try: kind = stat.S_IFMT(os.fstat(fd).st_mode)
    except OSError: continue
    if kind != stat.S_IFCHR: result.append(kind)  # some versions of Python keep /dev/urandom`))
	require.Equal(t, "[4096]", got.Output, "a pipe for its result")
}

// TestAMeasurementIsTheKernels: a shard that lies about time changes nothing, nor does one that waits for what it started.
func TestAMeasurementIsTheKernels(t *testing.T) {
	r := start(t, hostile, nil)
	got := r.run(quote(`
end = time.process_time() + 0.3
while time.process_time() < end: pass
time.time = time.process_time = time.monotonic = lambda: 0
resource.getrusage = None
x = bytearray(b"x" * 50_000_000); result = 1`))
	require.Equal(t, StatusOK, got.Status)
	require.GreaterOrEqual(t, got.CPUMicros, int64(290_000))
	require.GreaterOrEqual(t, got.PeakRSSBytes, int64(50_000_000))
	require.GreaterOrEqual(t, got.WallMicros, int64(290_000))
}

// TestForkHandlersOfFunctionsAreCalled: Python's own are left out where they change nothing.
func TestForkHandlersOfFunctionsAreCalled(t *testing.T) {
	r := start(t, `
import logging, os, random, threading
calls = []
os.register_at_fork(after_in_child=lambda: calls.append("child"))
def handler(x): return calls
`, nil)
	require.Equal(t, `["child"]`, r.run("1").Output)
	plain := start(t, `
import os, threading, random, logging, concurrent.futures.thread
def handler(x):
    t = threading.Thread(target=logging.warning, args=("x",)); t.start(); t.join()
    r, w = os.pipe()
    if os.fork() == 0: os.write(w, b"x"); os._exit(0)
    os.wait()
    with concurrent.futures.ThreadPoolExecutor() as pool: return [os.read(r, 1).decode(), pool.submit(lambda: 5).result(), threading.get_native_id() == os.getpid()]
`, nil)
	got := plain.run("1")
	require.Equal(t, `["x",5,true]`, got.Output, "%+v", got.Exception)
	require.Contains(t, got.StderrTail, "WARNING")
}
