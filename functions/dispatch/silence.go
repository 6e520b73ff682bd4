package dispatch

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/ostraka/ostraka/functions/dispatch/sql"
	"github.com/ostraka/ostraka/functions/stepargs"
	"github.com/ostraka/ostraka/functions/store"
)

// Silence takes back the open leases that a switch holds. A switch that is off by now holds nothing.
func (s *Service) Silence(ctx context.Context, args stepargs.SilenceArgs) error {
	return s.endLeases(ctx, "revoked", func(tx pgx.Tx) ([]leaseIndexRow, error) {
		return store.Many[leaseIndexRow](ctx, tx, sql.HeldLeases, args.Switch)
	})
}
