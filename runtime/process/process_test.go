package process

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/runtime/bundle"
	"github.com/ostraka/ostraka/runtime/harness"
	"github.com/ostraka/ostraka/runtime/inputdir/inputdirtest"
	"github.com/ostraka/ostraka/runtime/python"
	"github.com/ostraka/ostraka/runtime/volume"
)

func runner(t testing.TB) *Runner {
	t.Helper()
	tree, err := python.Open(context.Background(), python.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, tree.Release()) })
	r, err := New(Config{Python: tree, Dir: filepath.Join(t.TempDir(), "sandboxes")})
	require.NoError(t, err)
	return r
}

func open(t testing.TB, r *Runner, folder string) *Sandbox {
	t.Helper()
	b, err := bundle.Pack(folder)
	require.NoError(t, err)
	s, err := r.Open(context.Background(), b, harness.Settings{})
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, s.Close())
		left, err := os.ReadDir(r.dir)
		require.NoError(t, err)
		require.Empty(t, left, "files are left after Close")
	})
	return s
}

func folder(t testing.TB, source, manifest string) string {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "main.py"), []byte(source), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, bundle.ManifestName), []byte("name = \"f\"\n"+manifest), 0o600))
	return dir
}

func run(t testing.TB, s *Sandbox, input string) harness.Result {
	t.Helper()
	got, err := s.Run(context.Background(), 0, []byte(input))
	require.NoError(t, err)
	return got
}

func TestExampleBPSW(t *testing.T) {
	s := open(t, runner(t), "../../examples/bpsw")
	from := new(big.Int).Lsh(big.NewInt(1), 64)
	passed, tested := 0, 0
	for range 10 {
		to := new(big.Int).Add(from, big.NewInt(100_000))
		got := run(t, s, fmt.Sprintf(`{"from": "%s", "to": "%s"}`, from, to))
		require.Equal(t, harness.StatusOK, got.Status, "%+v", got.Exception)
		var out struct {
			Passed, Tested int
			Sample         []string
			Variant        string
		}
		require.NoError(t, json.Unmarshal([]byte(got.Output), &out))
		require.Len(t, out.Sample, 1)
		require.Contains(t, out.Variant, "strong Lucas")
		passed, tested, from = passed+out.Passed, tested+out.Tested, to
	}
	require.Equal(t, 22206, passed, "primes in [2^64, 2^64 + 10^6)")
	require.Equal(t, 1_000_000, tested)
	bad := run(t, s, `{"from": "9", "to": "1"}`)
	require.Equal(t, harness.StatusError, bad.Status)
	require.Contains(t, bad.Exception.Message, "reversed")
}

func TestExampleProve(t *testing.T) {
	s := open(t, runner(t), "../../examples/prove")
	got := run(t, s, `"18446744073709551629"`)
	require.Equal(t, harness.StatusOK, got.Status, "%+v", got.Exception)
	require.Contains(t, got.Output, `"prime":true`)
	beyond := run(t, s, `"3317044064679887385961981"`)
	require.Equal(t, harness.StatusError, beyond.Status)
	require.Contains(t, beyond.Exception.Message, "proves nothing")
}

func TestExampleCertify(t *testing.T) {
	s := open(t, runner(t), "../../examples/certify")
	for n, want := range map[string]string{
		"18446744073709551629":                    `"proof":"miller-rabin-13"`,
		"3317044064679887385961981":               `"witness":"43"`,
		"170141183460469231731687303715884105727": `Type BLS5\nN 170141183460469231731687303715884105727\nQ`,
	} {
		got := run(t, s, `"`+n+`"`)
		require.Equal(t, harness.StatusOK, got.Status, "%+v", got.Exception)
		require.Contains(t, got.Output, want)
	}
}

// TestSystemInterpreter runs the same function on the machine's own Python.
func TestSystemInterpreter(t *testing.T) {
	tree, err := python.Open(context.Background(), python.Options{Python: python.UseSystem})
	require.NoError(t, err)
	r, err := New(Config{Python: tree, Dir: t.TempDir()})
	require.NoError(t, err)
	got := run(t, open(t, r, "../../examples/prove"), `"18446744073709551629"`)
	require.Equal(t, harness.StatusOK, got.Status, "%+v", got.Exception)
	require.Equal(t, "cpython "+tree.Version+" (system:"+tree.Digest[:16]+")", got.Interpreter)
}

// TestExamplesOwnTests runs the Python tests of the examples.
func TestExamplesOwnTests(t *testing.T) {
	for _, name := range []string{"bpsw", "prove", "certify"} {
		cmd := exec.Command(runner(t).python.Interpreter, "-B", "-m", "unittest", "discover", "tests")
		cmd.Dir = filepath.Join("../../examples", name)
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
		require.Contains(t, string(out), "OK")
		require.NotContains(t, string(out), "Ran 0 tests")
	}
}

func TestWorkspaceIsFreshAndPrivate(t *testing.T) {
	s := open(t, runner(t), folder(t, `
import os
def handler(source):
    found = [os.listdir("."), os.listdir(os.environ["OSTRAKA_OUTPUT"]), oct(os.stat(".").st_mode), os.listdir("..") ]
    found[3].sort()
    exec(source)
    return found
`, ""))
	info, err := os.Stat(s.dir)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o700), info.Mode().Perm())
	for _, source := range []string{
		"pass", "open('left', 'w')", "open(os.environ['OSTRAKA_OUTPUT'] + '/left', 'w')", "open('../left', 'w')",
		"os.chmod('.', 0o777)", "os.rmdir(os.environ['OSTRAKA_OUTPUT'])", "os.rename('../output', '../o'); os.symlink('/etc', '../output')",
		"os.makedirs('a/b'); open('a/b/c', 'w'); os.chmod('a/b', 0); os.chmod('a', 0)", "os.chmod('..', 0)", "pass",
	} {
		in, err := json.Marshal(source)
		require.NoError(t, err)
		got := run(t, s, string(in))
		require.Equal(t, harness.StatusOK, got.Status, "%s: %+v", source, got.Exception)
		require.Equal(t, `[[],[],"0o40700",["home","output"]]`, got.Output, source)
	}
}

func TestFilesStayUntilTheNextShard(t *testing.T) {
	s := open(t, runner(t), folder(t, "import os\ndef handler(x):\n  if x: open(os.environ['OSTRAKA_OUTPUT'] + '/f', 'w').close()\n", ""))
	require.Len(t, run(t, s, "1").Files, 1)
	require.FileExists(t, filepath.Join(s.OutputDir(), "f"))
	require.Empty(t, run(t, s, "0").Files)
	require.NoFileExists(t, filepath.Join(s.OutputDir(), "f"))
}

func TestStrongerLevelIsRefused(t *testing.T) {
	b, err := bundle.Pack(folder(t, "def handler(x): return x\n", `min_isolation = "linux"`))
	require.NoError(t, err)
	r := runner(t)
	require.Equal(t, bundle.Process, r.Level())
	_, err = r.Open(context.Background(), b, harness.Settings{})
	require.ErrorContains(t, err, `asks for isolation "linux"`)
	left, err := os.ReadDir(r.dir)
	require.NoError(t, err)
	require.Empty(t, left)
}

func TestVendoredPackageAndPlainScript(t *testing.T) {
	dir := folder(t, "import json, sys, lib.double\nprint(lib.double.f(json.load(sys.stdin)))\n", `script = "main.py"`)
	require.NoError(t, os.Mkdir(filepath.Join(dir, "lib"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "lib", "double.py"), []byte("def f(x): return 2 * x\n"), 0o600))
	s := open(t, runner(t), dir)
	require.Equal(t, "42", run(t, s, "21").Output)
}

func TestOpenFailsClean(t *testing.T) {
	r, err := New(Config{Python: python.Tree{Interpreter: "/none/python3"}, Dir: t.TempDir()})
	require.NoError(t, err)
	b, err := bundle.Pack("../../examples/prove")
	require.NoError(t, err)
	_, err = r.Open(context.Background(), b, harness.Settings{})
	require.ErrorContains(t, err, "/none/python3")
	left, err := os.ReadDir(r.dir)
	require.NoError(t, err)
	require.Empty(t, left)
	again, err := bundle.Verify(bytes.NewReader(b.Archive()), b.Size)
	require.NoError(t, err)
	require.Equal(t, b.Digest, again.Digest)
}

func BenchmarkTrivialShard(b *testing.B) {
	s := open(b, runner(b), folder(b, "def handler(x): return x\n", ""))
	for b.Loop() {
		run(b, s, "1")
	}
}

// A shard finds exactly its files, by path and by its context, and the next one finds its own.
func TestInputFiles(t *testing.T) {
	s := open(t, runner(t), folder(t, `import os
def handler(x, context):
    folder = os.environ["OSTRAKA_INPUT"]
    found = sorted(os.path.relpath(os.path.join(d, f), folder) for d, _, files in os.walk(folder) for f in files)
    return [found, [open(context.input_path(p)).read() for p in x], folder == context.input_dir]
`, ""))
	for _, c := range []struct {
		contents    map[string]string
		input, want string
	}{
		{map[string]string{"a/b.txt": "one", "c": "two"}, `["a/b.txt","c"]`, `[["a/b.txt","c"],["one","two"],true]`},
		{map[string]string{"c": "three"}, `["c"]`, `[["c"],["three"],true]`},
		{nil, `[]`, `[[],[],true]`},
	} {
		require.NoError(t, s.Inputs().Empty())
		if c.contents != nil {
			require.NoError(t, s.Inputs().Replace(t.Context(), inputdirtest.Files(c.contents), inputdirtest.Open(c.contents)))
		}
		got := run(t, s, c.input)
		require.Equal(t, harness.StatusOK, got.Status, "%+v", got.Exception)
		require.JSONEq(t, c.want, got.Output)
	}
}

// A function finds its volumes by the variable; nothing but its good will keeps it from writing there.
func TestVolumes(t *testing.T) {
	r := runner(t)
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a.txt"), []byte("one"), 0o600))
	source := "import os\n\nTEXT = open(os.environ['OSTRAKA_VOLUMES'] + '/ref/a.txt').read()\n\ndef handler(x):\n    return TEXT\n"
	b, err := bundle.Pack(folder(t, source, "[[volumes]]\nname = \"ref\"\n"))
	require.NoError(t, err)
	_, err = r.Open(t.Context(), b, harness.Settings{})
	require.ErrorContains(t, err, "the function wants 1 volumes, 0 folders are open")

	opened, err := volume.Open("ref", dir, volume.NewBlocklist())
	require.NoError(t, err)
	defer opened.Close()
	s, err := r.Open(t.Context(), b, harness.Settings{Volumes: []*volume.Folder{opened}})
	require.NoError(t, err)
	defer func() { require.NoError(t, s.Close()) }()
	require.Equal(t, `"one"`, run(t, s, "1").Output)
}

// A function that wants to write to a volume does not get one that is only shown.
func TestVolumesAreNotWritten(t *testing.T) {
	b, err := bundle.Pack(folder(t, "def handler(x):\n    return x\n", "[[volumes]]\nname = \"ref\"\nmode = \"rw\"\n"))
	require.NoError(t, err)
	opened, err := volume.Open("ref", t.TempDir(), volume.NewBlocklist())
	require.NoError(t, err)
	defer opened.Close()
	_, err = runner(t).Open(t.Context(), b, harness.Settings{Volumes: []*volume.Folder{opened}})
	require.ErrorContains(t, err, `the function wants volume ref with mode "rw", and its folder is open with mode "ro"`)
}
