//go:build linux

package linux

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/runtime/bundle"
	"github.com/ostraka/ostraka/runtime/harness"
)

// threaded has a thread that works on between shards.
const threaded = `import os, threading

def work():
    while True:
        pass

threading.Thread(target=work, daemon=True).start()

def handler(x):
    return [x, os.environ["OSTRAKA_SEED"]]
`

// TestASandboxRests: nothing of it runs meanwhile, and afterwards it serves another job as a new one would.
func TestASandboxRests(t *testing.T) {
	if os.Geteuid() != 0 {
		require.NotContains(t, levelsHere(), bundle.Linux, "without a cgroup nothing rests")
	}
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "main.py"), []byte(threaded), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, bundle.ManifestName), []byte("name = \"f\"\n"), 0o600))
	b, err := bundle.Pack(dir)
	require.NoError(t, err)
	for _, level := range levelsHere() {
		t.Run(string(level), func(t *testing.T) {
			s, err := newRunner(t, level).Open(t.Context(), b, harness.Settings{Job: "one"})
			require.NoError(t, err)
			run := func(job string) {
				r, err := s.Run(t.Context(), 7, []byte(`5`))
				require.NoError(t, err)
				require.JSONEq(t, `[5,"`+strconv.FormatUint(harness.Seed(b.Digest, job, 7), 10)+`"]`, r.Output)
			}
			run("one")
			if level != bundle.Linux {
				require.False(t, s.Rest(), "only a cgroup knows all processes")
				require.ErrorIs(t, s.Wake("two"), errNotListed, "nothing else of the machine is signalled")
				require.NoError(t, s.Close())
				return
			}
			require.True(t, s.Rest())
			require.True(t, s.group.allStopped(t), "everything in it is stopped")
			for range 20 { // whatever it is doing: a fork, for one
				require.NoError(t, s.Wake("two"))
				run("two")
				require.True(t, s.Rest())
			}
			require.NoError(t, s.Close(), "what is stopped can be ended")
			_, err = os.Stat(s.group.dir())
			require.ErrorIs(t, err, os.ErrNotExist)
		})
	}
}

func (g *group) allStopped(t *testing.T) bool {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(g.dir(), "cgroup.procs"))
	require.NoError(t, err)
	pids := strings.Fields(string(text))
	for _, pid := range pids {
		stat, err := os.ReadFile("/proc/" + pid + "/stat")
		require.NoError(t, err)
		_, after, _ := strings.Cut(string(stat), ") ")
		if !strings.HasPrefix(after, "T") {
			return false
		}
	}
	return len(pids) > 1
}
