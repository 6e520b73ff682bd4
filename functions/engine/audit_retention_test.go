package engine_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions/engine"
	"github.com/ostraka/ostraka/functions/tenant"
	"github.com/ostraka/ostraka/guardian"
)

// auditDays sets for how many days the project's log keeps what records say.
func (w *world) auditDays(days int) error {
	w.t.Helper()
	p, err := w.GetProject(w.t.Context(), w.project)
	require.NoError(w.t, err)
	_, err = w.UpdateProject(w.t.Context(), w.by, w.project, tenant.ProjectChange{AuditDays: &days}, p.Revision)
	return err
}

// TestOldRecordsLoseTheirContent by themselves, a day at a time, and the log verifies: where a project says nothing, when the server says it.
func TestOldRecordsLoseTheirContent(t *testing.T) {
	t.Parallel()
	midnight := time.Now().UTC().Truncate(24 * time.Hour)
	w := newWorld(t, func(o *engine.Options) {
		o.AuditDays = 5
		o.Now = func() time.Time { return midnight.Add(12 * time.Hour) } // also where the day ends while the test runs
	})
	const day = 24 * time.Hour
	at := func(when time.Time) {
		w.inProject("insert into audit (at, actor, action, subject, detail) values ($1, 'server', 'lease.expire', 'x', '{\"agent\": \"a\"}')", when)
	}
	at(midnight.Add(-5*day - time.Second))
	at(midnight.Add(-5 * day))
	at(midnight.Add(-3*day - time.Second))
	w.inProject("insert into audit (at, actor, action, subject, detail) values ($1, 'agent:a', 'agent.key', 'a', '{\"key\": \"k\"}')", midnight.Add(-30*day))
	pruned := func() int64 { return w.count("select count(*) from audit where pruned_at is not null") }
	w.retain()
	require.Zero(t, pruned(), "what is not sealed is not pruned")
	w.seal()
	require.NoError(t, w.auditDays(0))
	w.retain()
	require.Zero(t, pruned(), "the project keeps all")
	require.NoError(t, w.auditDays(-1))
	w.retain()
	require.Equal(t, int64(1), pruned(), "the server's five days; a key of an agent stays")
	require.NoError(t, w.auditDays(3))
	w.retain()
	require.Equal(t, int64(3), pruned())
	w.seal()
	w.retain()
	require.Equal(t, int64(2), w.count("select count(*) from audit where action = 'audit.prune' and actor = 'server:retention'"), "pruning nothing is no record")
	report := w.verifyLog()
	require.Empty(t, report.Faults)
	require.Equal(t, int64(3), report.Pruned)
	for _, days := range []int{-2, tenant.MaxKeepJobsDays + 1} {
		requireCode(t, w.auditDays(days), "bad_audit_days")
	}
	require.NoError(t, w.auditDays(tenant.MaxKeepJobsDays))
}

// TestRetentionSaysNothingOfItsOwnRecords for ever: the record of what was pruned is not pruned for another one.
func TestRetentionSaysNothingOfItsOwnRecords(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *engine.Options) { o.AuditDays = 1 })
	w.exec("insert into audit (at, actor, action, subject, detail) values ($1, 'server:retention', 'audit.prune', $2, '{}')", time.Now().Add(-9*24*time.Hour), w.project)
	w.seal()
	w.retain()
	require.Zero(t, w.count("select count(*) from audit where pruned_at is not null"))
}

// TestTheServersOwnLogLosesContentToo after as many days as the server says.
func TestTheServersOwnLogLosesContentToo(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *engine.Options) { o.AuditDays = 5 })
	w.inControl("insert into server_audit (at, actor, action, subject, detail) values ($1, 'server', 'key.create', 'x', '{}')", time.Now().Add(-9*24*time.Hour))
	w.seal()
	w.retain()
	require.Equal(t, int64(1), w.verifyLogOf(uuid.Nil).Pruned)
}

// TestRetentionGoesAroundNoRule: who may not prune a log, or not without a yes, may not have the server do it either.
func TestRetentionGoesAroundNoRule(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *engine.Options) { o.AuditDays = 5 })
	denies := guardRule("keep-the-log", guardian.Deny, `data.type == "audit"`, guardian.AuditPrune)
	rule := w.guard(denies)
	requireCode(t, w.auditDays(3), "denied_by_guardian")
	requireCode(t, w.auditDays(-1), "denied_by_guardian")
	require.NoError(t, w.auditDays(0), "this prunes nothing")
	require.Len(t, w.decided(guardian.AuditPrune), 2)

	denies.Then = guardian.Ask
	_, err := w.SetGuardianRule(t.Context(), w.by, w.project, denies, rule.Version)
	require.NoError(t, err)
	requireCode(t, w.auditDays(3), "approval_needed")
	p, err := w.GetProject(t.Context(), w.project)
	require.NoError(t, err)
	require.Zero(t, *p.AuditDays, "nothing has changed")
}
