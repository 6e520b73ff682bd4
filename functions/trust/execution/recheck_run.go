package execution

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/stepargs"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/functions/trust"
	"github.com/ostraka/ostraka/functions/trust/sql"
)

// errBudgetSpent ends a run as the end of its slice does: what was begun is finished, and the rest waits.
var errBudgetSpent = fmt.Errorf("the project has spent its seconds of the servers: %w", errSliceEnd)

// How the server's own executions share it.
const (
	// RecheckSlice is how long a batch keeps its slot while other projects wait for one: the shard that is being executed may end, the next one
	// does not begin. It is far above what it costs to take a batch up again, and as short as people wait for a small job.
	RecheckSlice = 2 * time.Second
	// DefaultRecheckSlots is how many batches of a project run at a time by default.
	DefaultRecheckSlots = 1
	// recheckPatience is how long a step waits for its turn before it makes room for those of further projects, or for another server.
	recheckPatience = 30 * time.Second
	// noTurn is when it comes back.
	noTurn = time.Second
	// seeRunEvery is how often a running batch is looked at when nothing was heard; a run that was not seen for a minute counts as ended.
	seeRunEvery = 5 * time.Second
	// endRunTime bounds how long the end of a run may take to be noted.
	endRunTime = 10 * time.Second
)

var (
	errNoTurn   = errors.New("other batches are being executed")
	errSliceEnd = errors.New("other projects wait for their turn")
	errRunHeld  = errors.New("a switch holds the function")
	errRunEnded = errors.New("the job has ended")
)

// stoppedRun says whether a run was broken off for a reason that is nobody's fault.
func stoppedRun(err error) bool {
	return errors.Is(err, errSliceEnd) || errors.Is(err, errRunHeld) || errors.Is(err, errRunEnded)
}

// turn is a slot that a batch has.
type turn struct {
	s       *Service
	project uuid.UUID
	long    bool
	has     bool
	used    time.Duration // for executing shards
}

// takeTurn waits until the project may execute something. The caller gives the turn back.
func (s *Service) takeTurn(ctx context.Context, project uuid.UUID, long bool) (*turn, error) {
	limited, cancel := context.WithTimeout(ctx, recheckPatience)
	defer cancel()
	t := &turn{s: s, project: project, long: long}
	if err := t.take(limited); err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return nil, &functions.Snooze{For: noTurn, Err: errNoTurn}
	}
	return t, nil
}

func (t *turn) take(ctx context.Context) error {
	err := t.s.turns.Take(ctx, t.project, t.long)
	t.has = err == nil
	return err
}

// pass lets others have their turn first.
func (t *turn) pass(ctx context.Context) error {
	t.give()
	return t.take(ctx)
}

func (t *turn) give() {
	if t.has {
		t.has = false
		t.s.turns.Give(t.project, t.long)
	}
}

// beginRun notes that the batch is about to be executed, where switches look. tx is the server's by now, and has the lock of HeldOf.
func beginRun(ctx context.Context, tx pgx.Tx, args stepargs.RecheckArgs, work trust.RecheckWork) error {
	_, err := store.Exec(ctx, tx, sql.BeginRecheckRun, args.Batch, args.Project, work.Job, work.Function.Name, work.Function.Version, len(work.Numbers))
	return err
}

// endRun notes that nothing of the batch runs any more, and tells the switches that wait for it. Where that fails it counts as ended in a minute.
// used is how long servers have executed shards of the project.
func (s *Service) endRun(ctx context.Context, args stepargs.RecheckArgs, used time.Duration) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), endRunTime)
	defer cancel()
	err := s.env.Control(ctx, func(tx pgx.Tx) error {
		switches, err := store.Values[uuid.UUID](ctx, tx, sql.EndRecheckRun, args.Batch)
		if err == nil {
			_, err = store.Exec(ctx, tx, sql.SpendRecheck, args.Project, used.Seconds())
		}
		for i := 0; i < len(switches) && err == nil; i++ {
			err = base.Notify(ctx, tx, base.ChannelAgents, switches[i])
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("noting the end of a batch of rechecks: %w", err)
	}
	return nil
}

// run is a batch that is being executed: its context ends when its job does, when a switch holds its function, and when its slice is over.
type run struct {
	ctx   context.Context //nolint:containedctx // it is the run's own, and ends with it
	stop  context.CancelCauseFunc
	ended func() // a shard has
	close func() // waits for who watches it
}

// watchBatch makes a run of what is about to be executed; where it may not continue, its context has ended.
func (s *Service) watchBatch(ctx context.Context, args stepargs.RecheckArgs, work trust.RecheckWork) (run, error) {
	r := run{}
	r.ctx, r.stop = context.WithCancelCause(ctx)
	began := time.Now()
	shard := began
	r.ended = func() {
		if time.Since(began) >= work.Left {
			r.stop(errBudgetSpent)
		}
		if time.Since(began) >= s.recheckSlice && s.turns.Wanted(args.Project, work.Long()) {
			r.stop(errSliceEnd)
		}
		s.yield(r.ctx, args.Project, work.Long(), time.Since(shard))
		shard = time.Now()
	}
	nudges, unsubscribe := s.env.Notices.Subscribe(append(base.Topics(base.ChannelJobs, work.Job), base.Topics(base.ChannelAgents, uuid.Nil)...)...)
	if err := s.mayGoOn(r, args.Batch); err != nil { // before anything begins
		r.stop(nil)
		unsubscribe()
		return r, err
	}
	done := make(chan struct{})
	go func(watched run) {
		defer close(done)
		s.watchRun(watched, args.Batch, nudges)
	}(r)
	r.close = func() {
		r.stop(nil)
		<-done
		unsubscribe()
	}
	return r, nil
}

// yield leaves the processors to others for a while, where they are due more of them.
func (s *Service) yield(ctx context.Context, project uuid.UUID, long bool, took time.Duration) {
	pause := min(s.turns.Yield(project, long, took), s.recheckSlice)
	if pause <= 0 {
		return
	}
	select {
	case <-ctx.Done():
	case <-time.After(pause):
	}
}

// watchRun ends a run that is not to continue.
func (s *Service) watchRun(r run, batch uuid.UUID, nudges <-chan struct{}) {
	tick := time.NewTicker(seeRunEvery)
	defer tick.Stop()
	for {
		select {
		case <-r.ctx.Done():
			return
		case <-nudges:
		case <-tick.C:
		}
		if err := s.mayGoOn(r, batch); err != nil && r.ctx.Err() == nil { // it is looked at again
			s.env.Log.Warn("looking whether a batch of rechecks may go on failed", "batch", batch, "error", err)
		}
	}
}

// mayGoOn says that the run continues, and ends it where it is not to.
func (s *Service) mayGoOn(r run, batch uuid.UUID) error {
	type seen struct{ Held, Ended bool }
	row, found, err := store.One[seen](r.ctx, s.env.Store.Pool, sql.SeeRecheckRun, batch)
	switch {
	case found && row.Ended:
		r.stop(errRunEnded)
	case found && row.Held:
		r.stop(errRunHeld)
	}
	return err
}

// freeBatch ends a batch that was broken off; what is left of it is taken up by another one when it is its turn.
func (s *Service) freeBatch(ctx context.Context, args stepargs.RecheckArgs) error {
	err := s.env.Project(ctx, args.Project, func(tx *store.Tx) error {
		return s.trust.LetNextBegin(ctx, tx, args.Project, func(trust.HeldFunctions) error {
			if _, err := store.Exec(ctx, tx, sql.FreeRechecks, args.Batch); err != nil {
				return err
			}
			_, err := store.Exec(ctx, tx, sql.EndRecheckBatch, args.Batch)
			return err
		})
	})
	if err != nil {
		return fmt.Errorf("giving a batch of rechecks back: %w", err)
	}
	return nil
}
