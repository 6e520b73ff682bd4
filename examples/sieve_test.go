package examples

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSieveIsItsSource: anyone can check that the committed module comes from the source beside it, where the compiler is installed.
func TestSieveIsItsSource(t *testing.T) {
	committed, err := os.ReadFile("sieve/function.wasm")
	require.NoError(t, err)
	require.Equal(t, "\x00asm", string(committed[:4]))
	if os.Getenv("OSTRAKA_REBUILD") == "" {
		return
	}
	fresh := filepath.Join(t.TempDir(), "function.wasm")
	text, err := exec.Command("sieve/build.sh", fresh).CombinedOutput()
	require.NoError(t, err, "%s", text)
	built, err := os.ReadFile(fresh)
	require.NoError(t, err)
	require.Equal(t, built, committed, "run examples/sieve/build.sh and commit the module")
}
