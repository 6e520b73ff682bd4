//go:build linux

package linux

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/ostraka/ostraka/runtime/bundle"
	"github.com/ostraka/ostraka/runtime/harness"
)

// widen is a function that takes all processors that it can get, and says how many that are.
const widen = `import os

def handler(x):
    try:
        os.sched_setaffinity(0, range(x))
    except OSError:
        pass
    return len(os.sched_getaffinity(0))
`

// TestProcessors: a sandbox has no more processors than it was given, whatever its function does.
func TestProcessors(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "main.py"), []byte(widen), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, bundle.ManifestName), []byte("name = \"widen\"\n"), 0o600))
	b, err := bundle.Pack(dir)
	require.NoError(t, err)
	var given unix.CPUSet
	require.NoError(t, unix.SchedGetaffinity(0, &given))
	for _, level := range levelsHere() {
		t.Run(string(level), func(t *testing.T) {
			r := newRunner(t, level)
			for _, processors := range []int{1, 0} {
				r.LimitProcessors(processors)
				s, err := r.Open(t.Context(), b, harness.Settings{})
				require.NoError(t, err)
				input, err := json.Marshal(4096)
				require.NoError(t, err)
				got, err := s.Run(t.Context(), 0, input)
				require.NoError(t, err)
				require.Equal(t, harness.StatusOK, got.Status, "%+v", got.Exception)
				require.Equal(t, mustJSON(t, given.Count()), got.Output)
				if s.group != nil && r.groups.folder(cpuController) != "" {
					require.Equal(t, quotaText(r.groups.version(cpuController), processors), quotaOf(t, s))
				}
				require.NoError(t, s.Close())
			}
		})
	}
}

func mustJSON(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	require.NoError(t, err)
	return string(text)
}

// quotaText is how the kernel writes that many processors; 0: all.
func quotaText(version, processors int) string {
	switch {
	case version == 2 && processors == 0:
		return "max 100000\n"
	case version == 2:
		return "100000 100000\n"
	case processors == 0:
		return "-1\n"
	}
	return "100000\n"
}

func quotaOf(t *testing.T, s *Sandbox) string {
	t.Helper()
	name := "cpu.max"
	if s.runner.groups.version(cpuController) == 1 {
		name = "cpu.cfs_quota_us"
	}
	text, err := os.ReadFile(s.group.file(cpuController, name))
	require.NoError(t, err)
	return string(text)
}
