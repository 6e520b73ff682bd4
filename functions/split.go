package functions

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/ostraka/ostraka/functions/partition"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/functions/verify"
)

// SplitArgs is the step that makes a job's shards.
type SplitArgs struct {
	Project uuid.UUID `json:"project"`
	Job     uuid.UUID `json:"job"`
}

// Kind names the step.
func (SplitArgs) Kind() string { return "split" }

// splitPages is how many pages one transaction of the split makes: large enough that a million shards need sixteen transactions,
// small enough that one takes well under a second and agents can start on the first chunk meanwhile.
const splitPages = 64

type splitJob struct {
	State       JobState
	Partition   partition.Spec
	Policy      verify.Policy
	ShardsTotal int64
	SplitNext   int64
	SplitOffset int64
}

// Split makes the shards that do not exist yet, chunk by chunk. Each chunk is one transaction that also moves the mark from which
// a split that was killed goes on.
func (s *Service) Split(ctx context.Context, args SplitArgs) error {
	source := &splitSource{blobs: s.blobs, project: args.Project}
	defer source.close()
	for {
		done, err := s.splitChunk(ctx, args, source)
		if err != nil {
			return fmt.Errorf("splitting job %s: %w", args.Job, err)
		}
		if done {
			return nil
		}
	}
}

// splitSource is the object that inputs are read from, open from one chunk to the next.
type splitSource struct {
	blobs   Blobs
	project uuid.UUID
	object  io.Closer
	inputs  partition.Reader
}

// at returns the inputs from where a job's split goes on. A chunk that was not kept has read too far: the object is opened again.
func (s *splitSource) at(ctx context.Context, job splitJob) (partition.Reader, error) {
	if s.inputs != nil && s.inputs.Count() == job.SplitNext {
		return s.inputs, nil
	}
	s.close()
	object, _, err := s.blobs.Open(ctx, s.project, job.Partition.Source())
	if err != nil {
		return nil, fmt.Errorf("opening the inputs: %w", err)
	}
	s.object = object
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

func (s *Service) splitChunk(ctx context.Context, args SplitArgs, source *splitSource) (done bool, err error) {
	err = s.project(ctx, args.Project, func(tx *store.Tx) error {
		job, found, err := store.One[splitJob](ctx, tx, store.LockJobForSplit, args.Job)
		if err != nil || !found || job.State != JobSplitting {
			done = true // cancelled meanwhile, or another run of this step has done it
			return err
		}
		first := job.SplitNext
		next := min(first+splitPages*partition.PageSize, job.ShardsTotal)
		if err := s.insertShards(ctx, tx, args, job, source, next); err != nil {
			return err
		}
		if _, err := store.Exec(ctx, tx, store.AddPages, args.Job, partition.PageOf(first), partition.Pages(next), int64(partition.PageSize), job.ShardsTotal); err != nil {
			return err
		}
		if done = next == job.ShardsTotal; done {
			if err := addEvent(ctx, tx, args.Job, EventRunning, map[string]any{"shards": job.ShardsTotal}); err != nil {
				return err
			}
		}
		return notify(ctx, tx, channelWork, args.Project)
	})
	return done, err
}

func (s *Service) insertShards(ctx context.Context, tx *store.Tx, args SplitArgs, job splitJob, source *splitSource, next int64) error {
	offset := job.SplitOffset
	if job.Partition.Computed() {
		if _, err := store.Exec(ctx, tx, store.AddShards, args.Job, job.SplitNext, next-1, job.Policy.Initial()); err != nil {
			return err
		}
	} else {
		inputs, err := source.at(ctx, job)
		if err != nil {
			return err
		}
		if err := copyInputs(ctx, tx, args.Job, job, inputs, next); err != nil {
			return err
		}
		offset = inputs.Offset()
	}
	_, err := store.Exec(ctx, tx, store.MoveSplit, args.Job, next, offset)
	return err
}

// copyInputs copies the inputs of the next shards from the stored object.
func copyInputs(ctx context.Context, tx *store.Tx, id uuid.UUID, job splitJob, inputs partition.Reader, next int64) error {
	wanted := job.Policy.Initial()
	source := pgx.CopyFromFunc(func() ([]any, error) {
		number := inputs.Count()
		if number == next {
			return nil, nil
		}
		input, err := inputs.Next()
		if errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("the inputs end at shard %d, before %d: %w", number, next, io.ErrUnexpectedEOF)
		}
		if err != nil {
			return nil, err
		}
		return []any{id, number, wanted, input}, nil
	})
	if _, err := tx.CopyFrom(ctx, pgx.Identifier{"shards"}, []string{"job_id", "number", "wanted", "input"}, source); err != nil {
		return fmt.Errorf("copying inputs: %w", err)
	}
	if next < job.ShardsTotal {
		return nil
	}
	// The object proves at its end that its bytes are those that were submitted.
	if _, err := inputs.Next(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("reading the end of the inputs: %w", cmp.Or(err, errTooManyInputs))
	}
	return nil
}

var errTooManyInputs = errors.New("there are more of them than were counted")
