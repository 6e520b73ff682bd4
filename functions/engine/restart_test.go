package engine_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/audit"
	"github.com/ostraka/ostraka/functions/auditlog"
)

// rollBack restores the log of the project to a size, as a backup of then has it, and what it writes since is another history.
func (w *world) rollBack(size int64) {
	w.t.Helper()
	w.exec("delete from audit_checkpoints where size > $1", size)
	w.exec("delete from audit_nodes where number >= $1", audit.NodeCount(size))
	w.exec("delete from audit where leaf >= $1 or leaf is null", size)
}

// TestALogBeginsAnewAfterARestore restores a project's log to what it was, has it begin anew, and reads it as owners, agents and verifiers do.
func TestALogBeginsAnewAfterARestore(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.seal()
	backup := w.head(w.project)
	a := w.agent(nil)
	key := w.registered(a)
	w.happen(20)
	w.seal()
	lost := w.head(w.project)
	require.NoError(t, w.cosign(a, key, lost, time.Now()))
	w.rollBack(backup.Size)
	w.happen(3)
	w.seal()
	restored := w.head(w.project)

	made, err := w.RestartLog(t.Context(), w.by, w.project, auditlog.NewRestart{Reason: "the disk broke"})
	require.NoError(t, err)
	require.Equal(t, restored.Size, made.Restored)
	require.Equal(t, lost.Size, *made.Lost, "an agent has co-signed it")
	require.Equal(t, audit.ProjectOrigin(w.project.String()), made.From)
	w.happen(300)
	w.seal()
	head := w.head(w.project)
	require.Equal(t, made.Origin, head.Origin)
	require.Empty(t, head.Cosignatures, "those are of the name before")
	require.Len(t, head.Restarts, 1)
	proven, err := audit.OpenRestart([]byte(head.Restarts[0].Record), []byte(head.Restarts[0].Proof), head.Key)
	require.NoError(t, err)
	require.Equal(t, made.Index, proven.Index)
	require.Equal(t, "the disk broke", proven.Reason)

	before, err := audit.Open([]byte(backup.Checkpoint), backup.Key)
	require.NoError(t, err)
	report := w.verifyLog(before)
	require.Empty(t, report.Faults)
	require.Len(t, report.Restarts, 1)
	gone, err := audit.Open([]byte(lost.Checkpoint), lost.Key)
	require.NoError(t, err)
	report = w.verifyLog(gone)
	require.Len(t, report.Faults, 1)
	require.Equal(t, audit.Lost, report.Faults[0].Kind)
	require.Contains(t, report.Faults[0].Text, "the disk broke")

	shown := w.LogHeads(t.Context(), []uuid.UUID{w.project})
	require.Nil(t, shown[0].Restart, "the server's own log never did")
	_, err = audit.OpenRestart([]byte(shown[1].Restart.Record), []byte(shown[1].Restart.Proof), shown[1].Key)
	require.NoError(t, err)
	requireCode(t, w.cosign(a, key, restored, time.Now()), "unknown_checkpoint")
	require.NoError(t, w.cosign(a, key, head, time.Now()))
	require.Equal(t, 1, w.head(w.project).Owners)

	_, err = w.PruneAudit(t.Context(), w.by, w.project, time.Now())
	require.NoError(t, err)
	w.seal()
	report = w.verifyLog(before)
	require.Empty(t, report.Faults)
	require.Len(t, report.Restarts, 1, "that it began anew is never pruned")
}

// TestTheServersLogBeginsAnewTwice gives the lost head as a file would have it; the second restart comes of a backup of before the first.
func TestTheServersLogBeginsAnewTwice(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.seal()
	made, err := w.RestartLog(t.Context(), w.server, uuid.Nil, auditlog.NewRestart{Reason: "first"})
	require.NoError(t, err)
	require.Nil(t, made.Lost, "nothing is known to be lost")
	lost := w.head(uuid.Nil)
	_, err = w.RestartLog(t.Context(), w.server, uuid.Nil, auditlog.NewRestart{Reason: "x", LostHead: lost.Checkpoint})
	requireCode(t, err, "bad_lost_head")
	w.inControl("delete from audit_restarts")
	w.inControl("delete from audit_checkpoints where size > $1", made.Restored)
	w.inControl("delete from audit_nodes where number >= $1", audit.NodeCount(made.Restored))
	w.inControl("delete from server_audit where leaf >= $1 or leaf is null", made.Restored)
	again, err := w.RestartLog(t.Context(), w.server, uuid.Nil, auditlog.NewRestart{Reason: "second", LostHead: lost.Checkpoint})
	require.NoError(t, err)
	require.Greater(t, again.Origin, made.Origin, "the epoch that is lost is not called the same")
	require.Equal(t, lost.Size, *again.Lost)
	report := w.verifyLogOf(uuid.Nil)
	require.Empty(t, report.Faults)
	require.Equal(t, "second", report.Restarts[0].Reason)
}

func TestARestartIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	restart := func(n auditlog.NewRestart) error {
		_, err := w.RestartLog(t.Context(), w.by, w.project, n)
		return err
	}
	requireCode(t, restart(auditlog.NewRestart{Reason: "x"}), "not_sealed")
	w.seal()
	for _, reason := range []string{"", " ", "a\nb", strings.Repeat("é", audit.MaxRestartReason+1)} {
		requireCode(t, restart(auditlog.NewRestart{Reason: reason}), "bad_reason")
	}
	requireCode(t, restart(auditlog.NewRestart{Reason: "x", LostHead: "no checkpoint"}), "bad_lost_head")
	requireCode(t, restart(auditlog.NewRestart{Reason: "x", LostHead: w.head(uuid.Nil).Checkpoint}), "bad_lost_head")
	w.happen(audit.MaxRestarts)
	w.seal()
	w.exec("insert into audit_restarts (leaf, origin, record) select n, 'x' || n, '' from generate_series(1, $1) n", audit.MaxRestarts-1)
	w.exec("update audit_restarts set origin = $1 where leaf = $2", audit.ProjectOrigin(w.project.String())+"/20200101T000000Z", audit.MaxRestarts-1)
	require.NoError(t, restart(auditlog.NewRestart{Reason: strings.Repeat("é", audit.MaxRestartReason)}), "the last that is left")
	requireCode(t, restart(auditlog.NewRestart{Reason: "x"}), "too_many_restarts")

	other := newWorld(t)
	other.seal()
	other.exec("update audit_nodes set hash = sha256('x')")
	_, err := other.RestartLog(t.Context(), other.by, other.project, auditlog.NewRestart{Reason: "x"})
	requireCode(t, err, "log_changed")
}

// TestAReceiptOutlivesARestart verifies one with the key since, and with the key of before.
func TestAReceiptOutlivesARestart(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	job := w.agreed(5)
	before := w.head(w.project).Key
	w.makeReceipt(job.ID)
	_, err := w.RestartLog(t.Context(), w.by, w.project, auditlog.NewRestart{Reason: "x"})
	require.NoError(t, err)
	since, _ := w.receipt(job.ID)
	_, epoch := audit.Epoch(since.Head.Origin)
	require.NotEmpty(t, epoch)
	for part, err := range w.ReceiptBytes(t.Context(), w.project, job.ID, false) {
		require.NoError(t, err)
		r, err := audit.OpenReceipt(bytes.TrimSpace(part), before)
		require.NoError(t, err)
		require.Equal(t, since.Head, r.Head)
	}
}
