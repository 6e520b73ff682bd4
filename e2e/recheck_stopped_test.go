package e2e

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/runtime/bundle"
	"github.com/ostraka/ostraka/testenv"
)

// hangingFunction answers at once where an agent executes it, which sees the test's files, and hangs where the server does.
const hangingFunction = `import os, time
def handler(x):
    while not os.path.exists(%q):
        time.sleep(0.02)
    return {"n": 1}
`

// TestWhatTheServerExecutesIsStoppedToo has a real server execute a real shard, which hangs: a switch ends the execution, and says that all
// is silent only when nothing of it runs; so does cancelling the job.
func TestWhatTheServerExecutesIsStoppedToo(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	w := &world{t: t, dir: t.TempDir(), binary: program(t), address: freeAddress(t), agentFlags: []string{"--isolation", "process"}, rechecks: "linux"}
	w.open(1)
	job := w.submitHanging(ctx)
	w.untilExecuting(ctx)

	on, err := w.project.owner.KillInProjectWithResponse(ctx, w.project.id, nil, client.NewProjectKillSwitch{Scope: "function", Function: "hanging", Reason: "a test"})
	require.NoError(t, err)
	require.NotNil(t, on.JSON200, string(on.Body))
	w.untilStopped(ctx, func() bool { return w.switchStatus(ctx, on.JSON200.ID).Silent }, "the switch says that all is silent")
	require.False(t, w.ended(ctx, job))

	// The server takes it up again when the switch is off, and ends it when the job is cancelled.
	off, err := w.project.owner.ReleaseInProjectWithResponse(ctx, w.project.id, nil, client.ProjectKillScope{Scope: "function", Function: "hanging"})
	require.NoError(t, err)
	require.NotNil(t, off.JSON200, string(off.Body))
	w.untilExecuting(ctx)
	cancelled, err := w.project.owner.CancelJobWithResponse(ctx, w.project.id, job, nil)
	require.NoError(t, err)
	require.NotNil(t, cancelled.JSON200, string(cancelled.Body))
	w.untilStopped(ctx, func() bool { return w.executions(ctx) == 0 }, "no execution is noted")
}

func (w *world) submitHanging(ctx context.Context) uuid.UUID {
	w.t.Helper()
	file, mark := filepath.Join(w.dir, "hanging.py"), filepath.Join(w.dir, "mark")
	require.NoError(w.t, os.WriteFile(mark, nil, 0o600))
	require.NoError(w.t, os.WriteFile(file, fmt.Appendf(nil, hangingFunction, mark), 0o600))
	packed, err := bundle.Pack(file)
	require.NoError(w.t, err)
	pushed, err := w.project.owner.PushFunctionWithBodyWithResponse(ctx, w.project.id, nil, "application/octet-stream", bytes.NewReader(packed.Archive()))
	require.NoError(w.t, err)
	require.NotNil(w.t, pushed.JSON201, string(pushed.Body))
	submitted, err := w.project.owner.SubmitJobWithResponse(ctx, w.project.id, nil, client.JobRequest{
		Function: "hanging", Partition: client.Partition{Kind: "range", From: "0", To: "3", Size: "1"},
		Policy: &client.PolicyRequest{Recheck: "all"}, Aggregator: &client.AggregatorRequest{Module: "sum"},
	})
	require.NoError(w.t, err)
	require.NotNil(w.t, submitted.JSON201, string(submitted.Body))
	return submitted.JSON201.ID
}

// executions is how many batches of shards the server notes that it executes.
func (w *world) executions(ctx context.Context) (n int) {
	w.t.Helper()
	conn, err := pgx.Connect(ctx, w.db.URL())
	require.NoError(w.t, err)
	defer func() { require.NoError(w.t, conn.Close(ctx)) }()
	require.NoError(w.t, conn.QueryRow(ctx, "select count(*) from ostraka.recheck_runs").Scan(&n))
	return n
}

// untilExecuting waits until the server executes something, both by what it notes and by its processes.
func (w *world) untilExecuting(ctx context.Context) {
	w.t.Helper()
	testenv.Eventually(w.t, func() bool { return w.executions(ctx) > 0 && len(interpretersBelow(w.t, w.server.cmd.Process.Pid)) > 0 }, "the server executes a shard")
}

// untilStopped waits until something is said to be over. Whenever it is, nothing is executed.
func (w *world) untilStopped(ctx context.Context, over func() bool, what string) {
	w.t.Helper()
	testenv.Eventually(w.t, over, "%s", what)
	require.Empty(w.t, interpretersBelow(w.t, w.server.cmd.Process.Pid), "%s, and something runs", what)
	require.Zero(w.t, w.executions(ctx))
}

// interpretersBelow are the processes of Python that a process has started, itself or by others.
func interpretersBelow(t *testing.T, pid int) (found []string) {
	t.Helper()
	parent, python := map[int]int{}, map[int]string{}
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	require.NoError(t, err)
	for _, stat := range stats {
		text, err := os.ReadFile(stat)
		if err != nil {
			continue // it has ended meanwhile
		}
		id, rest, _ := strings.Cut(string(text), " ")
		open, end := strings.Index(rest, "("), strings.LastIndex(rest, ")")
		if open < 0 || end < 0 {
			continue
		}
		fields := strings.Fields(rest[end+1:]) // the state, then the parent
		child, _ := strconv.Atoi(id)
		of, _ := strconv.Atoi(fields[1])
		parent[child] = of
		if strings.Contains(rest[open:end], "python") && fields[0] != "Z" {
			python[child] = rest[open:end]
		}
	}
	for child, name := range python {
		for at := child; at > 1; at = parent[at] {
			if at == pid {
				found = append(found, fmt.Sprint(child, " ", name))
				break
			}
		}
	}
	slices.Sort(found)
	return found
}
