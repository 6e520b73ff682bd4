// Package insight is the room that sees all others: why a job waits, the state of an installation, and what is old enough to delete.
//
// It reads the tables of all rooms, and carries out retention and deletions. Nothing depends on it.
package insight

import (
	"context"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/archive"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/fleet"
	"github.com/ostraka/ostraka/functions/jobs"
	"github.com/ostraka/ostraka/functions/policy"
	"github.com/ostraka/ostraka/functions/registry"
	"github.com/ostraka/ostraka/functions/submit"
	"github.com/ostraka/ostraka/functions/tenant"
	"github.com/ostraka/ostraka/functions/trust"
	"github.com/ostraka/ostraka/functions/webhook"
)

// Service is the room.
type Service struct {
	env      *base.Env
	archive  *archive.Service
	auditLog oldRecords
	tenant   *tenant.Service
	registry *registry.Service
	fleet    *fleet.Service
	jobs     *jobs.Service
	trust    *trust.Service
	submit   *submit.Service
	policy   *policy.Service
	webhook  *webhook.Service
	model    functions.ModelUse
}

// oldRecords takes the content out of audit records that are older than their log keeps it.
type oldRecords interface {
	PruneOld(ctx context.Context) error
}

// Rooms are those that it looks into.
type Rooms struct {
	Archive  *archive.Service
	AuditLog oldRecords
	Tenant   *tenant.Service
	Registry *registry.Service
	Fleet    *fleet.Service
	Jobs     *jobs.Service
	Trust    *trust.Service
	Submit   *submit.Service
	Policy   *policy.Service
	Webhook  *webhook.Service
}

// New makes the room.
func New(env *base.Env, r Rooms, model functions.ModelUse) *Service {
	return &Service{env: env, archive: r.Archive, auditLog: r.AuditLog, tenant: r.Tenant, registry: r.Registry, fleet: r.Fleet, jobs: r.Jobs, trust: r.Trust, submit: r.Submit, policy: r.Policy, webhook: r.Webhook, model: model}
}
