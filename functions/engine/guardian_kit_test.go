package engine_test

import (
	"encoding/json"
	"net/netip"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/auditlog"
	"github.com/ostraka/ostraka/functions/dispatch"
	"github.com/ostraka/ostraka/functions/engine"
	"github.com/ostraka/ostraka/functions/policy"
	"github.com/ostraka/ostraka/guardian"
)

// watch is a clock that a test sets.
type watch struct{ ahead atomic.Int64 }

func (c *watch) now() time.Time       { return time.Now().Add(time.Duration(c.ahead.Load())) }
func (c *watch) step(d time.Duration) { c.ahead.Add(int64(d)) }

func guarded(c *watch) func(*engine.Options) {
	return func(o *engine.Options) { o.Now = c.now }
}

func guardRule(name string, then guardian.Verdict, when string, on ...guardian.Kind) guardian.Rule {
	return guardian.Rule{Name: name, On: on, When: when, Then: then, Reason: "because " + name, Enabled: true}
}

// guard makes a rule of the project.
func (w *world) guard(rule guardian.Rule) policy.GuardianRule {
	w.t.Helper()
	r, err := w.SetGuardianRule(w.t.Context(), w.by, w.project, rule, 0)
	require.NoError(w.t, err)
	return r
}

// decided are the project's records of decisions about an operation, the newest first.
func (w *world) decided(kind guardian.Kind) (list []map[string]any) {
	w.t.Helper()
	records, err := w.ListAudit(w.t.Context(), w.project, auditlog.AuditFilter{Action: "guardian.decide", Newest: true}, functions.ListPage{Limit: functions.MaxListLimit})
	require.NoError(w.t, err)
	for _, r := range records {
		var detail map[string]any
		require.NoError(w.t, json.Unmarshal(r.Detail, &detail))
		if detail["operation"] == string(kind) {
			list = append(list, detail)
		}
	}
	return list
}

// leasesOf is how many shards of a job an agent is lent; those of other jobs are given back.
func (w *world) leasesOf(job uuid.UUID, a *agent) (n int) {
	w.t.Helper()
	for {
		lease, err := w.Lease(w.t.Context(), a.id, dispatch.Poll{Most: 10, From: netip.MustParseAddr("192.0.2.1")}, functions.Idempotency{})
		require.NoError(w.t, err)
		if lease == nil {
			return n
		}
		if lease.Job == job {
			n += len(lease.Shards)
		}
	}
}
