package tree_test

import (
	"context"
	"log/slog"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/runtime/bundle"
	"github.com/ostraka/ostraka/runtime/harness"
	"github.com/ostraka/ostraka/runtime/linux"
	"github.com/ostraka/ostraka/runtime/process"
	"github.com/ostraka/ostraka/runtime/python"
	"github.com/ostraka/ostraka/runtime/tree"
	"github.com/ostraka/ostraka/runtime/tree/treetest"
)

func TestMain(m *testing.M) {
	linux.MaybeLaunch() // the tests start this program again, as sandboxes
	os.Exit(m.Run())
}

const usesNumpy = `import sys, numpy
def handler(n, context):
    g = numpy.random.Generator(numpy.random.PCG64(n))
    a = g.standard_normal((64, 64))
    return [numpy.__version__, float(numpy.linalg.det(a @ a.T)).hex(), sys.prefix == sys.base_prefix]
`

type session interface {
	Run(ctx context.Context, index int64, input []byte) (harness.Result, error)
	Close() error
}

// TestNumpyRuns has the same tree give the same bits at both levels that agents have for it.
func TestNumpyRuns(t *testing.T) {
	n := treetest.OfNumpy(t)
	cache, err := tree.NewCache(t.TempDir(), tree.DefaultCacheBytes, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	at, release, err := cache.Get(t.Context(), n.Digest, n.Fetch)
	require.NoError(t, err)
	defer release()
	code, err := bundle.Pack(n.Folder(t, usesNumpy, ""))
	require.NoError(t, err)
	own, err := python.Open(t.Context(), python.Options{})
	require.NoError(t, err)

	plain, err := process.New(process.Config{Python: own, Dir: t.TempDir()})
	require.NoError(t, err)
	walled, err := linux.New(linux.Config{Python: own, Dir: t.TempDir(), Level: bundle.Linux})
	require.NoError(t, err)
	on, err := walled.On(at)
	require.NoError(t, err)
	var first string
	for level, open := range map[string]func() (session, error){
		"process": func() (session, error) { return plain.On(at).Open(t.Context(), code, harness.Settings{}) },
		"linux":   func() (session, error) { return on.Open(t.Context(), code, harness.Settings{}) },
	} {
		s, err := open()
		require.NoError(t, err, level)
		r, err := s.Run(t.Context(), 0, []byte("7"))
		require.NoError(t, err, level)
		require.Equal(t, harness.StatusOK, r.Status, "%s: %+v", level, r.Exception)
		require.Contains(t, r.Interpreter, "(runtime:"+n.Digest[:16]+")")
		if first == "" {
			first = r.Output
		}
		require.Equal(t, first, r.Output, level)
		t.Log(level, r.Output, r.Interpreter, r.Libc, r.CPUMicros, r.PeakRSSBytes, r.StderrTail)
		require.NoError(t, s.Close())
	}
	t.Log(n.Manifest.Bytes(), len(n.Manifest.Entries), len(n.Manifest.Pieces), n.Manifest.Python)
}
