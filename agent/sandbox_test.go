package agent

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/agent/isolation"
	"github.com/ostraka/ostraka/runtime/bundle"
	"github.com/ostraka/ostraka/runtime/python"
)

// The whole way with a real interpreter: what the server is told at enrolment is what comes with the results.
func TestRealSandbox(t *testing.T) {
	t.Parallel()
	t.Run("process", func(t *testing.T) { testRealSandbox(t, bundle.Process, []string{"process"}) })
	t.Run("strongest", func(t *testing.T) { testRealSandbox(t, "", []string{"linux", "linux-nocgroup"}) })
}

func testRealSandbox(t *testing.T, wanted bundle.Isolation, levels []string) {
	t.Helper()
	f, s := newFakeServer(t, 6)
	o := testOptions(t, s)
	o.Sandbox, o.Isolation = nil, wanted
	var err error
	o.PythonDir, err = python.DefaultDir() // unpacked once for all tests
	require.NoError(t, err)
	stop := start(t, o)
	f.untilResults(6)
	require.NoError(t, stop())
	tree, err := python.Open(t.Context(), python.Options{})
	require.NoError(t, err)
	sandbox, err := isolation.NewSandbox(tree, t.TempDir())
	require.NoError(t, err)
	interpreter, libc, err := sandbox.Describe(t.Context())
	require.NoError(t, err)
	for shard, r := range f.results {
		require.Equal(t, []string{"0", "2", "4", "6", "8", "10"}[shard], r.Output)
		require.Equal(t, interpreter, r.Interpreter)
		require.Contains(t, r.Interpreter, "embedded:"+tree.Digest[:16])
		require.Equal(t, libc, r.Libc)
		require.Contains(t, levels, r.Isolation)
		require.Positive(t, r.WallUs)
	}
}
