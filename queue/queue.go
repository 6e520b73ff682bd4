// Package queue runs the steps of the domain on River: it enqueues them in the transaction that makes them necessary, and works
// them. The workers are thin: each calls one step of functions.
package queue

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"riverqueue.com/riverui"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/stepargs"
	"github.com/ostraka/ostraka/migrations"
)

// The queues. A server may work all or some of them.
const (
	QueueUrgent    = "urgent"    // steps that protect: expire, revoke, silence, taint, finalise; no other work may keep them waiting
	QueueControl   = "control"   // split, finish, cancel, erase and what else there is
	QueueVerify    = "verify"    // many short transactions
	QueueAggregate = "aggregate" // WASM modules
	QueueArchive   = "archive"   // files of jobs that ended long ago, each of which may take minutes
	QueueBulk      = "bulk"      // one thing that is done to many: as long as people have chosen items, a few seconds in turn
	QueueWebhooks  = "webhooks"  // events to the outside, whose receivers may be slow
	QueueRecheck   = "recheck"   // shards that the server executes: for hosts of their own
)

// All lists the queues.
func All() []string {
	return []string{QueueUrgent, QueueControl, QueueVerify, QueueAggregate, QueueArchive, QueueBulk, QueueWebhooks, QueueRecheck}
}

// maxAttempts is, with the pauses of retryPolicy, more than a month: a step that is given up would leave its job open forever, so a
// step that keeps failing stays where operators see it.
const maxAttempts = 10_000

// Queue enqueues steps. It implements functions.Queue.
type Queue struct {
	pool   *pgxpool.Pool
	client *river.Client[pgx.Tx]
	log    *slog.Logger
}

// TellCooldown is for how long workers are not told of a further step of a queue after one. What they are not told of they find within a
// second, and a transaction that enqueues may commit long after the one before it was told of: so it is as short as River lets it be.
const TellCooldown = river.FetchCooldownMin

// New makes a queue that enqueues; Work works it.
func New(pool *pgxpool.Pool, log *slog.Logger) (*Queue, error) {
	client, err := river.NewClient(riverpgxv5.New(pool), &river.Config{
		Schema: migrations.RiverSchema, Logger: log, MaxAttempts: maxAttempts, SkipUnknownJobCheck: true,
		FetchCooldown: TellCooldown,
	})
	if err != nil {
		return nil, fmt.Errorf("making the queue's client: %w", err)
	}
	return &Queue{pool: pool, client: client, log: log}, nil
}

// Enqueue inserts steps in a transaction.
func (q *Queue) Enqueue(ctx context.Context, tx pgx.Tx, steps ...functions.Step) error {
	shortcut := functions.ShortcutOf(ctx)
	kept, steps := apart(shortcut, steps)
	if len(kept) > 0 {
		if err := q.keep(ctx, tx, shortcut, kept); err != nil {
			return err
		}
	}
	if len(steps) == 0 {
		return nil
	}
	params := make([]river.InsertManyParams, len(steps))
	for i, step := range steps {
		params[i] = river.InsertManyParams{Args: step, InsertOpts: &river.InsertOpts{Queue: queueOf(step), ScheduledAt: notBefore(step)}}
	}
	_, err := q.client.InsertManyFastTx(ctx, tx, params)
	return err
}

// notBefore is when a step may be worked; the zero time is at once.
func notBefore(step functions.Step) time.Time {
	if later, ok := step.(functions.Delayed); ok {
		return later.NotBefore()
	}
	return time.Time{}
}

// queueOf says which queue a step goes to.
func queueOf(step functions.Step) string {
	switch step.(type) {
	case stepargs.ExpireArgs, stepargs.RevokeArgs, stepargs.SilenceArgs, stepargs.TaintArgs, stepargs.FinaliseArgs, stepargs.ClaimsArgs:
		return QueueUrgent
	case stepargs.VerifyArgs:
		return QueueVerify
	case stepargs.CompareArgs, stepargs.JudgeControlsArgs, stepargs.ScoreCodeArgs, stepargs.ScoreResultsArgs, stepargs.AggregateArgs, stepargs.MergeArgs, stepargs.PreviewArgs,
		stepargs.FollowUpArgs, stepargs.AdvanceRunArgs: // which evaluate CEL
		return QueueAggregate
	case stepargs.ArchiveArgs, stepargs.PackArgs:
		return QueueArchive
	case stepargs.BulkArgs:
		return QueueBulk
	case stepargs.DeliverWebhookArgs:
		return QueueWebhooks
	case stepargs.RecheckArgs:
		return QueueRecheck
	default:
		return QueueControl
	}
}

// UI is River's admin interface below a path prefix. It has no authentication of its own: mount it behind the operator's role. It
// works until the context ends.
func (q *Queue) UI(ctx context.Context, prefix string) (http.Handler, error) {
	handler, err := riverui.NewHandler(&riverui.HandlerOpts{Endpoints: riverui.NewEndpoints(q.client, nil), Logger: q.log, Prefix: prefix})
	if err != nil {
		return nil, fmt.Errorf("making River's admin interface: %w", err)
	}
	if err := handler.Start(ctx); err != nil {
		return nil, fmt.Errorf("starting River's admin interface: %w", err)
	}
	return handler, nil
}
