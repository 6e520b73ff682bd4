//go:build linux

package linux

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/ostraka/ostraka/runtime/bundle"
	"github.com/ostraka/ostraka/runtime/harness"
)

// TestASlowShardCostsItsZygoteNoMore: the longer a shard takes, the more processes it may have started, and a zygote without /proc asked for
// each of all numbers that there are whether it is one of them: 80 ms of processor for 32,768 of them, a quick shard takes it 1 ms.
func TestASlowShardCostsItsZygoteNoMore(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "main.py"), []byte("import time\ndef handler(x): time.sleep(x)\n"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, bundle.ManifestName), []byte("name = \"f\"\n"), 0o600))
	b, err := bundle.Pack(dir)
	require.NoError(t, err)
	for _, level := range levelsHere() {
		t.Run(string(level), func(t *testing.T) {
			s, err := newRunner(t, level).Open(t.Context(), b, harness.Settings{})
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, s.Close()) })
			run := func(input string) (spent time.Duration) {
				began := processorTime(t, s.session.PID())
				for i := range 5 {
					r, err := s.Run(t.Context(), int64(i), []byte(input))
					require.NoError(t, err)
					require.Equal(t, harness.StatusOK, r.Status, "%+v", r.Exception)
				}
				return processorTime(t, s.session.PID()) - began
			}
			run("0")
			quick := run("0")
			require.Less(t, run("0.5"), 5*quick)
		})
	}
}

// processorTime is what a process has used.
func processorTime(t *testing.T, pid int) time.Duration {
	t.Helper()
	var used unix.Timespec
	require.NoError(t, unix.ClockGettime(int32(^pid<<3|2), &used)) // CPUCLOCK_SCHED of the process, as clock_getcpuclockid(3) makes it
	return time.Duration(used.Nano())
}
