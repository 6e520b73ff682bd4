package examples

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestFunctionsAreTheirSource: anyone can check that the committed modules come from the source beside them, where the compilers are installed.
func TestFunctionsAreTheirSource(t *testing.T) {
	for _, name := range []string{"sieve", "bpsw-rust"} {
		t.Run(name, func(t *testing.T) { isItsSource(t, name) })
	}
}

func isItsSource(t *testing.T, name string) {
	t.Helper()
	committed, err := os.ReadFile(name + "/function.wasm")
	require.NoError(t, err)
	require.Equal(t, "\x00asm", string(committed[:4]))
	if os.Getenv("OSTRAKA_REBUILD") == "" {
		return
	}
	fresh := filepath.Join(t.TempDir(), "function.wasm")
	text, err := exec.Command(name+"/build.sh", fresh).CombinedOutput()
	require.NoError(t, err, "%s", text)
	built, err := os.ReadFile(fresh)
	require.NoError(t, err)
	require.Equal(t, built, committed, "run examples/%s/build.sh and commit the module", name)
}
