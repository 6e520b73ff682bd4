package e2e

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/runtime/bundle"
	"github.com/ostraka/ostraka/testenv"
)

// gatedFunction waits for a file to appear in a folder, so that the test says when a shard goes on. It waits only where the folder is: the server
// executes one in a hundred shards of a quorum in a sandbox that has no such folder, and would wait there for as long as a shard may take.
const gatedFunction = `import os, time
gates = %q
def handler(x):
    while os.path.isdir(gates) and not os.path.exists(os.path.join(gates, "open")):
        time.sleep(0.02)
    return {"n": 1}
`

// TestTheKillswitchStopsRealAgents stops real agents in the middle of real shards: at once, through a restart of the server, also
// agents that were away, and lets the job come to its right end afterwards.
func TestTheKillswitchStopsRealAgents(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	w := startWorld(t, 2, "--isolation", "process") // the test talks to its function through a file
	gates := t.TempDir()
	job := w.submitGated(ctx, gates)
	first := w.untilSandboxes(ctx, 2)[0]
	require.Equal(t, "gated", first.Function)

	// One sandbox is ended; its shards are lent again.
	ended, err := w.project.owner.TerminateProjectSandboxWithResponse(ctx, w.project.id, first.ID, nil, client.Termination{Force: true})
	require.NoError(t, err)
	require.NotNil(t, ended.JSON200, string(ended.Body))
	testenv.Eventually(t, func() bool { return w.sandbox(ctx, first.ID).State == client.SandboxStateEnded }, "the sandbox has ended")
	w.untilSandboxes(ctx, 2)

	// Everything of the function is stopped. One agent is killed before, so that it cannot hear of it.
	w.agents[1].kill()
	scope := client.ProjectKillScope{Scope: "function", Function: "gated"}
	on, err := w.project.owner.KillInProjectWithResponse(ctx, w.project.id, nil, client.NewProjectKillSwitch{Scope: "function", Function: "gated", Reason: "a test"})
	require.NoError(t, err)
	require.NotNil(t, on.JSON200, string(on.Body))
	testenv.Eventually(t, func() bool {
		s := w.switchStatus(ctx, on.JSON200.ID)
		return s.Confirmed == 1 && s.Leases == 0
	}, "the agent that is there confirms, and the lease of the other one runs out")
	testenv.Eventually(t, func() bool { return len(sandboxProcesses(t, w.dir)) == 0 }, "nothing runs, also of the agent that was killed")

	// The server forgets nothing, and the agent that comes back is lent nothing.
	w.killServer()
	w.agents[1] = w.startAgent(1)
	testenv.Eventually(t, func() bool { s := w.switchStatus(ctx, on.JSON200.ID); return s.Silent && s.Confirmed == 2 }, "both have confirmed")
	require.Empty(t, sandboxProcesses(t, w.dir))
	why, err := w.project.owner.ExplainJobWithResponse(ctx, w.project.id, job)
	require.NoError(t, err)
	require.NotNil(t, why.JSON200, string(why.Body))
	require.Equal(t, "killswitch", why.JSON200.Reasons[0].Code)

	require.NoError(t, os.WriteFile(filepath.Join(gates, "open"), nil, 0o600))
	off, err := w.project.owner.ReleaseInProjectWithResponse(ctx, w.project.id, nil, scope)
	require.NoError(t, err)
	require.NotNil(t, off.JSON200, string(off.Body))
	require.True(t, off.JSON200.WasOn)
	testenv.Eventually(t, func() bool { return w.ended(ctx, job) }, "the job ends")
	done := w.job(ctx, job)
	require.EqualValues(t, "finished", done.State, done.Error)
	require.Equal(t, `{"n":40}`, string(done.Aggregate.Value))
}

func (w *world) submitGated(ctx context.Context, gates string) uuid.UUID {
	w.t.Helper()
	file := filepath.Join(w.dir, "gated.py")
	require.NoError(w.t, os.WriteFile(file, fmt.Appendf(nil, gatedFunction, gates), 0o600))
	packed, err := bundle.Pack(file)
	require.NoError(w.t, err)
	pushed, err := w.project.owner.PushFunctionWithBodyWithResponse(ctx, w.project.id, nil, "application/octet-stream", bytes.NewReader(packed.Archive()))
	require.NoError(w.t, err)
	require.NotNil(w.t, pushed.JSON201, string(pushed.Body))
	submitted, err := w.project.owner.SubmitJobWithResponse(ctx, w.project.id, nil, client.JobRequest{
		Function: "gated", Partition: client.Partition{Kind: "range", From: "0", To: "40", Size: "1"},
		Policy: &client.PolicyRequest{Quorum: 2}, Aggregator: &client.AggregatorRequest{Module: "sum"},
	})
	require.NoError(w.t, err)
	require.NotNil(w.t, submitted.JSON201, string(submitted.Body))
	return submitted.JSON201.ID
}

// untilSandboxes waits until so many sandboxes run, each in the middle of a shard.
func (w *world) untilSandboxes(ctx context.Context, n int) (running []client.Sandbox) {
	w.t.Helper()
	testenv.Eventually(w.t, func() bool {
		list, err := w.project.owner.ListProjectSandboxesWithResponse(ctx, w.project.id, &client.ListProjectSandboxesParams{Running: new(true)})
		if err != nil || list.JSON200 == nil {
			return false
		}
		running = list.JSON200.Items
		return len(running) == n && !slices.ContainsFunc(running, func(b client.Sandbox) bool { return b.Shard == nil })
	}, "%d sandboxes run", n)
	return running
}

func (w *world) sandbox(ctx context.Context, id uuid.UUID) client.Sandbox {
	got, err := w.project.owner.GetProjectSandboxWithResponse(ctx, w.project.id, id)
	if err != nil || got.JSON200 == nil {
		return client.Sandbox{}
	}
	return *got.JSON200
}

func (w *world) switchStatus(ctx context.Context, id uuid.UUID) client.KillStatus {
	got, err := w.project.owner.GetProjectKillSwitchWithResponse(ctx, w.project.id, id, nil)
	if err != nil || got.JSON200 == nil {
		return client.KillStatus{}
	}
	return *got.JSON200
}

// sandboxProcesses are the processes whose working directory is below the agents' folders.
func sandboxProcesses(t *testing.T, dir string) (found []string) {
	t.Helper()
	links, err := filepath.Glob("/proc/[0-9]*/cwd")
	require.NoError(t, err)
	for _, link := range links {
		if cwd, err := os.Readlink(link); err == nil && strings.HasPrefix(cwd, filepath.Join(dir, "agent-")) {
			found = append(found, link+" "+cwd)
		}
	}
	return found
}
