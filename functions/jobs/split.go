package jobs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/jobs/sql"
	"github.com/ostraka/ostraka/functions/partition"
	"github.com/ostraka/ostraka/functions/stepargs"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/functions/verify"
)

// DefaultSplitPages is how many pages one transaction of the split makes: large enough that a million shards need sixteen transactions,
// small enough that one takes well under a second and agents can start on the first chunk meanwhile.
const DefaultSplitPages = 64

const (
	// splitBusy is when the step is tried again where another one makes shards for the project.
	splitBusy = time.Second
	// splitLost is how long the project's step was not seen before another one is made: it runs every few seconds while there is work,
	// unless somebody has deleted it.
	splitLost = 10 * time.Minute
)

type splitJob struct {
	ID          uuid.UUID
	State       functions.JobState
	Partition   partition.Spec
	Policy      verify.Policy
	ShardsTotal int64
	SplitNext   int64
	SplitOffset int64
}

// splitTurn is what a transaction of the split came to.
type splitTurn struct {
	job      splitJob
	busy     bool // another step makes shards for the project
	done     bool // nothing is left to do
	computed bool // nothing was read
}

// errInputs is why a job's inputs cannot be read: others are not to wait for it.
type errInputs struct{ error }

// Unwrap gives the reason.
func (e errInputs) Unwrap() error { return e.error }

// Split makes shards that do not exist yet. Each chunk is one transaction that also moves the mark from which a split that was killed goes
// on. Then it is the turn of others; of a stored object, of which all before a chunk is read again each time that it is opened, only after a
// while.
func (s *Service) Split(ctx context.Context, args stepargs.SplitArgs) error {
	source := &splitSource{blobs: s.env.Blobs, project: args.Project}
	defer source.close()
	mine := base.NewSlice()
	for {
		turn, err := s.splitChunk(ctx, args, source)
		var unreadable errInputs
		switch {
		case errors.As(err, &unreadable) && args.Job == uuid.Nil:
			return s.splitApart(ctx, stepargs.SplitArgs{Project: args.Project, Job: turn.job.ID}, err)
		case err != nil:
			return fmt.Errorf("splitting job %s: %w", turn.job.ID, err)
		case turn.busy:
			return &functions.Snooze{For: splitBusy, Err: errSplitBusy}
		case turn.done:
			return nil
		case turn.computed:
			return &functions.Snooze{Err: base.ErrTurnOver}
		}
		if err := mine.Over(); err != nil {
			return err
		}
	}
}

var errSplitBusy = errors.New("another step makes shards for this project")

// splitApart gives a job whose inputs cannot be read a step of its own, which stays where operators see it.
func (s *Service) splitApart(ctx context.Context, step stepargs.SplitArgs, why error) error {
	err := s.env.Project(ctx, step.Project, func(tx *store.Tx) error {
		n, err := store.Exec(ctx, tx, sql.SplitApart, step.Job)
		if err != nil || n == 0 {
			return err
		}
		return s.env.Enqueue(ctx, tx, step)
	})
	if err != nil {
		return fmt.Errorf("splitting job %s: %w", step.Job, errors.Join(why, err))
	}
	s.env.Log.Warn("the inputs of a job cannot be read", "job", step.Job, "error", why)
	return &functions.Snooze{Err: why}
}

// TakeSplitTurn says whether the project needs a step that splits: it has none. It is among the last things that a transaction does.
func TakeSplitTurn(ctx context.Context, tx *store.Tx) (bool, error) {
	if _, err := store.Exec(ctx, tx, sql.GateSplits); err != nil {
		return false, err
	}
	n, err := store.Exec(ctx, tx, sql.TakeSplitTurn, splitLost)
	return n > 0, err
}

// MendSplit enqueues the step again where it was lost.
func (s *Service) MendSplit(ctx context.Context, project uuid.UUID) error {
	return s.env.Project(ctx, project, func(tx *store.Tx) error {
		waits, _, err := store.Value[bool](ctx, tx, sql.SplitsWait)
		if err != nil || !waits {
			return err
		}
		if needed, err := TakeSplitTurn(ctx, tx); err != nil || !needed {
			return err
		}
		return s.env.Enqueue(ctx, tx, stepargs.SplitArgs{Project: project})
	})
}

// splitSource is the object that inputs are read from, open from one chunk to the next.
type splitSource struct {
	blobs   functions.Blobs
	project uuid.UUID
	job     uuid.UUID
	object  io.Closer
	inputs  partition.Reader
}

// at returns the inputs from where a job's split goes on. A chunk that was not kept has read too far: the object is opened again.
func (s *splitSource) at(ctx context.Context, job splitJob) (partition.Reader, error) {
	if s.inputs != nil && s.job == job.ID && s.inputs.Count() == job.SplitNext {
		return s.inputs, nil
	}
	s.close()
	object, _, err := s.blobs.Open(ctx, s.project, job.Partition.Source())
	if err != nil {
		return nil, fmt.Errorf("opening the inputs: %w", err)
	}
	s.job, s.object = job.ID, object
	if s.inputs, err = job.Partition.Resume(object, job.SplitOffset, job.SplitNext); err != nil {
		return nil, err
	}
	return s.inputs, nil
}

func (s *splitSource) close() {
	if s.object != nil {
		_ = s.object.Close() // it was only read
		s.object, s.inputs = nil, nil
	}
}

func (s *Service) splitChunk(ctx context.Context, args stepargs.SplitArgs, source *splitSource) (turn splitTurn, err error) {
	err = s.env.Project(ctx, args.Project, func(tx *store.Tx) error {
		turn = splitTurn{job: splitJob{ID: args.Job}}
		free, _, err := store.Value[bool](ctx, tx, sql.TrySplit)
		if turn.busy = !free; err != nil || turn.busy {
			return err
		}
		found, err := turn.choose(ctx, tx, args.Job)
		if err != nil {
			return err
		}
		last := true
		if found && turn.job.State == functions.JobSplitting { // not cancelled meanwhile, nor done by another run of this step
			if last, err = s.makeShards(ctx, tx, turn.job, source); err != nil {
				return err
			}
		}
		if args.Job != uuid.Nil || !last {
			turn.done = last
			return s.splitMade(ctx, tx, args)
		}
		if _, err := store.Exec(ctx, tx, sql.GateSplits); err != nil {
			return err
		}
		more, _, err := store.Value[bool](ctx, tx, sql.EndSplitTurn)
		if turn.done = !more; err != nil {
			return err
		}
		return base.Notify(ctx, tx, base.ChannelWork, args.Project)
	})
	turn.computed = turn.job.Partition.Computed()
	return turn, err
}

// choose locks the job that a chunk is made of.
func (t *splitTurn) choose(ctx context.Context, tx *store.Tx, job uuid.UUID) (found bool, err error) {
	var row splitJob
	if job == uuid.Nil {
		row, found, err = store.One[splitJob](ctx, tx, sql.NextSplit)
	} else {
		row, found, err = store.One[splitJob](ctx, tx, sql.LockJobForSplit, job)
	}
	if found {
		t.job = row
	}
	return found, err
}

// splitMade notes that the project's step is alive, and that there are shards.
func (s *Service) splitMade(ctx context.Context, tx *store.Tx, args stepargs.SplitArgs) error {
	if args.Job == uuid.Nil {
		if _, err := store.Exec(ctx, tx, sql.SeeSplitTurn); err != nil {
			return err
		}
	}
	return base.Notify(ctx, tx, base.ChannelWork, args.Project)
}

// makeShards makes the next chunk of a job, and says whether it was the last.
func (s *Service) makeShards(ctx context.Context, tx *store.Tx, job splitJob, source *splitSource) (last bool, err error) {
	first := job.SplitNext
	next := min(first+s.splitPages*partition.PageSize, job.ShardsTotal)
	if err := insertShards(ctx, tx, job, source, next); err != nil {
		return false, err
	}
	if _, err := store.Exec(ctx, tx, sql.AddPages, job.ID, partition.PageOf(first), partition.Pages(next), int64(partition.PageSize), job.ShardsTotal); err != nil {
		return false, err
	}
	if last = next == job.ShardsTotal; last {
		err = base.AddEvent(ctx, tx, job.ID, base.EventRunning, map[string]any{"shards": job.ShardsTotal})
	}
	return last, err
}

func insertShards(ctx context.Context, tx *store.Tx, job splitJob, source *splitSource, next int64) error {
	offset := job.SplitOffset
	if job.Partition.Computed() {
		if _, err := store.Exec(ctx, tx, sql.AddShards, job.ID, job.SplitNext, next-1, job.Policy.Initial()); err != nil {
			return err
		}
	} else {
		inputs, err := source.at(ctx, job)
		if err != nil {
			return unreadable(ctx, err)
		}
		if err := copyInputs(ctx, tx, job, inputs, next); err != nil {
			return err
		}
		offset = inputs.Offset()
		if err := keepFiles(ctx, tx, job, next); err != nil {
			return err
		}
	}
	_, err := store.Exec(ctx, tx, sql.MoveSplit, job.ID, next, offset)
	return err
}

// keepFiles keeps the files of shards that were just made as long as the project: nothing else says that a job reads them.
func keepFiles(ctx context.Context, tx *store.Tx, job splitJob, next int64) error {
	if job.Partition.Kind != partition.KindObjects {
		return nil
	}
	if _, err := store.Exec(ctx, tx, sql.KeepFiles, job.ID, job.SplitNext, next); err != nil {
		return err
	}
	if next < job.ShardsTotal {
		return nil
	}
	_, err := store.Exec(ctx, tx, sql.InputsKept, job.ID)
	return err
}

// copyInputs copies the inputs of the next shards from the stored object.
func copyInputs(ctx context.Context, tx *store.Tx, job splitJob, inputs partition.Reader, next int64) error {
	wanted := job.Policy.Initial()
	var unread error // what Postgres says of it is a text
	source := pgx.CopyFromFunc(func() ([]any, error) {
		number := inputs.Count()
		if number == next {
			return nil, nil
		}
		input, err := inputs.Next()
		if errors.Is(err, io.EOF) {
			err = fmt.Errorf("the inputs end at shard %d, before %d: %w", number, next, io.ErrUnexpectedEOF)
		}
		if err != nil {
			unread = unreadable(ctx, err)
			return nil, unread
		}
		return []any{job.ID, number, wanted, input}, nil
	})
	if _, err := tx.CopyFrom(ctx, pgx.Identifier{"shards"}, []string{"job_id", "number", "wanted", "input"}, source); err != nil {
		return fmt.Errorf("copying inputs: %w", cmp.Or(unread, err))
	}
	if next < job.ShardsTotal {
		return nil
	}
	// The object proves at its end that its bytes are those that were submitted.
	if _, err := inputs.Next(); !errors.Is(err, io.EOF) {
		return unreadable(ctx, fmt.Errorf("reading the end of the inputs: %w", cmp.Or(err, errTooManyInputs)))
	}
	return nil
}

// unreadable marks an error of reading inputs, unless the server stops.
func unreadable(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return err
	}
	return errInputs{err}
}

var errTooManyInputs = errors.New("there are more of them than were counted")
