package execution

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/registry"
	"github.com/ostraka/ostraka/functions/result"
	"github.com/ostraka/ostraka/functions/stepargs"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/functions/trust"
	"github.com/ostraka/ostraka/functions/trust/sql"
	"github.com/ostraka/ostraka/runtime/bundle"
	"github.com/ostraka/ostraka/runtime/harness"
	"github.com/ostraka/ostraka/runtime/recheck"
)

// Limits of rechecks.
const (
	// RecheckBatch is how many shards one step executes: enough that a sandbox costs little, few enough that projects take turns.
	RecheckBatch = 128
	// RecheckBatchTime is how long the shards of a batch may have taken agents together. A single one may take longer. Where others wait, a
	// batch ends after RecheckSlice.
	RecheckBatchTime = 5 * time.Minute
	// RecheckBatchLimit is how long they may take together if each takes as long as the function may, whatever agents said of them, and
	// RecheckBatchBytes how much they may put out, which is in memory together. A single one may take and put out more.
	RecheckBatchLimit = 6 * time.Hour
	RecheckBatchBytes = 256 << 20
)

// errNoRechecker is why rechecks wait on a server that has no sandbox.
var errNoRechecker = errors.New("this server works the queue of rechecks and has no sandbox for them")

// Recheck executes shards on the server, outside of any transaction, and weighs what comes out. Where the server contradicts an agent it
// executes the shard again, elsewhere and with another hash seed, before anybody is blamed. An execution that does not happen is
// never a verdict: it is tried again later.
func (s *Service) Recheck(ctx context.Context, args stepargs.RecheckArgs) error {
	if s.rechecker == nil {
		return s.delayBatch(ctx, args, errNoRechecker)
	}
	turn, err := s.takeTurn(ctx, args.Project, args.Long)
	if err != nil {
		return err
	}
	defer turn.give()
	work, err := s.claimRechecks(ctx, args)
	if hold := holdOf(err); hold != nil {
		return s.holdJob(ctx, args, work.Job, *hold)
	}
	if err != nil {
		return fmt.Errorf("taking up rechecks: %w", err)
	}
	switch {
	case len(work.Numbers) == 0 || work.State.Ended():
		return s.endBatch(ctx, args, work)
	case work.Held: // it was cut off, and put on hold since
		return s.freeBatch(ctx, args)
	}
	runs, err := s.executeBatch(ctx, turn, args, work)
	unnoted := s.endRun(ctx, args, turn.used)
	if len(runs) > 0 { // also of a batch that broke off in the middle
		if err := s.trust.WeighRechecks(ctx, args, work, runs); err != nil {
			return fmt.Errorf("weighing rechecks of job %s: %w", work.Job, err)
		}
	}
	switch {
	case unnoted != nil:
		return unnoted
	case errors.Is(err, errRunEnded):
		return s.endBatch(ctx, args, work)
	case stoppedRun(err):
		return s.freeBatch(ctx, args)
	case err != nil:
		return s.delayBatch(ctx, args, err)
	}
	return s.endBatch(ctx, args, trust.RecheckWork{})
}

// claimRechecks takes up a batch, and enqueues another one where more waits.
func (s *Service) claimRechecks(ctx context.Context, args stepargs.RecheckArgs) (work trust.RecheckWork, err error) {
	type claimed struct {
		JobID uuid.UUID
		Shard int64
	}
	err = s.env.Project(ctx, args.Project, func(tx *store.Tx) error {
		work = trust.RecheckWork{Project: args.Project}
		held, err := s.trust.HeldOf(ctx, tx, args.Project)
		if err != nil {
			return err
		}
		if _, err := store.Exec(ctx, tx, store.GateRechecks); err != nil {
			return err
		}
		n, err := store.Exec(ctx, tx, sql.StartRecheckBatch, args.Batch)
		if err != nil || n == 0 {
			return err // another run has ended it
		}
		rows, err := store.Many[claimed](ctx, tx, sql.ClaimRechecks, args.Batch, RecheckBatch, RecheckBatchTime.Microseconds(),
			int64(RecheckBatchLimit/time.Second), RecheckBatchBytes, held.Functions, held.Versions, held.Rules)
		if err != nil {
			return err
		}
		for _, r := range rows {
			work.Job, work.Numbers = r.JobID, append(work.Numbers, r.Shard)
		}
		if len(rows) > 0 {
			if err := work.Read(ctx, tx); err != nil {
				return err
			}
			work.Held, work.Left = held.Cover(work.Function) || held.Budget.IsSpent(), held.Budget.Time()
			if !work.Held && !work.State.Ended() {
				if err := s.askExecute(ctx, tx, args, work); err != nil {
					return err
				}
				if _, err := store.Exec(ctx, tx, sql.EndRecheckHold, work.Job); err != nil {
					return err
				}
			}
		}
		steps, err := trust.NextBatch(ctx, tx, args.Project, held)
		if err != nil {
			return err
		}
		server, err := tx.AsServer(ctx)
		if err != nil {
			return err
		}
		if err := s.env.Enqueue(ctx, tx, steps...); err != nil || len(work.Numbers) == 0 || work.State.Ended() || work.Held {
			return err
		}
		return beginRun(ctx, server, args, work)
	})
	return work, err
}

// endBatch ends a batch, with what is left of it where its job has ended, and lets the next one begin.
func (s *Service) endBatch(ctx context.Context, args stepargs.RecheckArgs, left trust.RecheckWork) error {
	err := s.env.Project(ctx, args.Project, func(tx *store.Tx) error {
		if len(left.Numbers) > 0 {
			if _, err := store.Values[int64](ctx, tx, sql.TakeRechecks, args.Batch, left.Job, left.Numbers); err != nil {
				return err
			}
		}
		return s.trust.LetNextBegin(ctx, tx, args.Project, func(trust.HeldFunctions) error {
			_, err := store.Exec(ctx, tx, sql.EndRecheckBatch, args.Batch)
			return err
		})
	})
	if err != nil {
		return fmt.Errorf("ending a batch of rechecks: %w", err)
	}
	return nil
}

// The pauses before a batch that could not be executed is tried again grow with the time since it could.
const shortestPause = 2 * time.Second

// delayBatch notes why nothing could be executed, where job explain and readyz find it, and tries again later.
func (s *Service) delayBatch(ctx context.Context, args stepargs.RecheckArgs, why error) error {
	if ctx.Err() != nil {
		return ctx.Err() // the server stops, or the step has run out of time
	}
	var since time.Time
	err := s.env.Project(ctx, args.Project, func(tx *store.Tx) (err error) {
		since, _, err = store.Value[time.Time](ctx, tx, sql.DelayRecheckBatch, args.Batch, why.Error())
		return err
	})
	if err != nil {
		return fmt.Errorf("noting why rechecks wait: %w", err)
	}
	s.env.Log.Warn("rechecks wait", "project", args.Project, "error", why, "since", since)
	return &functions.Snooze{For: min(max(time.Since(since), shortestPause), functions.LongestSnooze), Err: why}
}

// executeBatch executes the batch, and those shards again, each time with another of Python's hash seeds (agents have 0), where the server's
// answer would speak against an agent: until it is certain, or another one comes out. What was executed before an error is returned with it.
// Where others want the slot, an execution ends between two shards, and others have their turn before the next one goes on with those shards
// that it has got to: so that each time one shard at least is settled.
func (s *Service) executeBatch(ctx context.Context, turn *turn, args stepargs.RecheckArgs, work trust.RecheckWork) (map[int64][]trust.ServerRun, error) {
	code, err := s.bundleOf(ctx, args.Project, work.Function)
	if err != nil {
		return nil, err
	}
	batch := recheck.Batch{Project: args.Project, Job: work.Job, Bundle: code, Shards: work.Shards, Open: s.registry.OpenInput(args.Project), Runtime: s.registry.OpenRuntime(args.Project)}
	runs := map[int64][]trust.ServerRun{}
	once := func() error {
		began := time.Now()
		err := s.executeOnce(ctx, args, work, batch, runs)
		turn.used, work.Left = turn.used+time.Since(began), work.Left-time.Since(began)
		return err
	}
	cut := once()
	if cut != nil && !errors.Is(cut, errSliceEnd) {
		return s.settledRuns(ctx, args, work, runs), cut
	}
	d, err := s.trust.Doubts(ctx, args, work, runs)
	if err != nil {
		return nil, err
	}
	for {
		again := d.Contradicted(runs)
		if len(again) == 0 {
			return runs, cut
		}
		if err := turn.pass(ctx); err != nil {
			return s.settledRuns(ctx, args, work, runs), err
		}
		batch.HashSeed++
		batch.Shards = slices.DeleteFunc(slices.Clone(work.Shards), func(r recheck.Shard) bool { return !slices.Contains(again, r.Number) })
		err := once()
		if err != nil && !errors.Is(err, errSliceEnd) {
			return s.settledRuns(ctx, args, work, runs), err
		}
		if err != nil {
			cut = err
			forgetUnfinished(runs, again)
		}
		if work.Validator != nil || err != nil { // which has another answer to compare, or fewer shards are left
			if d, err = s.trust.Doubts(ctx, args, work, runs); err != nil {
				return nil, err
			}
		}
	}
}

// forgetUnfinished drops the runs of those shards that were to be executed again and were not got to: they are taken up again.
func forgetUnfinished(runs map[int64][]trust.ServerRun, again []int64) {
	most := 0
	for _, n := range again {
		most = max(most, len(runs[n]))
	}
	for _, n := range again {
		if len(runs[n]) < most {
			delete(runs, n)
		}
	}
}

// executeOnce executes a batch for as long as it may continue.
func (s *Service) executeOnce(ctx context.Context, args stepargs.RecheckArgs, work trust.RecheckWork, batch recheck.Batch, runs map[int64][]trust.ServerRun) error {
	r, err := s.watchBatch(ctx, args, work)
	if err != nil {
		return err
	}
	defer r.close()
	batch.Ended = r.ended
	err = s.execute(ctx, r.ctx, batch, runs)
	if err != nil && r.ctx.Err() != nil && ctx.Err() == nil {
		return context.Cause(r.ctx)
	}
	return err
}

// settledRuns are those of an execution that broke off which need no further one.
func (s *Service) settledRuns(ctx context.Context, args stepargs.RecheckArgs, work trust.RecheckWork, runs map[int64][]trust.ServerRun) map[int64][]trust.ServerRun {
	d, err := s.trust.Doubts(ctx, args, work, runs)
	if err != nil {
		return nil
	}
	for _, n := range d.Contradicted(runs) {
		delete(runs, n)
	}
	return runs
}

// bundleOf reads the function's code, which is checked again.
func (s *Service) bundleOf(ctx context.Context, project uuid.UUID, f registry.FunctionRow) (*bundle.Bundle, error) {
	archive, err := s.env.Blobs.Get(ctx, project, f.Digest, f.Size)
	if err != nil {
		return nil, fmt.Errorf("reading the bundle of %s version %d: %w", f.Name, f.Version, registry.ObjectError(err, f.Digest))
	}
	return bundle.Verify(bytes.NewReader(archive), f.Size)
}

// execute adds what came out to the runs of each shard, also where the run has ended before the batch.
func (s *Service) execute(ctx, run context.Context, batch recheck.Batch, runs map[int64][]trust.ServerRun) error {
	results, err := s.rechecker.Recheck(run, batch)
	known := map[int64]bool{}
	for _, shard := range batch.Shards {
		known[shard.Number] = true
	}
	for _, r := range results {
		if !known[r.Shard] {
			return fmt.Errorf("the sandbox answers for shard %d, which it was not given", r.Shard)
		}
		known[r.Shard] = false
		run, err := s.serverRun(ctx, batch.Project, r, batch.Bundle.Manifest.Script != "")
		if err != nil {
			return err
		}
		runs[r.Shard] = append(runs[r.Shard], run)
	}
	if err == nil && len(results) < len(batch.Shards) {
		err = fmt.Errorf("the sandbox answers for %d of %d shards", len(results), len(batch.Shards))
	}
	return err
}

// serverRun makes of a result what is made of an agent's: it is shortened and checked alike, and a large output is stored. A result that
// cannot be kept is none of this shard, and others of the batch do not mind.
func (s *Service) serverRun(ctx context.Context, project uuid.UUID, r harness.Result, script bool) (run trust.ServerRun, err error) {
	if r, err = harness.Fit(r); err != nil {
		return run, fmt.Errorf("reading the server's result of shard %d: %w", r.Shard, err)
	}
	run.Whole = r.Output
	if len(r.Output) > result.MaxInlineOutput {
		if _, _, err := s.env.Blobs.Put(ctx, project, bytes.NewReader([]byte(r.Output)), int64(len(r.Output))); err != nil {
			return run, fmt.Errorf("storing the server's output of shard %d: %w", r.Shard, err)
		}
		r.OutputBytes, r.Output = int64(len(r.Output)), ""
	}
	run.Checked, _, err = result.Check(resultOf(r), script)
	if err != nil {
		s.env.Log.Warn("a result of the server cannot be kept", "project", project, "shard", r.Shard, "error", err)
		run.Whole = ""
		run.Checked, _, err = result.Check(unkept(r, err), script)
	}
	if err != nil {
		return run, fmt.Errorf("reading the server's result of shard %d: %w", r.Shard, err)
	}
	return run, nil
}

// resultOf is a result of the harness in the words of the domain.
func resultOf(r harness.Result) functions.Result {
	out := functions.Result{
		Shard: r.Shard, Status: string(r.Status), Output: r.Output, OutputDigest: r.OutputDigest, OutputBytes: r.OutputBytes,
		StdoutDigest: r.StdoutDigest, StdoutBytes: r.StdoutBytes, StdoutTail: r.StdoutTail, StdoutTruncated: r.StdoutTruncated,
		StderrBytes: r.StderrBytes, StderrTail: r.StderrTail, Signal: r.Signal, ExitCode: &r.ExitCode,
		CPUMicros: r.CPUMicros, WallMicros: r.WallMicros, PeakRSS: r.PeakRSSBytes, InputBytes: r.InputBytes,
		Isolation: r.Isolation, Interpreter: r.Interpreter, Platform: r.Platform, Libc: r.Libc, Fuel: r.Fuel, Meter: r.Meter,
	}
	if r.Status != harness.StatusOK {
		out.Output, out.OutputDigest, out.OutputBytes = "", "", 0
	}
	if r.Exception != nil {
		out.Exception = &functions.Exception{Type: r.Exception.Type, Message: r.Exception.Message, Traceback: r.Exception.Traceback}
	}
	for _, f := range r.Files {
		out.Files = append(out.Files, functions.File(f))
	}
	for text, to := range map[string]*time.Time{r.StartedAt: &out.StartedAt, r.EndedAt: &out.EndedAt} {
		*to, _ = time.Parse(time.RFC3339Nano, text) // the harness wrote it; a shard that never began has none
	}
	return out
}
