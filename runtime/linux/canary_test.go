//go:build linux

package linux

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestCanary: every level that this machine has holds.
func TestCanary(t *testing.T) {
	hidden := filepath.Join(t.TempDir(), "agent.key")
	require.NoError(t, os.WriteFile(hidden, []byte("secret"), 0o644))
	for _, level := range levelsHere() {
		t.Run(string(level), func(t *testing.T) {
			r := newRunner(t, level)
			require.NoError(t, r.Prove(t.Context(), hidden, filepath.Dir(hidden)))
		})
	}
}
