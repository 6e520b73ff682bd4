//go:build linux

package docker

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/docker/docker/api/types/container"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/runtime/bundle"
	"github.com/ostraka/ostraka/runtime/harness"
	"github.com/ostraka/ostraka/runtime/inputdir/inputdirtest"
	"github.com/ostraka/ostraka/runtime/inputfile"
	"github.com/ostraka/ostraka/runtime/recheck"
	"github.com/ostraka/ostraka/testenv"
)

func TestBatch(t *testing.T) {
	x := newExecutor(t, func(c *Config) { c.Warm = 1 })
	require.NoError(t, x.Health(t.Context()))
	require.NotEmpty(t, x.Describe().Image)
	require.Equal(t, "container", string(x.Describe().Level))
	double := pack(t, "def handler(x):\n    print(x)\n    return x * 2\n", "")
	for range 3 {
		for i, r := range run(t, x, double, repeated(40)...) {
			require.Equal(t, harness.StatusOK, r.Status)
			require.Equal(t, strconv.Itoa(2*i), r.Output)
			require.Equal(t, int64(i), r.Shard)
			require.Equal(t, x.Describe().Interpreter, r.Interpreter)
			require.Equal(t, strconv.Itoa(i)+"\n", r.StdoutTail)
		}
	}
}

// One shard that ends badly, in whatever way, harms no other.
func TestOneShardBreaksOnlyItself(t *testing.T) {
	x := newExecutor(t)
	source := `import os, time
def handler(how):
    if how == "raise": raise ValueError("no")
    if how == "exit": os._exit(3)
    if how == "memory": return len(bytearray(1 << 30))
    if how == "children":
        for _ in range(8):
            if os.fork() == 0:
                x = bytearray(60 << 20); x[::4096] = b"x" * len(range(0, len(x), 4096)); time.sleep(1000)
        time.sleep(1000)
    if how == "time": time.sleep(1000)
    if how == "cpu":
        while True: pass
    if how == "abort": os.abort()
    if how == "fill":
        with open("f", "wb") as f: f.write(b"x" * (8 << 20))
    if how == "output": return "x" * 2000000
    if how == "lock":
        os.chmod("/work", 0); os.chmod("/dev/shm", 0)
    return "fine"
`
	const limits = "[limits]\nmemory_bytes = \"128Mi\"\ndisk_bytes = \"4Mi\"\npids = 16\n"
	want := []struct{ how, status string }{
		{"raise", "error"},
		{"exit", "error"},
		{"memory", "memory"},
		{"children", "memory"},
		{"abort", "killed"},
		{"fill", "disk_limit"},
		{"output", "output_limit"},
		{"lock", "ok"},
	}
	var inputs []string
	for _, w := range want {
		inputs = append(inputs, strconv.Quote(w.how), `"honest"`)
	}
	// What is to end for another reason gets time enough on a busy machine, where pages for children alone take a second of processor.
	results := run(t, x, pack(t, source, limits+"cpu_seconds = 60\nwall_seconds = 120\n"), inputs...)
	for i, w := range want {
		require.Equal(t, w.status, string(results[2*i].Status), "%s: %+v", w.how, results[2*i].Exception)
		require.Equal(t, `"fine"`, results[2*i+1].Output, "after %s: %+v", w.how, results[2*i+1].Exception)
	}
	for _, w := range []struct{ how, limits, status string }{
		{`"cpu"`, "cpu_seconds = 1\nwall_seconds = 120\n", "cpu_limit"},
		{`"time"`, "cpu_seconds = 60\nwall_seconds = 2\n", "timeout"},
	} {
		results = run(t, x, pack(t, source, limits+w.limits), w.how, `"honest"`)
		require.Equal(t, []string{w.status, "ok"}, []string{string(results[0].Status), string(results[1].Status)}, w.how)
	}
}

// What the container allows is what the agents' level allows, and never more; fewer where the supervisor has started threads since it counted
// its own: one or two, several under the race detector.
func TestProcessesAreCountedExactly(t *testing.T) {
	x := newExecutor(t)
	source := `import threading
def handler(x):
    release, n = threading.Event(), 0
    try:
        while n < 100:
            threading.Thread(target=release.wait).start(); n += 1
    except RuntimeError: pass
    release.set()
    return n
`
	for _, r := range run(t, x, pack(t, source, "[limits]\npids = 20\n"), "0", "0", "0") {
		n, err := strconv.Atoi(r.Output)
		require.NoError(t, err, "%+v", r)
		require.LessOrEqual(t, n, 19)
		require.GreaterOrEqual(t, n, 8)
	}
}

// Threads of the process that wrote the bundle would take room that the supervisor needs: Go ends a program that cannot start one.
func TestWriterHasEndedBeforeTheFunctionIsThere(t *testing.T) {
	x := newExecutor(t)
	source := `import os, time

def others():
    found = set()
    for number in range(1, 400):
        try: found.add(os.getsid(number))
        except ProcessLookupError: pass
    return found - {os.getsid(0), 1}

end = time.monotonic() + 0.5  # the daemon may take a moment to collect what has ended; with the race detector a program takes a second to end
while (sessions := others()) and time.monotonic() < end: time.sleep(0.01)
def handler(x): return sorted(sessions)
`
	for _, r := range run(t, x, pack(t, source, ""), "0") {
		require.JSONEq(t, `[]`, r.Output, "%+v", r.Exception)
	}
}

func TestInputFiles(t *testing.T) {
	x := newExecutor(t)
	source := `import os
def handler(paths, context):
    try:
        open(context.input_path(paths[0]), "w")
        return "changed"
    except OSError: pass
    found = sorted(os.path.relpath(os.path.join(d, f), context.input_dir) for d, _, files in os.walk(context.input_dir) for f in files)
    return [context.input_dir, found, [open(context.input_path(p)).read() for p in paths]]
`
	contents := map[string]string{"a/b.txt": "one", "c": "two"}
	batch := batchOf(pack(t, source, ""), `["a/b.txt"]`, `["c"]`)
	files := inputdirtest.Files(contents)
	batch.Shards[0].Files, batch.Shards[1].Files = files[:1], files[1:]
	batch.Open = inputdirtest.Open(contents)
	results, err := x.Recheck(t.Context(), batch)
	require.NoError(t, err)
	require.JSONEq(t, `["/input",["a/b.txt"],["one"]]`, results[0].Output, "%+v", results[0].Exception)
	require.JSONEq(t, `["/input",["c"],["two"]]`, results[1].Output)

	batch.Open = func(context.Context, inputfile.File) (io.ReadCloser, error) { return nil, errors.New("no store") }
	_, err = x.Recheck(t.Context(), batch)
	var failed *recheck.Error
	require.ErrorAs(t, err, &failed)
	require.ErrorContains(t, err, "no store")
}

// A batch that is called off ends at once, and its container with it.
func TestCalledOff(t *testing.T) {
	x := newExecutor(t)
	require.NoError(t, x.Health(t.Context()))
	ctx, cancel := context.WithCancelCause(t.Context())
	gone := errors.New("somebody has called it off")
	ended := make(chan error, 1)
	batch := batchOf(pack(t, "import time\ndef handler(x):\n    time.sleep(1000)\n", ""), "0")
	go func() {
		_, err := x.Recheck(ctx, batch)
		ended <- err
	}()
	testenv.Eventually(t, func() bool { return len(containersOf(t, x.cfg.Installation)) == 1 }, "the container starts")
	cancel(gone)
	require.ErrorIs(t, <-ended, gone)
	testenv.Eventually(t, func() bool { return len(containersOf(t, x.cfg.Installation)) == 0 }, "the container goes")
}

// A container that is lost is an error, and what it had answered before is good.
func TestLostContainer(t *testing.T) {
	x := newExecutor(t, at(bundle.Container))
	require.NoError(t, x.Health(t.Context()))
	type outcome struct {
		results []harness.Result
		err     error
	}
	ended := make(chan outcome, 1)
	batch := batchOf(pack(t, "import time\ndef handler(x):\n    time.sleep(x)\n    return x\n", ""), "0", "1000")
	go func() {
		results, err := x.Recheck(t.Context(), batch)
		ended <- outcome{results, err}
	}()
	var id string
	testenv.Eventually(t, func() bool {
		for _, c := range containersOf(t, x.cfg.Installation) {
			id = c.ID
			return c.State == container.StateRunning
		}
		return false
	}, "the container runs")
	require.NoError(t, x.client.ContainerKill(t.Context(), id, "KILL"))
	got := <-ended
	var failed *recheck.Error
	require.ErrorAs(t, got.err, &failed)
	require.Equal(t, recheck.Crashed, failed.Class, "%v", got.err)
	require.ErrorContains(t, got.err, "137")
	require.LessOrEqual(t, len(got.results), 1)
}

// A container serves one project, whoever asks.
func TestContainersServeOneProject(t *testing.T) {
	x := newExecutor(t, func(c *Config) { c.Warm = 2 })
	p, err := x.ready(t.Context())
	require.NoError(t, err)
	seen := map[string]bool{}
	mark := pack(t, `import os
def handler(x):
    found = os.path.exists("/dev/shm/mark") or os.path.exists("/work/import/mark") or os.path.exists("/bundle/mark")
    for folder in ("/dev/shm", "/work/tmp", "/work/home"): open(folder + "/mark", "w").close()
    return found
`, "")
	for range 6 {
		testenv.Eventually(t, func() bool { p.mu.Lock(); defer p.mu.Unlock(); return len(p.idle) == 2 && p.coming == 0 }, "two containers wait")
		require.LessOrEqual(t, len(running(t, x)), 4, "two wait, and two rest")
		p.mu.Lock()
		next := p.idle[len(p.idle)-1].id
		p.mu.Unlock()
		require.False(t, seen[next])
		seen[next] = true
		require.Equal(t, "false", run(t, x, mark, "0")[0].Output)
	}
	testenv.Eventually(t, func() bool { return len(containersOf(t, x.cfg.Installation)) <= 4 }, "those that have rested longest go")
	// What waits follows what is asked for.
	run(t, x, pack(t, "def handler(x): return x\n", "[limits]\nmemory_bytes = \"64Mi\"\n"), "0")
	testenv.Eventually(t, func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		return len(p.idle) == 2 && p.idle[1].shape != defaultShape()
	}, "a container of the other shape waits")
}

// What is asked for while another container is coming waits as well, once that has come.
func TestAShapeThatIsAskedForTooEarlyIsNotForgotten(t *testing.T) {
	x := newExecutor(t, func(c *Config) { c.Warm = 2 })
	p, err := x.ready(t.Context())
	require.NoError(t, err)
	testenv.Eventually(t, func() bool { p.mu.Lock(); defer p.mu.Unlock(); return len(p.idle) == 2 && p.coming == 0 }, "two containers wait")
	p.mu.Lock()
	p.discard(p.idle[0])
	p.idle, p.coming = p.idle[1:], 1
	p.mu.Unlock()
	other := defaultShape()
	other.memory /= 2
	p.fill(other)
	p.add(defaultShape()) // it has come
	testenv.Eventually(t, func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		return len(p.idle) == 2 && p.idle[1].shape == other
	}, "a container of the other shape waits")
}

// What ends every container does not go through all that are started ahead: after the first that waited, a new one has the last word.
func TestWhatEndsEveryContainerIsTriedTwice(t *testing.T) {
	f := newFault(t)
	var made atomic.Int64
	f.meddle(func(_ http.ResponseWriter, r *http.Request) bool {
		if strings.HasSuffix(r.URL.Path, "/containers/create") {
			made.Add(1)
		}
		return false
	})
	x := newExecutor(t, func(c *Config) { c.Host, c.Warm = f.host, 3 })
	p, err := x.ready(t.Context())
	require.NoError(t, err)
	wait := func() { // for containers, and for those that have served to go
		testenv.Eventually(t, func() bool {
			p.mu.Lock()
			full := len(p.idle) == 3 && p.coming == 0
			p.mu.Unlock()
			return full && len(containersOf(t, x.cfg.Installation)) == 3
		}, "three containers wait, and no others are there")
	}
	wait()
	before := made.Load()
	other := *pack(t, "def handler(x): return x\n", "")
	other.Digest = strings.Repeat("0", 64)
	_, err = x.Recheck(t.Context(), batchOf(&other, "0"))
	require.Equal(t, recheck.Broken, classOf(t, err), "%v", err)
	require.ErrorContains(t, err, "another one than announced")
	wait()
	require.Equal(t, int64(2), made.Load()-before, "a new one, and one in the place of that which waited")
}

// A container that has died while it waited is no trouble of the batch that gets it.
func TestAContainerThatDiedWhileItWaited(t *testing.T) {
	x := newExecutor(t, func(c *Config) { c.Warm = 1 })
	p, err := x.ready(t.Context())
	require.NoError(t, err)
	testenv.Eventually(t, func() bool { p.mu.Lock(); defer p.mu.Unlock(); return len(p.idle) == 1 }, "a container waits")
	p.mu.Lock()
	b := p.idle[0]
	p.mu.Unlock()
	require.NoError(t, x.client.ContainerKill(t.Context(), b.id, "KILL"))
	require.Equal(t, "7", run(t, x, pack(t, "def handler(x): return x\n", ""), "7")[0].Output)
}

func running(t *testing.T, x *Executor) (ids []string) {
	t.Helper()
	for _, c := range containersOf(t, x.cfg.Installation) {
		if c.State == container.StateRunning {
			ids = append(ids, c.ID)
		}
	}
	return ids
}

// The hash seed is the batch's, and the job's ID is part of the seeds.
func TestSettings(t *testing.T) {
	x := newExecutor(t)
	b := pack(t, "def handler(x, context):\n    return [hash('x') % 1000, context.seed]\n", "")
	first := run(t, x, b, "0")[0].Output
	require.Equal(t, first, run(t, x, b, "0")[0].Output)
	batch := batchOf(b, "0")
	batch.HashSeed = 7
	other, err := x.Recheck(t.Context(), batch)
	require.NoError(t, err)
	require.NotEqual(t, first, other[0].Output)
	require.Contains(t, first, strconv.FormatUint(harness.Seed(b.Digest, batch.Job.String(), 0), 10))
}
