package python

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestEmbedded unpacks the real one anew: what Python compiles here is what the manifest has, all at once and one by one.
func TestEmbedded(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "python")
	tree, err := Install(t.Context(), dir)
	require.NoError(t, err)
	require.NoError(t, tree.Release())
	require.Empty(t, tree.Repaired)

	broken := []string{
		"lib/python3.14/__pycache__/typing.cpython-314.pyc", "lib/python3.14/json/__pycache__/__init__.cpython-314.pyc",
		"lib/python3.14/json/decoder.py", "bin/python3.14",
	}
	for _, name := range broken {
		require.NoError(t, os.Remove(filepath.Join(tree.Dir, name)))
		require.NoError(t, os.WriteFile(filepath.Join(tree.Dir, name), []byte("x"), 0o444))
	}
	tree, err = Install(t.Context(), dir)
	require.NoError(t, err)
	require.ElementsMatch(t, broken, tree.Repaired)
	require.NoError(t, tree.Release())

	out, err := exec.Command(tree.Interpreter, "-s", "-S", "-B", "-v", "-c", "import bz2, ctypes, decimal, hashlib, json, lzma, sqlite3, ssl, zlib").CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Contains(t, string(out), filepath.Join(tree.Dir, "lib/python3.14/json/__pycache__/decoder.cpython-314.pyc"))
	require.NotContains(t, string(out), "bytecode is stale")
}

// TestDescribed holds what sandboxes and results rely on.
func TestDescribed(t *testing.T) {
	tree, err := Open(t.Context(), Options{})
	require.NoError(t, err)
	defer func() { require.NoError(t, tree.Release()) }()
	facts, err := tree.Facts(t.Context())
	require.NoError(t, err)
	require.Equal(t, "cpython "+tree.Version, facts.Interpreter)
	require.Equal(t, tree.Interpreter, facts.Executable)
	require.Equal(t, []string{filepath.Join(tree.Dir, "lib", "python3.14")}, facts.Library)
	requireLibraries(t, tree)
	require.Contains(t, names(tree.Libraries), "libc.so.6")
	require.Contains(t, names(tree.Libraries), "libm.so.6")
}

func TestSystem(t *testing.T) {
	tree, err := Open(t.Context(), Options{Python: UseSystem})
	require.NoError(t, err)
	require.Equal(t, OriginSystem, tree.Origin)
	require.Empty(t, tree.Dir)
	require.Equal(t, tree.Interpreter, tree.Paths[0])
	require.Greater(t, len(tree.Paths), 1)
	requireLibraries(t, tree)
	again, err := System(t.Context(), tree.Interpreter)
	require.NoError(t, err)
	require.Equal(t, tree, again)
}

func TestNoPython(t *testing.T) {
	_, err := System(t.Context(), "/none/python3")
	require.ErrorContains(t, err, "/none/python3")
	_, err = System(t.Context(), "/bin/echo")
	require.ErrorContains(t, err, "is it Python?")
	_, err = System(t.Context(), "/bin/false")
	require.ErrorContains(t, err, "asking /bin/false what it is")
	t.Setenv("PATH", t.TempDir())
	_, err = Open(t.Context(), Options{Python: UseSystem})
	require.ErrorContains(t, err, "leave out --python")
}

func requireLibraries(t *testing.T, tree Tree) {
	t.Helper()
	require.Contains(t, filepath.Base(tree.Libraries[0]), "ld-linux", "the loader comes first")
	for _, l := range tree.Libraries {
		require.True(t, filepath.IsAbs(l), l)
		require.FileExists(t, l)
	}
}

func names(paths []string) (all []string) {
	for _, p := range paths {
		all = append(all, filepath.Base(p))
	}
	return all
}

// BenchmarkVerify is what every start of an agent pays.
func BenchmarkVerify(b *testing.B) {
	for b.Loop() {
		tree, err := Open(b.Context(), Options{})
		require.NoError(b, err)
		require.NoError(b, tree.Release())
	}
}
