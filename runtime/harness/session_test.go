//go:build linux

package harness

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/runtime/canonical"
)

func TestResultIsComplete(t *testing.T) {
	r := start(t, `
import os, sys
def handler(x):
    print("out", flush=True); print("err", file=sys.stderr)
    with open(os.path.join(os.environ["OSTRAKA_OUTPUT"], "a.txt"), "w") as f: f.write("hello")
    return {"b": x["n"] + 1, "a": [1.5, "é", None]}
`, nil)
	r.next = 41
	got := r.run(`{"n": 18446744073709551616}`)
	require.Nil(t, got.Exception)
	require.Equal(t, StatusOK, got.Status)
	require.Equal(t, int64(41), got.Shard)
	require.Equal(t, `{"a":[1.5,"é",null],"b":18446744073709551617}`, got.Output)
	require.Equal(t, canonical.Digest([]byte(got.Output)), got.OutputDigest)
	require.Equal(t, int64(len(got.Output)), got.OutputBytes)
	require.Equal(t, "out\n", got.StdoutTail)
	require.Equal(t, canonical.Digest([]byte("out\n")), got.StdoutDigest)
	require.Equal(t, int64(4), got.StdoutBytes)
	require.False(t, got.StdoutTruncated)
	require.Equal(t, "err\n", got.StderrTail)
	require.Equal(t, []File{{Path: "a.txt", Size: 5, Digest: canonical.Digest([]byte("hello"))}}, got.Files)
	require.Equal(t, "process", got.Isolation)
	require.Contains(t, got.Interpreter, "cpython 3.")
	require.Contains(t, got.Platform, "linux ")
	require.NotEmpty(t, got.Libc)
	require.Equal(t, int64(len(`{"n": 18446744073709551616}`)), got.InputBytes)
	require.Positive(t, got.PeakRSSBytes)
	require.Positive(t, got.WallMicros)
	for _, s := range []string{got.StartedAt, got.EndedAt} {
		at, err := time.Parse(time.RFC3339Nano, s)
		require.NoError(t, err)
		require.Equal(t, time.UTC, at.Location())
	}
	doc, err := json.Marshal(got)
	require.NoError(t, err)
	for _, name := range []string{"shard", "status", "output", "cpu_us", "wall_us", "peak_rss_bytes", "exit_code", "signal", "libc"} {
		require.Contains(t, string(doc), `"`+name+`":`)
	}
}

func TestValues(t *testing.T) {
	r := start(t, "import json\ndef handler(x): return eval(x)\n", nil)
	for source, want := range map[string]string{
		"10**5000":                               "1" + strings.Repeat("0", 5000),
		"-7":                                     "-7",
		"True":                                   "true",
		"[1e16, 1e-05, 0.1, -0.0]":               "[1e+16,1e-05,0.1,-0.0]",
		"(1, 2)":                                 "[1,2]",
		"{1: 2, None: 3, True: 4}":               `{"1":4,"null":3}`,
		"{'é': 1, 'e': 2, '😀': 3}":               `{"e":2,"é":1,"😀":3}`,
		`"\x01\n\x7f"`:                           `"\u0001\n` + "\x7f\"",
		"None":                                   "null",
		nested(64):                               strings.Repeat("[", 64) + strings.Repeat("]", 64),
		"__import__('enum').IntEnum('E', 'A').A": "1",
	} {
		in, err := json.Marshal(source)
		require.NoError(t, err)
		got := r.run(string(in))
		require.Equal(t, StatusOK, got.Status, "%s: %+v", source, got.Exception)
		require.Equal(t, want, got.Output)
	}
}

func nested(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }

func TestValuesThatJSONCannotHold(t *testing.T) {
	r := start(t, "def handler(x): return eval(x)\n", nil)
	for source, want := range map[string]string{
		"float('nan')":           "return None or a string",
		"[float('-inf')]":        "return None or a string",
		`"\0"`:                   "NUL",
		`{"\0": 1}`:              "NUL",
		`"\ud800"`:               "surrogate",
		`{"\udc00": 1}`:          "surrogate",
		"{1, 2}":                 "builtins.set",
		"b'x'":                   "builtins.bytes",
		"1j":                     "builtins.complex",
		"object()":               "return None, bool, int",
		"(i for i in [])":        "generator",
		"{1: 2, '1': 3}":         "same string",
		"{(1, 2): 3}":            "use str keys",
		"{1.5: 3}":               "use str keys",
		nested(65):               "deeper than 64",
		"(l := [], l.append(l))": "deeper than 64",
		"(lambda: (yield))()":    "generator",
	} {
		in, err := json.Marshal(source)
		require.NoError(t, err)
		got := r.run(string(in))
		require.Equal(t, StatusError, got.Status, source)
		require.Equal(t, ExceptionOutput, got.Exception.Type, source)
		require.Contains(t, got.Exception.Message, want, source)
		require.Empty(t, got.Output)
		require.Empty(t, got.OutputDigest)
	}
}

func TestInputIsExact(t *testing.T) {
	r := start(t, "def handler(x): return x\n", nil)
	big := strings.Repeat("9", 10000)
	require.Equal(t, `{"a":`+big+`,"b":0.1}`, r.run(`{ "b": 0.10, "a": `+big+` }`).Output)
	large := `"` + strings.Repeat("x", 1<<20-2) + `"`
	require.Equal(t, large, r.run(large).Output, "input and output larger than any pipe")
}

func TestInputIsRefused(t *testing.T) {
	r := start(t, "def handler(x): return x\n", nil)
	for _, input := range []string{"", "{", "NaN", `"\ud800"`, `{"a":1,"a":2}`, nested(65), "\xff"} {
		_, err := r.s.Run(context.Background(), r.shard(input))
		require.ErrorIs(t, err, ErrInput)
	}
	require.Equal(t, StatusOK, r.run("1").Status)
}

func TestNoStatePassesBetweenShards(t *testing.T) {
	r := start(t, `
import os
seen = []
def handler(x):
    before = (len(seen), os.environ.get("LEFT"), os.listdir("."), os.listdir(os.environ["OSTRAKA_OUTPUT"]))
    seen.append(x); os.environ["LEFT"] = "1"; open("left", "w").close()
    return before
`, nil)
	for range 3 {
		require.Equal(t, `[0,null,[],[]]`, r.run("1").Output)
	}
}

func TestEnvironmentIsBuiltFromNothing(t *testing.T) {
	t.Setenv("SECRET", "x")
	r := start(t, `
import os, sys, time
def handler(x):
    return {"names": sorted(os.environ), "hash": hash("a"), "tz": time.tzname[0], "umask": oct(os.umask(0)),
            "path": [p for p in sys.path if "python3" not in p and not p.endswith(".zip")] == [os.path.dirname(__file__)],
            "fds": sorted(int(f) for f in os.listdir("/proc/self/fd"))[:4], "stdin": sys.stdin.read(),
            "main": sys.modules["__main__"].__name__, "cwd": os.getcwd() == os.environ["HOME"] == os.environ["TMPDIR"]}
`, nil)
	first := r.run("1").Output
	require.NotContains(t, first, "SECRET")
	require.Contains(t, first, `"cwd":true`)
	require.Contains(t, first, `"path":true`)
	require.Contains(t, first, `"tz":"UTC","umask":"0o77"`)
	require.Contains(t, first, `"stdin":""`)
	second := start(t, `
def handler(x): return hash("a")
`, nil).run("1").Output
	require.Contains(t, first, `"hash":`+second+",", "hashes are equal in every interpreter")
}

func TestStdoutIsCountedHashedAndTailed(t *testing.T) {
	r := start(t, `
def handler(n):
    print("x" * n, end="")
    return 0
`, func(c *Config) { c.Manifest.Limits.StdoutBytes = 8 << 20 })
	for _, n := range []int{TailBytes, TailBytes + 1, 8 << 20} {
		got := r.run(strconv.Itoa(n))
		all := strings.Repeat("x", n)
		require.Equal(t, StatusOK, got.Status)
		require.Equal(t, int64(n), got.StdoutBytes)
		require.Equal(t, canonical.Digest([]byte(all)), got.StdoutDigest)
		require.Equal(t, all[:TailBytes], got.StdoutTail)
		require.Equal(t, n > TailBytes, got.StdoutTruncated)
	}
}

func TestTailsAreText(t *testing.T) {
	r := start(t, `
import os
def handler(x):
    os.write(1, b"a\x00\xff" + "é".encode() * 5000); os.write(2, b"\xc3")
    return 0
`, nil)
	got := r.run("0")
	require.LessOrEqual(t, len(got.StdoutTail), TailBytes)
	require.True(t, strings.HasSuffix(got.StdoutTail, "éé"))
	require.Equal(t, "\uFFFD", got.StderrTail)
}

func TestOutputAtItsLimitAndPast(t *testing.T) {
	r := start(t, "def handler(n): return 'x' * n\n", func(c *Config) { c.Manifest.Limits.OutputBytes = 100 })
	require.Equal(t, StatusOK, r.run("98").Status)
	for _, n := range []string{"99", "50000000"} {
		got := r.run(n)
		require.Equal(t, StatusOutputLimit, got.Status)
		require.Contains(t, got.Exception.Message, "limits.output_bytes")
	}
	require.Equal(t, int64(101), r.run("99").OutputBytes)
	require.Equal(t, StatusOK, r.run("1").Status)
}

func TestArtifacts(t *testing.T) {
	r := start(t, `
import os
def handler(source):
    os.chdir(os.environ["OSTRAKA_OUTPUT"])
    exec(source)
    return 0
`, func(c *Config) {
		c.Manifest.Limits.Files, c.Manifest.Limits.ArtifactBytes, c.Manifest.Limits.DiskBytes = 3, 1000, 1000
	})
	tests := []struct {
		name, source string
		status       Status
		exception    string
	}{
		{"none", "pass", StatusOK, ""},
		{"in folders", "os.makedirs('a/b'); open('a/b/c', 'w').write('x'*1000)", StatusOK, ""},
		{"as many as allowed", "[open(str(i), 'w') for i in range(3)]", StatusOK, ""},
		{"one too many", "[open(str(i), 'w') for i in range(4)]", StatusArtifactLimit, ExceptionLimit},
		{"too large together", "[open(str(i), 'w').write('x'*501) for i in range(2)]", StatusArtifactLimit, ExceptionLimit},
		{"one too large", "f = open('a', 'w'); f.write('x'*1001); f.close()", StatusDiskLimit, "OSError"},
		{"link", "os.symlink('/etc/passwd', 'p')", StatusError, ExceptionArtifact},
		{"link to a folder", "os.symlink('/etc', 'p')", StatusError, ExceptionArtifact},
		{"fifo", "os.mkfifo('p')", StatusError, ExceptionArtifact},
		{"name that is no text", "open(b'\\xff', 'w')", StatusError, ExceptionArtifact},
		{"the folder replaced by a link", "os.chdir('..'); os.rename('output', 'o'); os.symlink('/etc', 'output')", StatusOK, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			in, err := json.Marshal(test.source)
			require.NoError(t, err)
			got := r.run(string(in))
			require.Equal(t, test.status, got.Status, "%+v", got.Exception)
			if test.exception != "" {
				require.Equal(t, test.exception, got.Exception.Type)
			}
			for _, f := range got.Files {
				require.NotContains(t, f.Path, "passwd")
			}
		})
	}
}

func TestScript(t *testing.T) {
	script := func(c *Config) { c.Manifest.Script, c.Manifest.Entrypoint = "main.py", "" }
	tests := []struct{ name, source, output, exception string }{
		{"plain", "import json, sys\nx = json.load(sys.stdin)\nprint(json.dumps({'b': x, 'a': 1}, indent=2))", `{"a":1,"b":7}`, ""},
		{"main guard", "if __name__ == '__main__':\n  print(input())", `7`, ""},
		{"subprocess prints", "import os\nos.system('echo 8')", `8`, ""},
		{"exit 0", "import sys\nprint(1)\nsys.exit(0)", `1`, ""},
		{"exit 3", "import sys\nprint(1)\nsys.exit(3)", ``, "SystemExit"},
		{"raises", "print(1)\n1/0", ``, "ZeroDivisionError"},
		{"prints nothing", "", ``, ExceptionOutput},
		{"prints text", "print('hello')", ``, ExceptionOutput},
		{"prints two", "print(1); print(2)", ``, ExceptionOutput},
		{"prints NaN", "print('NaN')", ``, ExceptionOutput},
		{"prints bytes", "import os; os.write(1, b'\\xff')", ``, ExceptionOutput},
		{"prints a key twice", "print('{\"a\":1,\"a\":2}')", ``, ExceptionOutput},
		{"does not compile", "def", ``, "SyntaxError"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := start(t, test.source, script)
			for range 2 {
				got := r.run("7")
				require.Equal(t, test.output, got.Output, "%+v", got.Exception)
				if test.exception != "" {
					require.Equal(t, test.exception, got.Exception.Type)
				}
			}
		})
	}
	big := start(t, "print('x' * 3000000)", script).run("0")
	require.Equal(t, StatusOutputLimit, big.Status)
	require.Equal(t, int64(3000001), big.OutputBytes)
	require.Equal(t, "1\n", start(t, "print(1)", script).run("0").StdoutTail)
}

func TestContextEndsAShard(t *testing.T) {
	r := start(t, "import time\ndef handler(x):\n  time.sleep(x)\n  return x\n", nil)
	ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	_, err := r.s.Run(ctx, r.shard("60"))
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.Equal(t, StatusOK, r.run("0").Status)
}

func TestClosedSessionRefuses(t *testing.T) {
	r := start(t, "def handler(x): return x\n", nil)
	require.NoError(t, r.s.Close())
	_, err := r.s.Run(context.Background(), r.shard("1"))
	require.ErrorContains(t, err, "closed")
}

func TestStartRefuses(t *testing.T) {
	for name, change := range map[string]func(*Config){
		"no interpreter":         func(c *Config) { c.Interpreter = "" },
		"absent interpreter":     func(c *Config) { c.Interpreter = "/none/python3" },
		"other interpreter":      func(c *Config) { c.Interpreter = "/bin/cat" },
		"relative bundle":        func(c *Config) { c.BundleDir = "x" },
		"relative work":          func(c *Config) { c.WorkDir = "x" },
		"nothing to run":         func(c *Config) { c.Manifest.Entrypoint = "" },
		"preparation that fails": func(c *Config) { c.Prepare = failingPreparation },
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Start(context.Background(), configure(t, "", change))
			require.ErrorContains(t, err, "starting a session")
		})
	}
}

func TestManyShards(t *testing.T) {
	r := start(t, "def handler(x): return x * x\n", nil)
	for i := range 200 {
		require.Equal(t, fmt.Sprint(i*i), r.run(fmt.Sprint(i)).Output)
	}
}

func BenchmarkTrivialShard(b *testing.B) {
	r := start(b, "def handler(x): return x\n", nil)
	sh := r.shard("1")
	for b.Loop() {
		if res, err := r.s.Run(context.Background(), sh); err != nil || res.Status != StatusOK {
			b.Fatal(res, err)
		}
	}
}
