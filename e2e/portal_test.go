package e2e

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

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
	all, each := portalTimes(t)
	env := append(os.Environ(), "OSTRAKA_TEST_TIMEOUT="+milliseconds(each), "OSTRAKA_URL="+d.URL, "OSTRAKA_KEY="+d.OwnerKey, "OSTRAKA_PROJECT="+d.Project, "OSTRAKA_OPERATOR_KEY="+d.OperatorKey,
		"OSTRAKA_CHROMIUM="+browser, "OSTRAKA_PICTURES="+pictures)
	for _, args := range [][]string{{"function", "push", "../examples/bpsw"}, {"function", "push", "../web/test/echo"}, {"function", "push", "../web/test/dice"}, {"workflow", "push", "../examples/workflow-bpsw"}} {
		push := exec.CommandContext(t.Context(), binary, args...)
		push.Env = env
		out, err := push.CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
	ctx, cancel := context.WithTimeout(t.Context(), all)
	defer cancel()
	cmd := exec.CommandContext(ctx, "node", "--test", "--test-concurrency=1", "--test-timeout="+milliseconds(all), "test/portal.test.mjs", "test/steer.test.mjs", "test/pages.test.mjs")
	cmd.Env, cmd.Dir, cmd.WaitDelay = env, "../web", 10*time.Second
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) } // node ends the browser then
	out, err := cmd.CombinedOutput()
	t.Logf("%s", out)
	require.NoError(t, ctx.Err(), "the tests in web/test took longer than %s; the one after the last that is named above was going on", all)
	require.NoError(t, err, "the tests in web/test; scripts/setup.sh web installs what they need")
}

// portalTimes is how long all tests of the portal may take, and how long each: less than go test waits, which says nothing of what node does.
func portalTimes(t *testing.T) (all, each time.Duration) {
	t.Helper()
	all = time.Hour
	if deadline, ok := t.Deadline(); ok {
		all = time.Until(deadline) - 30*time.Second
	}
	require.Positive(t, all, "go test's -timeout leaves the portal no time")
	return all, min(all/2, 10*time.Minute)
}

func milliseconds(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }
