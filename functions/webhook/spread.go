package webhook

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/stepargs"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/functions/webhook/sql"
)

const (
	// looksAtOnce is how many looks are taken up in one transaction.
	looksAtOnce = 1000
	// spreadAtOnce is how many events are spread in one transaction.
	spreadAtOnce = 100
	// lostAfter is how long a delivery is being sent when its step is taken for lost: many times longer than a try, and than a step that
	// has failed waits to be tried again.
	lostAfter = time.Hour
)

// DueWebhooks enqueues a step for each project that has events to send, or deliveries whose next try is due.
func (s *Service) DueWebhooks(ctx context.Context, _ stepargs.DueWebhooksArgs) error {
	for n := looksAtOnce; n == looksAtOnce; {
		err := s.env.Control(ctx, func(tx pgx.Tx) error {
			taken, err := store.Values[uuid.UUID](ctx, tx, sql.TakeLooks, looksAtOnce)
			if n = len(taken); err != nil || n == 0 {
				return err
			}
			seen, steps := map[uuid.UUID]bool{}, []functions.Step{}
			for _, project := range taken {
				if !seen[project] {
					seen[project], steps = true, append(steps, stepargs.SpreadWebhooksArgs{Project: project})
				}
			}
			return s.env.Queue.Enqueue(ctx, tx, steps...)
		})
		if err != nil {
			return fmt.Errorf("taking up webhooks that are due: %w", err)
		}
	}
	return nil
}

// SpreadWebhooks makes a delivery of each new event for each webhook that wants it, and begins deliveries that are due.
func (s *Service) SpreadWebhooks(ctx context.Context, args stepargs.SpreadWebhooksArgs) error {
	for n := spreadAtOnce; n == spreadAtOnce; {
		err := s.env.Project(ctx, args.Project, func(tx *store.Tx) (err error) {
			if err := gate(ctx, tx); err != nil {
				return err
			}
			if n, err = spread(ctx, tx); err != nil {
				return err
			}
			return s.begin(ctx, tx)
		})
		if err != nil {
			return fmt.Errorf("spreading the events of project %s: %w", args.Project, err)
		}
	}
	return nil
}

// spread makes deliveries of some new events, and says of how many.
func spread(ctx context.Context, tx *store.Tx) (int, error) {
	events, err := store.Values[uuid.UUID](ctx, tx, sql.NewEvents, spreadAtOnce)
	if err != nil || len(events) == 0 {
		return 0, err
	}
	type pair struct{ EventID, WebhookID uuid.UUID }
	pairs, err := store.Many[pair](ctx, tx, sql.WhoWants, events)
	if err != nil {
		return 0, err
	}
	var ids, of, to []uuid.UUID
	for _, p := range pairs {
		ids, of, to = append(ids, base.NewID()), append(of, p.EventID), append(to, p.WebhookID)
	}
	if _, err := store.Exec(ctx, tx, sql.AddDeliveries, ids, to, of); err != nil {
		return 0, err
	}
	if _, err := store.Exec(ctx, tx, sql.MarkSpread, events); err != nil {
		return 0, err
	}
	return len(events), drop(ctx, tx)
}

// drop has the oldest deliveries give way where too many wait.
func drop(ctx context.Context, tx *store.Tx) error {
	type row struct {
		Name    string
		Dropped int64
	}
	rows, err := store.Many[row](ctx, tx, sql.DropDeliveries, MaxUndelivered, fmt.Sprintf("%d newer deliveries of the project waited", MaxUndelivered))
	if err != nil {
		return err
	}
	for _, r := range rows {
		if err := base.Audit(ctx, tx, actor(r.Name), "webhook.drop", r.Name, map[string]any{"deliveries": r.Dropped}); err != nil {
			return err
		}
	}
	return nil
}

// actor is the actor of changes that no person made.
func actor(name string) string { return "webhook:" + name }

// begin begins as many deliveries that are due as may be sent at a time. It is the last thing that a transaction does, and comes after gate.
func (s *Service) begin(ctx context.Context, tx *store.Tx) error {
	due, err := store.Values[uuid.UUID](ctx, tx, sql.BeginDeliveries, MaxAtOnce, lostAfter)
	if err != nil {
		return err
	}
	steps := make([]functions.Step, len(due))
	for i, id := range due {
		steps[i] = stepargs.DeliverWebhookArgs{Project: tx.Project(), Delivery: id}
	}
	return s.env.Enqueue(ctx, tx, steps...)
}
