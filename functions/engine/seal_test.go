package engine_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/audit"
	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/auditlog"
	"github.com/ostraka/ostraka/functions/engine"
	"github.com/ostraka/ostraka/functions/stepargs"
)

func (w *world) seal() {
	w.t.Helper()
	require.NoError(w.t, w.Seal(w.t.Context(), stepargs.SealArgs{}))
}

// happen writes records: one for each rule that is made or deleted.
func (w *world) happen(n int) {
	w.t.Helper()
	for i := range n {
		w.exec("insert into audit (actor, action, subject, detail) values ('server', 'lease.expire', $1, '{\"shards\": 3, \"agent\": \"a\"}')", fmt.Sprint(i))
	}
}

func (w *world) verifyLog(known ...audit.Checkpoint) *audit.Report {
	w.t.Helper()
	return w.verifyLogOf(w.project, known...)
}

// verifyLogOf verifies the log of a project, or, of the nil project, the server's own.
func (w *world) verifyLogOf(project uuid.UUID, known ...audit.Checkpoint) *audit.Report {
	w.t.Helper()
	head, err := w.AuditHead(w.t.Context(), project)
	require.NoError(w.t, err)
	var export bytes.Buffer
	require.NoError(w.t, w.ExportAudit(w.t.Context(), project, &export))
	report, err := audit.Verify(&export, head.Key, known...)
	require.NoError(w.t, err)
	return report
}

func TestTheLogIsSealedAndVerifies(t *testing.T) {
	w := newWorld(t)
	w.seal()
	first := w.verifyLog()
	require.Empty(t, first.Faults)
	require.Positive(t, first.Size, "what was done to make the project is in its log")
	w.happen(300)
	w.seal()
	w.seal() // nothing is new
	w.happen(5)
	w.seal()
	report := w.verifyLog(first.Newest)
	require.Empty(t, report.Faults)
	require.Equal(t, first.Size+305, report.Records)
	require.Equal(t, w.count("select count(*) from audit"), report.Size)
	require.Equal(t, int64(3), w.count("select count(*) from audit_checkpoints"), "sealing nothing signs nothing")
}

func TestServersThatSealAtOnceMakeOneLog(t *testing.T) {
	w := newWorld(t)
	w.happen(100)
	done := make(chan error)
	for range 4 {
		go func() { done <- w.Seal(t.Context(), stepargs.SealArgs{}) }()
	}
	for range 4 {
		require.NoError(t, <-done)
	}
	require.Empty(t, w.verifyLog().Faults)
}

func TestWhoeverHasTheDatabaseIsFoundOut(t *testing.T) {
	for name, c := range map[string]struct {
		sql  string
		kind audit.FaultKind
	}{
		"an edit":       {"update audit set subject = 'another' where leaf = 7", audit.Edited},
		"its time":      {"update audit set at = at - interval '1 s' where leaf = 7", audit.Edited},
		"a deletion":    {"delete from audit where leaf = 7", audit.Dropped},
		"a swap":        {"update audit set leaf = case leaf when 7 then 108 when 8 then 7 end where leaf in (7, 8); update audit set leaf = 8 where leaf = 108", audit.Renumbered},
		"hashes too":    {"update audit_nodes set hash = sha256('x') where number = 11", audit.Rewritten},
		"a checkpoint":  {"update audit_checkpoints set note = replace(note, size::text, (size - 1)::text)", audit.Unsigned},
		"the last ones": {"delete from audit where leaf > 17", audit.Truncated},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.happen(20)
			w.seal()
			known := w.verifyLog()
			require.Empty(t, known.Faults)
			for _, sql := range strings.Split(c.sql, ";") {
				w.exec(sql)
			}
			report := w.verifyLog(known.Newest)
			require.False(t, report.Sound())
			kinds := map[audit.FaultKind]bool{}
			for _, f := range report.Faults {
				kinds[f.Kind] = true
			}
			if name == "a checkpoint" { // none of this key's is left, which the export leaves out
				require.NotEmpty(t, kinds)
				return
			}
			require.Contains(t, kinds, c.kind, "%+v", report.Faults)
		})
	}
}

func TestNothingIsSignedOnTopOfAChangedTree(t *testing.T) {
	w := newWorld(t)
	w.happen(20)
	w.seal()
	before := w.count("select max(size) from audit_checkpoints")
	w.exec("update audit_nodes set hash = sha256('x') where number = 0")
	w.happen(1)
	w.seal() // a leaf below the border of the tree is not read again: to find that out is the verifier's part
	w.exec("delete from audit_nodes where number in (select max(number) from audit_nodes)")
	w.happen(1)
	w.seal()
	require.Equal(t, before+1, w.count("select max(size) from audit_checkpoints"))
}

func TestAHeadThatWasChangedStopsTheSeal(t *testing.T) {
	w := newWorld(t)
	w.happen(16)
	w.seal()
	before := w.count("select max(size) from audit_checkpoints")
	w.exec("update audit_nodes set hash = sha256('x')")
	w.happen(1)
	w.seal()
	require.Equal(t, before, w.count("select max(size) from audit_checkpoints"))
	require.Equal(t, int64(1), w.count("select count(*) from audit where leaf is null"))
}

func TestAnotherKeyOfTheOperatorGoesOn(t *testing.T) {
	w := newWorld(t)
	w.happen(5)
	w.seal()
	w.options.LogKey = audit.NewKey()
	w.Service = engine.New(w.options)
	w.happen(5)
	w.seal()
	report := w.verifyLog()
	require.Empty(t, report.Faults)
	require.Equal(t, w.count("select count(*) from audit"), report.Records)
}

func TestARecordIsShownWithItsProof(t *testing.T) {
	w := newWorld(t)
	w.happen(9)
	w.seal()
	p, err := w.GetAudit(t.Context(), w.project, 4)
	require.NoError(t, err)
	index, _, err := audit.CheckProof([]byte(p.Proof), []byte(p.Canonical), p.Key)
	require.NoError(t, err)
	require.EqualValues(t, 4, index)
	_, err = w.GetAudit(t.Context(), w.project, 1000)
	require.ErrorContains(t, err, "there is no record")
}

func TestPruningKeepsTheHashes(t *testing.T) {
	w := newWorld(t)
	w.happen(10)
	w.seal()
	known := w.verifyLog()
	n, err := w.PruneAudit(t.Context(), w.by, w.project, time.Now())
	require.NoError(t, err)
	require.Equal(t, known.Records, n)
	w.seal()
	report := w.verifyLog(known.Newest)
	require.Empty(t, report.Faults)
	require.Equal(t, n, report.Pruned)
	require.Equal(t, int64(2), report.Records, "that it was pruned is a record, and that it was decided is one")
	again, err := w.PruneAudit(t.Context(), w.by, w.project, time.Now().Add(-time.Hour))
	require.NoError(t, err)
	require.Zero(t, again)
	_, err = w.PruneAudit(t.Context(), w.by, w.project, time.Now().Add(time.Hour))
	require.ErrorContains(t, err, "now")
}

func TestTheLogIsListedAndCounted(t *testing.T) {
	w := newWorld(t)
	w.happen(10)
	list := func(f auditlog.AuditFilter, page functions.ListPage) []auditlog.AuditRecord {
		records, err := w.ListAudit(t.Context(), w.project, f, page)
		require.NoError(t, err)
		return records
	}
	all := list(auditlog.AuditFilter{}, functions.ListPage{Limit: 500})
	require.Len(t, list(auditlog.AuditFilter{Action: "lease"}, functions.ListPage{Limit: 500}), 10)
	require.Len(t, list(auditlog.AuditFilter{Agent: "a"}, functions.ListPage{Limit: 500}), 10)
	require.Empty(t, list(auditlog.AuditFilter{Agent: "b"}, functions.ListPage{Limit: 500}))
	require.Len(t, list(auditlog.AuditFilter{Subject: "3"}, functions.ListPage{Limit: 500}), 1)
	require.Empty(t, list(auditlog.AuditFilter{To: all[0].At}, functions.ListPage{Limit: 500}))
	require.Len(t, list(auditlog.AuditFilter{From: all[0].At}, functions.ListPage{Limit: 500}), len(all))
	newest := list(auditlog.AuditFilter{Newest: true}, functions.ListPage{Limit: 2})
	require.Equal(t, all[len(all)-1], newest[0])
	require.Equal(t, all[2], list(auditlog.AuditFilter{}, functions.ListPage{Limit: 1, After: fmt.Sprint(all[1].Seq)})[0])
	for _, by := range []string{"actor", "action", "agent", "function", "day"} {
		counts, err := w.AuditStats(t.Context(), w.project, by, time.Time{}, time.Time{})
		require.NoError(t, err)
		var sum int64
		for _, c := range counts {
			sum += c.Records
		}
		require.Equal(t, int64(len(all)), sum, by)
	}
	counts, err := w.AuditStats(t.Context(), w.project, "action", time.Time{}, time.Time{})
	require.NoError(t, err)
	require.Equal(t, "lease.expire", counts[0].Key)
	require.Equal(t, int64(10), counts[0].Failures)
}
