package submit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/jobs"
	"github.com/ostraka/ostraka/functions/partition"
)

// ErrSourceNotFinished says that a job cannot be the input of another one yet, or will never be.
var ErrSourceNotFinished = &functions.Error{
	Kind: functions.KindConflict, Code: "source_not_finished", Message: "the job whose outputs are to be the input has not finished",
	Hint: "wait until it is finished: ostraka job watch JOB; of one that failed or was cancelled, run again what failed: ostraka job rerun JOB",
}

// itemsOfJob stores the accepted outputs of a finished job of the project, in the order of its shards, as an object of one JSON value a line,
// and names it. The bounds are those of items that somebody uploads: an output that could be no item is refused by its shard.
func (s *Service) itemsOfJob(ctx context.Context, project, job uuid.UUID) (digest string, err error) {
	source, err := s.jobs.GetJob(ctx, project, job)
	if err != nil {
		return "", err
	}
	if source.State != functions.JobFinished {
		return "", ErrSourceNotFinished.With("job %s is %s, and the outputs of a finished job can be the input of another one", job, source.State)
	}
	lines := newOutputLines(s.jobs.Results(ctx, project, job, jobs.ResultQuery{After: -1}))
	defer lines.stop()
	object, err := s.registry.PutObject(ctx, project, "", lines)
	if lines.err != nil {
		err = lines.err // as it was, and not as a store of objects tells it
	}
	if err != nil {
		return "", fmt.Errorf("storing the outputs of job %s as items: %w", job, err)
	}
	return object.Digest, nil
}

// outputLines reads results as JSON lines of their outputs, one after the other.
type outputLines struct {
	next func() (jobs.ResultLine, error, bool)
	stop func()
	line []byte // what is left of the one that is being read
	err  error  // why it ended, unless all was read
}

func newOutputLines(results iter.Seq2[jobs.ResultLine, error]) *outputLines {
	next, stop := iter.Pull2(results)
	return &outputLines{next: next, stop: stop}
}

// Read implements io.Reader.
func (o *outputLines) Read(p []byte) (int, error) {
	for len(o.line) == 0 {
		if o.err != nil {
			return 0, o.err
		}
		result, err, some := o.next()
		if !some {
			return 0, io.EOF
		}
		if err == nil {
			err = o.take(result)
		}
		o.err = err
	}
	n := copy(p, o.line)
	o.line = o.line[n:]
	return n, nil
}

// take makes a line of an output. Canonical JSON has no line breaks.
func (o *outputLines) take(r jobs.ResultLine) error {
	if len(r.Output) == 0 || len(r.Output) > partition.MaxItemBytes {
		return functions.BadPartition(&partition.Error{
			Code: partition.CodeItemTooLarge, Field: "job", Detail: fmt.Sprintf("the output of shard %d has more than %d bytes, and an item has no more", r.Shard, partition.MaxItemBytes),
			Hint: "have the function return less, or leave files (artifacts) that the next job gets as objects",
		})
	}
	o.line = append(append(make([]byte, 0, len(r.Output)+1), r.Output...), '\n')
	return nil
}

// notAnItem says of a bad item which shard's output it is: lines count from 1, shards from 0.
func notAnItem(err error) error {
	var refused *partition.Error
	if !errors.As(err, &refused) || refused.Line == 0 {
		return err
	}
	named := *refused
	named.Field, named.Line, named.Detail = "job", 0, fmt.Sprintf("the output of shard %d cannot be an item: %s", refused.Line-1, refused.Detail)
	return functions.BadPartition(&named)
}
