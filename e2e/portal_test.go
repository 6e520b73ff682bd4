package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestPortal opens the portal in a real browser, while real agents work and one of them lies. Its tests are in web/test; they leave
// pictures, in OSTRAKA_PICTURES where that is set.
func TestPortal(t *testing.T) {
	binary := program(t)
	d := startDev(t, binary, "--agents", "4", "--liars", "1", "--liar-probability", "0.5", "--recheck-sandbox", "linux", "--webhook-allow", "127.0.0.0/8")
	browser, err := exec.LookPath("chromium")
	require.NoError(t, err, "there is no browser: scripts/setup.sh test installs one")
	pictures := os.Getenv("OSTRAKA_PICTURES")
	if pictures == "" {
		pictures = t.ArtifactDir()
	}
	pictures, err = filepath.Abs(pictures)
	require.NoError(t, err)
	env := append(os.Environ(), "OSTRAKA_URL="+d.URL, "OSTRAKA_KEY="+d.OwnerKey, "OSTRAKA_PROJECT="+d.Project, "OSTRAKA_OPERATOR_KEY="+d.OperatorKey,
		"OSTRAKA_CHROMIUM="+browser, "OSTRAKA_PICTURES="+pictures)
	for _, args := range [][]string{{"function", "push", "../examples/bpsw"}, {"function", "push", "../web/test/echo"}, {"function", "push", "../web/test/dice"}, {"workflow", "push", "../examples/workflow-bpsw"}} {
		push := exec.CommandContext(t.Context(), binary, args...)
		push.Env = env
		out, err := push.CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
	// One after the other, as they stand here: the first ones say what there is not yet, and the last one needs something of everything.
	for _, file := range []string{"portal", "steer", "stream", "push", "pages"} {
		cmd := exec.CommandContext(t.Context(), "node", "--test", "test/"+file+".test.mjs")
		cmd.Env, cmd.Dir = env, "../web"
		out, err := cmd.CombinedOutput()
		t.Logf("%s", out)
		require.NoError(t, err, "web/test/%s.test.mjs; scripts/setup.sh web installs what it needs", file)
	}
}
