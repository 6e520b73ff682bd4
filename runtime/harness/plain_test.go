//go:build linux

package harness

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/runtime/bundle"
	"github.com/ostraka/ostraka/testenv"
)

// plainRig is a plain session over a module written by a test, as macOS and Windows run it. What differs there is how processes are
// held together, and that is the group's affair.
type plainRig struct {
	*rig
	s *Plain
}

func startPlain(t testing.TB, source string, change func(*Config)) *plainRig {
	t.Helper()
	cfg := configure(t, source, change)
	s, err := StartPlain(context.Background(), cfg)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return &plainRig{&rig{t: t, dir: filepath.Dir(cfg.WorkDir)}, s}
}

func (r *plainRig) run(input string) Result {
	shard := r.shard(input)
	shard.Workspace = filepath.Dir(shard.Home)
	res, err := r.s.Run(context.Background(), shard)
	require.NoError(r.t, err)
	return res
}

// Both drivers give the same results for the same functions, but for what is measured.
func TestPlainAgreesWithTheForkingDriver(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		source, input string
		change        func(*Config)
		status        Status
	}{
		"an answer":           {"def handler(x): return {'b': x + 1, 'a': [1.5, 'é', None]}", "18446744073709551616", nil, StatusOK},
		"streams and files":   {"import os, sys\ndef handler(x):\n    print('out'); print('err', file=sys.stderr)\n    open(os.environ['OSTRAKA_OUTPUT'] + '/a.txt', 'w').write('hello')\n    return x", "1", nil, StatusOK},
		"a context":           {"def handler(x, context): return [context.shard, context.seed]", "1", nil, StatusOK},
		"seeded randomness":   {"import random\ndef handler(x): return random.random()", "1", nil, StatusOK},
		"hash order":          {"def handler(x): return list({'a', 'b', 'c', 'd', 'e', 'f'})", "1", nil, StatusOK},
		"an environment":      {"import os\ndef handler(x): return [os.environ['TZ'], os.environ['OSTRAKA_SHARD'], os.environ['OSTRAKA_SEED'], 'HOME' in os.environ]", "1", nil, StatusOK},
		"a large input":       {"def handler(x): return len(x)", `"` + strings.Repeat("x", 3<<20) + `"`, nil, StatusOK},
		"an exception":        {"def handler(x): raise ValueError('no')", "1", nil, StatusError},
		"a failing import":    {"raise ImportError('no')", "1", nil, StatusError},
		"no handler":          {"x = 1", "1", nil, StatusError},
		"a value that is not": {"def handler(x): return object()", "1", nil, StatusError},
		"an exit":             {"import sys\ndef handler(x): sys.exit(3)", "1", nil, StatusError},
		"a hard exit":         {"import os\ndef handler(x): os._exit(3)", "1", nil, StatusError},
		"a signal":            {"import os\ndef handler(x): os.kill(os.getpid(), 11)", "1", nil, StatusKilled},
		"a fork that returns": {"import os\ndef handler(x):\n    pid = os.fork()\n    if pid: os.waitpid(pid, 0)\n    return 7", "1", nil, StatusOK},
		"too much memory":     {"def handler(x): return len(bytearray(3 << 30))", "1", func(c *Config) { c.Manifest.Limits.MemoryBytes = 256 << 20 }, StatusMemory},
		"too many files open": {"def handler(x): return [open('/dev/null') for _ in range(100)] and 1", "1", func(c *Config) { c.Manifest.Limits.OpenFiles = 32 }, StatusFileLimit},
		"a large file":        {"def handler(x): open('f', 'wb').write(bytes(2 << 20))", "1", func(c *Config) { c.Manifest.Limits.DiskBytes = 1 << 20 }, StatusDiskLimit},
		"many inodes":         {"import os\ndef handler(x):\n    for i in range(20): os.mkdir(str(i))\n    return 1", "1", func(c *Config) { c.Manifest.Limits.Inodes = 16 }, StatusInodeLimit},
		"a large output":      {"def handler(x): return 'x' * 2000", "1", func(c *Config) { c.Manifest.Limits.OutputBytes = 1000 }, StatusOutputLimit},
		"an output as said":   {"def handler(x): return {'n': x}", "1", schemed, StatusOK},
		"another than said":   {"def handler(x): return {'n': str(x)}", "1", schemed, StatusError},
		"a chatty function":   {"def handler(x): print('x' * 100000); return 1", "1", func(c *Config) { c.Manifest.Limits.StdoutBytes = 1000 }, StatusLogLimit},
		"a busy loop":         {"def handler(x):\n    while True: pass", "1", func(c *Config) { c.Manifest.Limits.CPUSeconds, c.Manifest.Limits.WallSeconds = 1, 120 }, StatusCPULimit},
		"a sleeper":           {"import time\ndef handler(x): time.sleep(60)", "1", func(c *Config) { c.Manifest.Limits.WallSeconds = 1 }, StatusTimeout},
		"a link as artifact":  {"import os\ndef handler(x): os.symlink('/etc/passwd', os.environ['OSTRAKA_OUTPUT'] + '/l')", "1", nil, StatusError},
		"a second frame":      {"import os\ndef handler(x):\n    for fd in range(3, 9):\n        try: os.write(fd, b'O' + bytes(7) + b'\\x01' + b'7')\n        except OSError: pass\n    return 1", "1", nil, StatusError},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			plain := startPlain(t, c.source, c.change).run(c.input)
			require.Equal(t, c.status, plain.Status, "%+v", plain.Exception)
			forked := start(t, c.source, c.change)
			shard := forked.shard(c.input)
			shard.Workspace = filepath.Dir(shard.Home)
			other, err := forked.s.Run(context.Background(), shard)
			require.NoError(t, err)
			require.Equal(t, other.Status, plain.Status, "%+v\n%+v", other.Exception, plain.Exception)
			require.Equal(t, other.Output, plain.Output)
			require.Equal(t, other.OutputDigest, plain.OutputDigest)
			if c.status == StatusOK {
				require.Equal(t, other.StdoutDigest, plain.StdoutDigest)
				require.Equal(t, other.StderrTail, plain.StderrTail)
				require.Equal(t, other.Files, plain.Files)
				require.Equal(t, []string{other.Interpreter, other.Platform, other.Libc, other.Isolation}, []string{plain.Interpreter, plain.Platform, plain.Libc, plain.Isolation})
				require.Positive(t, plain.PeakRSSBytes)
				require.Positive(t, plain.CPUMicros)
			}
			if name == "an exception" || name == "another than said" {
				require.Equal(t, other.Exception, plain.Exception)
			}
		})
	}
}

// schemed has outputs be {"n": <a whole number>}.
func schemed(c *Config) {
	c.Manifest.Output = &bundle.Output{Schema: []byte(`{"required":["n"],"properties":{"n":{"type":"integer"}}}`)}
}

func TestOutputsAreHeldAgainstTheSchema(t *testing.T) {
	r := startPlain(t, "def handler(x): return {'n': x}", schemed)
	require.Equal(t, StatusOK, r.run("1").Status)
	got := r.run(`"one"`)
	require.Equal(t, StatusError, got.Status)
	require.Empty(t, got.Output)
	require.Equal(t, ExceptionSchema, got.Exception.Type)
	require.Equal(t, "the output is not as [output.schema] says: output.n (type)", got.Exception.Message)
	require.Contains(t, got.Exception.Traceback, "output.n: got string")
}

func TestPlainScripts(t *testing.T) {
	script := func(c *Config) { c.Manifest.Entrypoint, c.Manifest.Script = "", "main.py" }
	r := startPlain(t, "import json, sys\nx = json.load(sys.stdin)\nprint(json.dumps({'n': x['n'] + 1}))\n", script)
	got := r.run(`{"n": 41}`)
	require.Equal(t, StatusOK, got.Status, "%+v", got.Exception)
	require.Equal(t, `{"n":42}`, got.Output)
	require.Equal(t, "{\"n\": 42}\n", got.StdoutTail)
	for source, status := range map[string]Status{"import sys\nsys.exit(4)": StatusError, "print('no JSON')": StatusError, "print('\"' + 'x' * 5000 + '\"')": StatusOutputLimit} {
		r := startPlain(t, source, func(c *Config) {
			script(c)
			c.Manifest.Limits.OutputBytes = 1000
		})
		require.Equal(t, status, r.run("1").Status, source)
	}
}

// What the handler starts ends with the shard, though it leaves the process group.
func TestPlainLeavesNothingRunning(t *testing.T) {
	for name, source := range map[string]string{
		"a child":       "import os, time\ndef handler(x):\n    if os.fork() == 0: time.sleep(600)\n    return 1",
		"a new session": "import os, time\ndef handler(x):\n    if os.fork() == 0:\n        os.setsid()\n        if os.fork() == 0: time.sleep(600)\n        os._exit(0)\n    os.wait()\n    return 1",
		"a program":     "import subprocess\ndef handler(x):\n    subprocess.Popen(['/bin/sleep', '600'], start_new_session=True)\n    return 1",
	} {
		t.Run(name, func(t *testing.T) {
			r := startPlain(t, source, nil)
			got := r.run("1")
			require.Equal(t, StatusOK, got.Status, "%+v", got.Exception)
			testenv.Eventually(t, func() bool {
				table, err := processes()
				require.NoError(t, err)
				for _, p := range table {
					link, _ := os.Readlink("/proc/" + strconv.Itoa(p.pid) + "/cwd")
					if strings.HasPrefix(link, r.dir) {
						return false
					}
				}
				return true
			}, "nothing of the shard runs")
		})
	}
}

func TestPlainProcessLimit(t *testing.T) {
	r := startPlain(t, "import os, time\ndef handler(x):\n    for _ in range(20):\n        if os.fork() == 0: time.sleep(60); os._exit(0)\n    time.sleep(60)", func(c *Config) { c.Manifest.Limits.Pids, c.Manifest.Limits.WallSeconds = 4, 30 })
	require.Equal(t, StatusProcessLimit, r.run("1").Status)
}

func TestPlainIsEndedFromOutside(t *testing.T) {
	r := startPlain(t, "import time\ndef handler(x):\n    print('here', flush=True)\n    time.sleep(60 if x else 0)\n    return 1", func(c *Config) { c.Manifest.Limits.WallSeconds = 30 })
	require.Zero(t, r.s.PID())
	r.s.Kill("nothing runs") // and nothing happens
	go func() {
		testenv.Eventually(t, func() bool { return r.s.OutputBytes() == 5 && r.s.PID() > 0 }, "the shard says something")
		r.s.Kill("because")
	}()
	got := r.run("1")
	require.Equal(t, StatusKilled, got.Status)
	require.Equal(t, "because", got.Exception.Message)
	require.Equal(t, StatusOK, r.run("0").Status, "the session goes on")

	ctx, cancel := context.WithCancelCause(context.Background())
	stop := errors.New("stop")
	go func() {
		testenv.Eventually(t, func() bool { return r.s.OutputBytes() == 5 }, "the shard says something")
		cancel(stop)
	}()
	shard := r.shard("1")
	_, err := r.s.Run(ctx, shard)
	require.ErrorIs(t, err, stop)
	_, err = r.s.Run(context.Background(), Shard{Input: []byte("not JSON"), Home: shard.Home, Output: shard.Output})
	require.ErrorIs(t, err, ErrInput)
	require.NoError(t, r.s.Close())
	_, err = r.s.Run(context.Background(), shard)
	require.ErrorIs(t, err, errClosed)
}

// The walk that macOS and Windows have sees what that of Linux sees.
func TestWalksAgree(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "home", "a", "b"), 0o700))
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "output"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "home", "a", "f"), make([]byte, 1000), 0o600))
	require.NoError(t, os.Symlink("/etc/passwd", filepath.Join(dir, "output", "l")))
	limits := bundle.DefaultLimits()
	want, err := measure(dir, limits, true)
	require.NoError(t, err)
	got, err := walkSpace(dir, limits, true)
	require.NoError(t, err)
	require.Equal(t, want, got)
	limits.Inodes = 2
	got, err = walkSpace(dir, limits, false)
	require.NoError(t, err)
	require.Equal(t, stopInodes, got.over(limits))
	limits = bundle.DefaultLimits()
	limits.DiskBytes = 999
	got, err = walkSpace(dir, limits, false)
	require.NoError(t, err)
	require.Equal(t, stopDisk, got.over(limits))
}

func TestPlainNeedsAnInterpreter(t *testing.T) {
	cfg := configure(t, "", func(c *Config) { c.Interpreter = "/bin/false" })
	_, err := StartPlain(context.Background(), cfg)
	require.ErrorContains(t, err, "Python 3.9")
}

func TestPlainProgramFitsIntoACommandLine(t *testing.T) {
	arguments, err := plainArguments()
	require.NoError(t, err)
	t.Logf("%d of %d characters", len(arguments[len(arguments)-1]), maxCommandLine)
}
