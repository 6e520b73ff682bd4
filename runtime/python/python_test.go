package python

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestInstallEmbedded(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "python")
	var done, total int64
	tree, err := Open(context.Background(), Options{Dir: dir, Progress: func(d, n int64) { require.GreaterOrEqual(t, d, done); done, total = d, n }})
	require.NoError(t, err)
	require.NoError(t, tree.Release())
	require.Equal(t, total, done)
	require.Empty(t, tree.Repaired)
	t.Logf("%+v", tree)

	// Compiled on their own, these give the same bytes as with all the others.
	broken := []string{"lib/python3.14/__pycache__/typing.cpython-314.pyc", "lib/python3.14/json/__pycache__/__init__.cpython-314.pyc", "lib/python3.14/json/decoder.py", "bin/python3.14"}
	for _, name := range broken {
		require.NoError(t, os.Remove(filepath.Join(tree.Dir, name)))
		require.NoError(t, os.WriteFile(filepath.Join(tree.Dir, name), []byte("x"), 0o444))
	}
	planted := filepath.Join(tree.Dir, "lib", "python3.14", "antigravity2.py")
	require.NoError(t, os.WriteFile(planted, []byte("print(1)\n"), 0o444))
	tree, err = Install(context.Background(), dir)
	require.NoError(t, err)
	require.ElementsMatch(t, append(broken, "lib/python3.14/antigravity2.py"), tree.Repaired)
	require.NoFileExists(t, planted)
	out, err := exec.Command(tree.Interpreter, "-s", "-S", "-B", "-c", "import json, ssl, sqlite3, ctypes, hashlib; print(json.__cached__)").CombinedOutput()
	require.NoError(t, err, "%s", out)
	facts, err := tree.Facts(context.Background())
	require.NoError(t, err)
	t.Logf("%+v", facts)
	require.NoError(t, tree.Release())
}

func TestSystem(t *testing.T) {
	tree, err := Open(context.Background(), Options{Python: UseSystem})
	require.NoError(t, err)
	t.Logf("%+v", tree)
}
