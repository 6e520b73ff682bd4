package insight

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/bulk"
	"github.com/ostraka/ostraka/functions/fleet"
	"github.com/ostraka/ostraka/functions/insight/sql"
	"github.com/ostraka/ostraka/functions/stepargs"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/functions/tenant"
)

// endedLeaseTTL is how long the index remembers an ended lease: results that are sent again within it get a good answer.
const endedLeaseTTL = 24 * time.Hour

// How long an agent without approval is remembered: it may ask again.
const (
	pendingTTL = 7 * 24 * time.Hour // since it asked
	silentTTL  = time.Hour          // the same, where it was never heard of again
)

// Retain deletes jobs and runs of workflows that their project keeps no longer, has jobs become archives, takes the content out of old audit records, deletes old events of webhooks, drops uploads that were not completed, forgets old idempotency keys, ended leases, sandboxes, switches, agents that nobody approved and their processes of
// long ago, counts what projects keep, makes old samples coarser, and lets evidence about agents fade.
func (s *Service) Retain(ctx context.Context, _ stepargs.RetentionArgs) error {
	if err := s.policy.ExpireApprovals(ctx); err != nil {
		return err
	}
	err := s.env.Control(ctx, func(tx pgx.Tx) error {
		for _, forget := range []struct {
			query store.Query
			after time.Duration
		}{
			{sql.ForgetIdempotency, base.IdempotencyTTL},
			{sql.ForgetLeases, endedLeaseTTL},
			{sql.ForgetPending, pendingTTL},
			{sql.ForgetSilentPending, silentTTL},
			{sql.ForgetInstances, fleet.InstanceTTL},
			{sql.CoarsenSamples, fleet.FineSamples},
			{sql.ForgetSandboxes, fleet.SandboxTTL},
			{sql.ForgetSwitches, fleet.SwitchTTL},
			{sql.ForgetBulkActions, bulk.KeptFor},
			{sql.ForgetBulkItems, bulk.LeftFor},
			{sql.ForgetSessions, tenant.SessionLife},
			{sql.ForgetSignInLinks, tenant.SignInLinkTTL},
			{sql.ForgetRecheckSpent, tenant.RecheckSpentFor},
		} {
			if _, err := store.Exec(ctx, tx, forget.query, forget.after); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("forgetting what is old: %w", err)
	}
	return errors.Join(s.forgetJobs(ctx), s.archive.ArchiveOld(ctx), s.auditLog.PruneOld(ctx), s.registry.DropUploads(ctx), s.fleet.RollUp(ctx), s.trust.FadeTrust(ctx), s.tenant.CountKept(ctx), s.webhook.ForgetWebhookEvents(ctx))
}
