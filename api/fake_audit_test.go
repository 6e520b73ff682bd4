package api_test

import (
	"context"
	"iter"
	"time"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/auditlog"
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

func (f *fake) AuditExport(context.Context, uuid.UUID) iter.Seq2[[]byte, error] {
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
