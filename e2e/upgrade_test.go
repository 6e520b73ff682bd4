//go:build upgrade

package e2e

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// versionBefore is the commit that stands for the version before this one until there is a release; then it is the release's. Since it
// both kinds of schemas were migrated, and agents sign results in another way.
const versionBefore = "ca406a2962476ad8baab999e11f0a05aba94226f"

// TestAnUpgradeInTheMiddleOfAJob goes from the version before to this one, as operators do: while a job runs, one server after the other,
// with an agent that nobody upgrades. The agent sleeps while servers start, so that the job is not done before they have, however slow
// this machine is.
func TestAnUpgradeInTheMiddleOfAJob(t *testing.T) {
	t.Parallel()
	before, now := programBefore(t), program(t)
	w := &world{t: t, dir: t.TempDir(), binary: before, address: freeAddress(t), leaseTTL: "60s", rechecks: "none"}
	w.open(0)
	d := newDayOf(t, w, strings.ReplaceAll(dayFunction, "0.02", "0.2"))
	agent := d.start("old", "http://"+d.address)
	d.untilAccepted(10)
	old := w.server
	require.NotEqual(t, d.schemas(now), d.schemas(before), "the version before has other schemas")

	// The first new server migrates the database under the old one, which works on with its agent.
	second := *w
	second.binary, second.address = now, freeAddress(t)
	d.asleep(agent, second.startServer)
	require.NotContains(t, run(t, now, w.serverEnv(), "migrate", "status"), "behind")
	d.untilAccepted(d.status().Shards.Accepted + 10)
	d.seenBy(second.address)
	d.seenBy(w.address)

	// An old server that is started again serves, too. Then the old ones go, and a new one comes in their place.
	d.asleep(agent, func() {
		again := *w
		again.address = freeAddress(t)
		again.startServer()
		d.seenBy(again.address)
		again.server.kill()
		old.kill()
		w.binary = now
		w.startServer()
	})
	d.untilAccepted(d.status().Shards.Accepted + 10)
	d.binary = now
	d.start("new", "http://"+second.address)
	d.end()

	owner := append(w.serverEnv(), "OSTRAKA_URL=http://"+w.address, "OSTRAKA_KEY="+d.project.ownerKey, "OSTRAKA_PROJECT="+d.project.id.String())
	run(t, now, owner, "audit", "verify")
	run(t, now, owner, "job", "receipt", d.job.String())
}

// asleep does something while an agent is stopped.
func (d *day) asleep(agent *process, while func()) {
	d.t.Helper()
	require.NoError(d.t, agent.cmd.Process.Signal(syscall.SIGSTOP))
	while()
	require.NoError(d.t, agent.cmd.Process.Signal(syscall.SIGCONT))
}

// seenBy wants a server to show the job.
func (d *day) seenBy(address string) {
	d.t.Helper()
	res, err := connect(d.t, address, d.project.ownerKey).GetJobWithResponse(d.t.Context(), d.project.id, d.job, nil)
	require.NoError(d.t, err)
	require.NotNil(d.t, res.JSON200, string(res.Body))
	agents, err := connect(d.t, address, d.project.ownerKey).ListProjectAgentsWithResponse(d.t.Context(), d.project.id, nil)
	require.NoError(d.t, err)
	require.Equal(d.t, http.StatusOK, agents.StatusCode(), string(agents.Body))
}

// schemas is what a program says of the database's schemas.
func (d *day) schemas(binary string) string {
	d.t.Helper()
	cmd := exec.CommandContext(d.t.Context(), binary, "migrate", "status")
	cmd.Env = d.serverEnv()
	out, err := cmd.Output() // fails where they are behind
	if err != nil {
		var ended *exec.ExitError
		require.ErrorAs(d.t, err, &ended)
	}
	return string(out)
}

// programBefore builds the program of the version before, from the repository's history.
func programBefore(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "before")
	require.NoError(t, os.Mkdir(dir, 0o700))
	archive := filepath.Join(dir, "source.tar")
	history := exec.CommandContext(t.Context(), "git", "archive", "--output", archive, versionBefore)
	history.Dir = ".." // in a folder below, it would archive that alone
	out, err := history.CombinedOutput()
	require.NoError(t, err, "this test needs the repository's history (git fetch --unshallow): %s", out)
	out, err = exec.CommandContext(t.Context(), "tar", "-xf", archive, "-C", dir).CombinedOutput()
	require.NoError(t, err, string(out))
	path := filepath.Join(dir, "ostraka-before")
	build := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-o", path, "./cmd/ostraka")
	build.Dir, build.Env = dir, append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=-buildvcs=false")
	out, err = build.CombinedOutput()
	require.NoError(t, err, string(out))
	require.NoError(t, os.Remove(archive))
	return path
}
