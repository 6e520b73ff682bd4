package api_test

import (
	"context"
	"iter"
	"time"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/audit"
	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/auditlog"
	"github.com/ostraka/ostraka/functions/fleet"
)

func (f *fake) ListAudit(_ context.Context, _ uuid.UUID, _ auditlog.AuditFilter, page functions.ListPage) ([]auditlog.AuditRecord, error) {
	f.page = page
	return make([]auditlog.AuditRecord, f.items), f.begin()
}

func (f *fake) GetAudit(context.Context, uuid.UUID, int64) (auditlog.AuditProof, error) {
	return auditlog.AuditProof{}, f.begin()
}

func (f *fake) AuditHead(context.Context, uuid.UUID) (auditlog.AuditHead, error) {
	return auditlog.AuditHead{}, f.begin()
}

func (f *fake) AuditStats(context.Context, uuid.UUID, string, time.Time, time.Time) ([]auditlog.AuditCount, error) {
	return nil, f.begin()
}

func (f *fake) AuditExport(context.Context, uuid.UUID, audit.Range) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		if err := f.begin(); err != nil {
			yield(nil, err)
			return
		}
		yield([]byte("{}\n"), nil)
	}
}

func (f *fake) PruneAudit(context.Context, functions.Principal, uuid.UUID, time.Time) (int64, error) {
	return 0, f.begin()
}

func (f *fake) RestartLog(context.Context, functions.Principal, uuid.UUID, auditlog.NewRestart) (auditlog.LogRestart, error) {
	return auditlog.LogRestart{}, f.begin()
}

func (f *fake) LogHeads(context.Context, []uuid.UUID) []fleet.LogHead { return nil }

func (f *fake) LogConsistency(context.Context, uuid.UUID, uuid.UUID, int64, int64) ([]audit.Hash, error) {
	return nil, f.begin()
}

func (f *fake) RegisterWitnessKey(context.Context, uuid.UUID, []byte, []byte) error { return f.begin() }

func (f *fake) KeepCosignature(context.Context, uuid.UUID, string) error { return f.begin() }
