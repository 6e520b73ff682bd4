//go:build linux

package docker

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/runtime/bundle"
	"github.com/ostraka/ostraka/runtime/harness"
	"github.com/ostraka/ostraka/runtime/linux/corpustest"
)

// TestCorpus runs every hostile program of runtime/linux in containers of every level that the tests' daemon has, and an honest one after each.
func TestCorpus(t *testing.T) {
	secret := t.TempDir() + "/server.key"
	require.NoError(t, os.WriteFile(secret, []byte("secret"), 0o644))
	t.Setenv("OSTRAKA_CANARY", "CANARY")
	corpus, err := corpustest.Programs()
	require.NoError(t, err)
	for _, level := range levelsHere() {
		t.Run(string(level), func(t *testing.T) {
			x := newExecutor(t, at(level))
			require.NoError(t, x.Health(t.Context()))
			require.Equal(t, level, x.Describe().Level)
			for _, g := range corpustest.Groups(corpus, level) {
				runCorpus(t, x, g, secret)
			}
		})
	}
	require.FileExists(t, secret)
}

func runCorpus(t *testing.T, x *Executor, g corpustest.Group, secret string) {
	t.Helper()
	var inputs []string
	for _, p := range g.Programs {
		for _, source := range []string{p.Source, corpustest.Honest} {
			input, err := corpustest.Input(source, secret, true)
			require.NoError(t, err)
			inputs = append(inputs, string(input))
		}
	}
	b, err := g.Pack(t.TempDir())
	require.NoError(t, err)
	results, level := run(t, x, b, inputs...), x.Describe().Level
	for i, p := range g.Programs {
		t.Run(p.Name, func(t *testing.T) {
			got, after := results[2*i], results[2*i+1]
			require.Contains(t, p.Statuses(level), string(got.Status), "%+v\n%s", got.Exception, got.StderrTail)
			if got.Status == harness.StatusOK && !p.Reaches(level) {
				require.Equal(t, corpustest.Nothing, got.Output)
			}
			require.Equal(t, corpustest.Fine, after.Output, "the next shard suffers: %s %+v", after.Status, after.Exception)
		})
	}
}

// TestGVisor finds what the daemon has, and what it has not.
func TestGVisor(t *testing.T) {
	x := newExecutor(t, func(c *Config) { c.RequireGVisor = true })
	if hasGVisor() {
		require.NoError(t, x.Health(t.Context()))
		require.Equal(t, bundle.GVisor, x.Describe().Level)
		require.Equal(t, "2", run(t, x, pack(t, "def handler(x):\n    return x + 1\n", ""), "1")[0].Output)
		return
	}
	require.ErrorContains(t, x.Health(t.Context()), "has no runtime "+gvisorRuntime)
	x = newExecutor(t)
	require.NoError(t, x.Health(t.Context()))
	require.Equal(t, bundle.Container, x.Describe().Level)
}
