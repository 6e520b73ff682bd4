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
	for {
		done, err := s.splitChunk(ctx, args)
		if err != nil {
			return fmt.Errorf("splitting job %s: %w", args.Job, err)
		}
		if done {
			return nil
		}
	}
}

func (s *Service) splitChunk(ctx context.Context, args SplitArgs) (done bool, err error) {
	err = s.project(ctx, args.Project, func(tx *store.Tx) error {
		job, found, err := store.One[splitJob](ctx, tx, store.LockJobForSplit, args.Job)
		if err != nil || !found || job.State != JobSplitting {
			done = true // cancelled meanwhile, or another run of this step has done it
			return err
		}
		first := job.SplitNext
		next := min(first+splitPages*partition.PageSize, job.ShardsTotal)
		if err := s.insertShards(ctx, tx, args, job, next); err != nil {
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

func (s *Service) insertShards(ctx context.Context, tx *store.Tx, args SplitArgs, job splitJob, next int64) error {
	offset := job.SplitOffset
	if job.Partition.Kind == partition.KindRange {
		if _, err := store.Exec(ctx, tx, store.AddShards, args.Job, job.SplitNext, next-1, job.Policy.Initial()); err != nil {
			return err
		}
	} else {
		read, err := s.copyItems(ctx, tx, args, job, next)
		if err != nil {
			return err
		}
		offset += read
	}
	_, err := store.Exec(ctx, tx, store.MoveSplit, args.Job, next, offset)
	return err
}

// copyItems copies the items of the next shards from the stored object. It returns how many bytes of the object they took.
func (s *Service) copyItems(ctx context.Context, tx *store.Tx, args SplitArgs, job splitJob, next int64) (int64, error) {
	object, _, err := s.blobs.Open(ctx, args.Project, job.Partition.Object)
	if err != nil {
		return 0, fmt.Errorf("opening the items: %w", err)
	}
	defer func() { _ = object.Close() }()
	if _, err := io.CopyN(io.Discard, object, job.SplitOffset); err != nil {
		return 0, fmt.Errorf("going on at byte %d of the items: %w", job.SplitOffset, err)
	}
	items := partition.NewItems(object)
	number := job.SplitNext
	wanted := job.Policy.Initial()
	source := pgx.CopyFromFunc(func() ([]any, error) {
		if number == next {
			return nil, nil
		}
		item, err := items.Next()
		if errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("the items end at shard %d, before %d: %w", number, next, io.ErrUnexpectedEOF)
		}
		if err != nil {
			return nil, err
		}
		row := []any{args.Job, number, wanted, item}
		number++
		return row, nil
	})
	if _, err := tx.CopyFrom(ctx, pgx.Identifier{"shards"}, []string{"job_id", "number", "wanted", "input"}, source); err != nil {
		return 0, fmt.Errorf("copying items: %w", err)
	}
	if next == job.ShardsTotal {
		// The object proves at its end that its bytes are those that were submitted.
		if _, err := items.Next(); !errors.Is(err, io.EOF) {
			return 0, fmt.Errorf("reading the end of the items: %w", cmp.Or(err, errTooManyItems))
		}
	}
	return items.Offset(), nil
}

var errTooManyItems = errors.New("there are more of them than were counted")
