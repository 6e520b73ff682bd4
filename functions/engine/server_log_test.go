package engine_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/audit"
	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/auditlog"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/store"
)

// inControl runs a statement on the control schema.
func (w *world) inControl(sql string, args ...any) {
	w.t.Helper()
	require.NoError(w.t, w.store.Control(w.t.Context(), func(tx pgx.Tx) error {
		_, err := tx.Exec(w.t.Context(), sql, args...)
		return err
	}))
}

// TestTheServersLogIsSealed has what the server did for all projects in a log of its own, as a server of before has written it too.
func TestTheServersLogIsSealed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.seal()
	first := w.verifyLogOf(uuid.Nil)
	require.Empty(t, first.Faults)
	require.Positive(t, first.Size, "that the project was made is in the log")
	require.Equal(t, audit.ServerOrigin(w.controlText("select id::text from installation")), first.Origin)
	w.inControl("insert into server_audit (actor, action, subject, detail) select 'server', 'key.create', n::text, '{}' from generate_series(1, 300) n")
	w.seal()
	w.seal() // nothing is new
	report := w.verifyLogOf(uuid.Nil, first.Newest)
	require.Empty(t, report.Faults)
	require.Equal(t, first.Size+300, report.Records)
	require.Equal(t, int64(2), w.controlCount("select count(*) from audit_checkpoints"))

	p, err := w.GetAudit(t.Context(), uuid.Nil, 1)
	require.NoError(t, err)
	index, _, err := audit.CheckProof([]byte(p.Proof), []byte(p.Canonical), p.Key)
	require.NoError(t, err)
	require.EqualValues(t, 1, index)
	made, err := w.ListAudit(t.Context(), uuid.Nil, auditlog.AuditFilter{Action: "project", Subject: w.project.String()}, functions.ListPage{Limit: 9})
	require.NoError(t, err)
	require.Len(t, made, 1)
	counts, err := w.AuditStats(t.Context(), uuid.Nil, "action", time.Time{}, time.Time{})
	require.NoError(t, err)
	require.Equal(t, "key.create", counts[0].Key)

	pruned, err := w.PruneAudit(t.Context(), w.server, uuid.Nil, time.Now())
	require.NoError(t, err)
	require.Equal(t, report.Size, pruned)
	w.seal()
	after := w.verifyLogOf(uuid.Nil, report.Newest)
	require.Empty(t, after.Faults)
	require.Equal(t, pruned, after.Pruned)
	require.Equal(t, int64(2), after.Records, "that it was pruned is a record, and that it was decided is one")
	require.Empty(t, w.verifyLog().Faults, "a project's log is another one")
}

func (w *world) controlText(sql string) (s string) {
	w.t.Helper()
	require.NoError(w.t, w.store.Control(w.t.Context(), func(tx pgx.Tx) error { return tx.QueryRow(w.t.Context(), sql).Scan(&s) }))
	return s
}

func TestWhoeverChangesTheServersLogIsFoundOut(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.inControl("insert into server_audit (actor, action, subject) select 'server', 'key.create', n::text from generate_series(1, 20) n")
	w.seal()
	known := w.verifyLogOf(uuid.Nil)
	require.Empty(t, known.Faults)
	for _, c := range []struct {
		sql  string
		kind audit.FaultKind
	}{
		{"update server_audit set subject = 'another' where leaf = 7", audit.Edited},
		{"delete from server_audit where leaf = 9", audit.Dropped},
		{"delete from server_audit where leaf > 17", audit.Truncated},
		{"update audit_nodes set hash = sha256('x') where number = 22", audit.Rewritten},
	} {
		w.inControl(c.sql)
		var kinds []audit.FaultKind
		for _, f := range w.verifyLogOf(uuid.Nil, known.Newest).Faults {
			kinds = append(kinds, f.Kind)
		}
		require.Contains(t, kinds, c.kind, c.sql)
	}
}

// TestAProjectsRecordIsNeverTheServers: both logs have the same name where their queries run.
func TestAProjectsRecordIsNeverTheServers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	before := w.controlCount("select count(*) from server_audit")
	err := w.store.Project(t.Context(), w.project, func(tx *store.Tx) error {
		if _, err := tx.AsServer(t.Context()); err != nil {
			return err
		}
		require.Error(t, base.AuditText(t.Context(), tx, "server", "job.submit", "x", []byte("{}")))
		return base.Audit(t.Context(), tx, "server", "job.submit", "x", nil)
	})
	require.ErrorContains(t, err, "belongs into a project's log")
	require.Equal(t, before, w.controlCount("select count(*) from server_audit"))
}

// TestRecordsAreFoundByWhatTheyConcern in both logs: each record is found by its own filter, and by no other one's.
func TestRecordsAreFoundByWhatTheyConcern(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const columns = "(actor, action, subject, detail) values "
	records := []string{
		`('agent:a1', 'lease.grant', 'l1', '{"job": "j1", "function": "f1"}')`,
		`('server', 'lease.expire', 'l2', '{"agent": "a2", "sandbox": "s1"}')`,
		`('owner:o1', 'shard.resolve', 'j2/7', '{"decision": "fail"}')`,
		`('owner:o1', 'function.push', 'f1', '{}')`,
		`('owner:o1', 'sandbox.terminate', 's2', '{"agent": "a1"}')`,
		`('owner:o1', 'file.delete', repeat('x', 5000), '{}')`, // is too long to be looked for, and is no error
	}
	for _, r := range records {
		w.exec("insert into audit " + columns + r)
		w.inControl("insert into server_audit " + columns + r)
	}
	for _, project := range []uuid.UUID{w.project, uuid.Nil} {
		for _, c := range []struct {
			filter auditlog.AuditFilter
			want   string // the records' subjects
		}{
			{auditlog.AuditFilter{Actor: "agent:a1"}, "l1"},
			{auditlog.AuditFilter{Action: "lease"}, "l1 l2"},
			{auditlog.AuditFilter{Action: "lease.expire"}, "l2"},
			{auditlog.AuditFilter{Subject: "s2"}, "s2"},
			{auditlog.AuditFilter{Agent: "a1"}, "l1 s2"},
			{auditlog.AuditFilter{Agent: "a2"}, "l2"},
			{auditlog.AuditFilter{Sandbox: "s1"}, "l2"},
			{auditlog.AuditFilter{Sandbox: "s2"}, "s2"},
			{auditlog.AuditFilter{Job: "j1"}, "l1"},
			{auditlog.AuditFilter{Job: "j2"}, "j2/7"},
			{auditlog.AuditFilter{Function: "f1"}, "l1 f1"},
			{auditlog.AuditFilter{Decision: "fail"}, "j2/7"},
			{auditlog.AuditFilter{Agent: "a1", Function: "f1"}, "l1"},
			{auditlog.AuditFilter{Agent: "a2", Function: "f1"}, ""},
		} {
			for _, newest := range []bool{false, true} {
				c.filter.Newest = newest
				found, err := w.ListAudit(t.Context(), project, c.filter, functions.ListPage{Limit: 9})
				require.NoError(t, err)
				var subjects []string
				for _, r := range found {
					if newest {
						subjects = append([]string{r.Subject}, subjects...)
					} else {
						subjects = append(subjects, r.Subject)
					}
				}
				require.Equal(t, c.want, strings.Join(subjects, " "), "%+v", c.filter)
			}
		}
	}
}
