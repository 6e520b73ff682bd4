//go:build linux

package linux

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/runtime/bundle"
	"github.com/ostraka/ostraka/runtime/harness"
	"github.com/ostraka/ostraka/runtime/linux/corpustest"
)

// TestCorpus runs every hostile program, and an honest one after it.
func TestCorpus(t *testing.T) {
	t.Setenv("OSTRAKA_CANARY", "CANARY")
	corpus, err := corpustest.Programs()
	require.NoError(t, err)
	for _, level := range levelsHere() {
		t.Run(string(level), func(t *testing.T) {
			for _, g := range corpustest.Groups(corpus, level) {
				runCorpus(t, level, g)
			}
		})
	}
}

func runCorpus(t *testing.T, level bundle.Isolation, g corpustest.Group) {
	t.Helper()
	dir := t.TempDir()
	secret := filepath.Join(dir, "agent.key")
	require.NoError(t, os.WriteFile(secret, []byte("secret"), 0o644))
	b, err := g.Pack(t.TempDir())
	require.NoError(t, err)
	s, err := newRunner(t, level).Open(t.Context(), b, harness.Settings{})
	require.NoError(t, err)
	defer func() { require.NoError(t, s.Close()) }()
	run := func(t *testing.T, source string) harness.Result {
		t.Helper()
		input, err := corpustest.Input(source, secret, level != bundle.Landlock)
		require.NoError(t, err)
		got, err := s.Run(t.Context(), 0, input)
		require.NoError(t, err)
		return got
	}
	for _, p := range g.Programs {
		t.Run(p.Name, func(t *testing.T) {
			got := run(t, p.Source)
			require.Contains(t, p.Statuses(level), string(got.Status), "%+v\n%s", got.Exception, got.StderrTail)
			if got.Status == harness.StatusOK {
				require.Equal(t, corpustest.Nothing, got.Output)
			}
			require.Equal(t, corpustest.Fine, run(t, corpustest.Honest).Output, "the next shard suffers")
			require.FileExists(t, secret)
		})
	}
}
