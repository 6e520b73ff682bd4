package dispatch

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/dispatch/sql"
	"github.com/ostraka/ostraka/functions/flag"
	"github.com/ostraka/ostraka/functions/jobs"
	"github.com/ostraka/ostraka/functions/stepargs"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/functions/verify"
)

const (
	// expireBatch bounds how many leases one run of the step takes back; the next run takes the rest.
	expireBatch = 500
	// MaxLost is how many leases may die with a shard before a person must look: a shard that kills agents must not go round forever. They
	// must be of verify.LostByOwners owners, or of all that work for the job: one that lets its leases die keeps no shard from others.
	MaxLost = 10
	// reasonLost stands beside the reasons of package verify: it does not come from results.
	reasonLost verify.ReasonCode = "lost"
)

type leaseIndexRow struct {
	ID        uuid.UUID
	ProjectID uuid.UUID
	JobID     uuid.UUID
	AgentID   uuid.UUID
}

// Expire takes back leases that are past their deadline.
func (s *Service) Expire(ctx context.Context, _ stepargs.ExpireArgs) error {
	return s.endLeases(ctx, "expired", func(tx pgx.Tx) ([]leaseIndexRow, error) {
		return store.Many[leaseIndexRow](ctx, tx, sql.OverdueLeases, expireBatch)
	})
}

// Revoke takes back what an agent has on loan in a project.
func (s *Service) Revoke(ctx context.Context, args stepargs.RevokeArgs) error {
	return s.endLeases(ctx, "revoked", func(tx pgx.Tx) ([]leaseIndexRow, error) {
		return store.Many[leaseIndexRow](ctx, tx, sql.OpenLeasesOfAgent, args.Agent, args.Project)
	})
}

// ReturnLease gives the shards of a lease that have no result back at once. Returning twice is harmless.
func (s *Service) ReturnLease(ctx context.Context, agent, lease uuid.UUID) error {
	holder, err := s.leaseHolder(ctx, agent, lease)
	if err != nil {
		return err
	}
	return s.endLease(ctx, leaseIndexRow{ID: lease, ProjectID: holder.ProjectID, JobID: holder.JobID, AgentID: agent}, "returned")
}

func (s *Service) endLeases(ctx context.Context, state string, list func(tx pgx.Tx) ([]leaseIndexRow, error)) error {
	var leases []leaseIndexRow
	err := s.env.Control(ctx, func(tx pgx.Tx) (err error) {
		leases, err = list(tx)
		return err
	})
	if err != nil {
		return err
	}
	// One lease that cannot be ended must not keep the others.
	var failed []error
	for _, l := range leases {
		if err := s.endLease(ctx, l, state); err != nil {
			failed = append(failed, err)
		}
	}
	return errors.Join(failed...)
}

// endLease ends an open lease and lends its unreported shards again.
func (s *Service) endLease(ctx context.Context, l leaseIndexRow, state string) error {
	err := s.env.Project(ctx, l.ProjectID, func(tx *store.Tx) error {
		ended, found, err := store.One[endedLease](ctx, tx, sql.EndProjectLease, l.ID, state)
		if err != nil {
			return err
		}
		var steps []functions.Step
		if found {
			if steps, err = s.takeBack(ctx, tx, l, ended, state); err != nil {
				return err
			}
		}
		if err := s.env.Enqueue(ctx, tx, steps...); err != nil {
			return err
		}
		server, err := tx.AsServer(ctx)
		if err != nil {
			return err
		}
		_, err = store.Exec(ctx, server, store.EndLease, []uuid.UUID{l.ID})
		return err
	})
	if err != nil {
		return fmt.Errorf("ending lease %s (%s): %w", l.ID, state, err)
	}
	return nil
}

type endedLease struct {
	Shards   []int64
	Reported int
}

type backRow struct {
	Number int64
	State  functions.ShardState
	Lost   int
}

func (s *Service) takeBack(ctx context.Context, tx *store.Tx, l leaseIndexRow, ended endedLease, state string) (steps []functions.Step, err error) {
	lost, shards := 0, ended.Shards
	if state == "expired" {
		lost = 1
		if err := base.Audit(ctx, tx, "server", "lease.expire", l.ID.String(), map[string]any{"agent": l.AgentID, "job": l.JobID, "shards": len(shards)}); err != nil {
			return nil, err
		}
	}
	back, err := store.Many[backRow](ctx, tx, sql.TakeBackShards, l.JobID, shards, l.AgentID, lost, l.ID)
	if err != nil {
		return nil, err
	}
	if lost > 0 {
		if err := s.loseCredit(ctx, tx, l, len(back), ended.Reported == 0); err != nil {
			return nil, err
		}
		if err := reviewLost(ctx, tx, l.JobID, back); err != nil {
			return nil, err
		}
	}
	if state == "returned" && ended.Reported == 0 {
		if err := countReturn(ctx, tx, l); err != nil {
			return nil, err
		}
	}
	if steps, err = s.dropControlLoans(ctx, tx, l, lost); err != nil {
		return nil, err
	}
	return steps, base.Notify(ctx, tx, base.ChannelWork, l.ProjectID)
}

// reviewLost hands shards that died with too many leases to a person.
func reviewLost(ctx context.Context, tx *store.Tx, job uuid.UUID, back []backRow) error {
	numbers, err := lostEnough(ctx, tx, job, back)
	if err != nil || len(numbers) == 0 {
		return err
	}
	changes := make([]jobs.ShardChange, len(numbers))
	for i, n := range numbers {
		changes[i] = jobs.ShardChange{Number: n, Was: functions.ShardOpen, State: functions.ShardReview}
	}
	reasons := []verify.Reason{{
		Code: reasonLost,
		Text: fmt.Sprintf("%d leases died with this shard in them: its input may kill agents; look at it, then retry or fail the shard", MaxLost),
	}}
	if _, err := store.Exec(ctx, tx, sql.ReviewLostShards, job, numbers, reasons); err != nil {
		return err
	}
	counted, err := jobs.CountPages(ctx, tx, uuid.Nil, job, jobs.PageDeltas(changes, false)) // pages with a shard in review are not settled: no steps
	if err != nil {
		return err
	}
	slices.Sort(numbers)
	marks := make([]flag.Mark, len(numbers))
	for i, n := range numbers {
		detail := map[string]any{"shard": n, "lost": MaxLost, "reasons": reasons}
		marks[i] = flag.Mark{Kind: flag.FlagLost, Job: job, Shard: &numbers[i], Decision: string(functions.ShardReview), Event: base.EventReview, Detail: detail}
	}
	if err := flag.Raise(ctx, tx, marks...); err != nil {
		return err
	}
	if !counted.Drained {
		return nil
	}
	return jobs.Place(ctx, tx, job)
}
