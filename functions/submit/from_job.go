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
	"github.com/ostraka/ostraka/functions/registry"
)

// ErrSourceNotFinished says that a job cannot be the input of another one yet, or will never be.
var ErrSourceNotFinished = &functions.Error{
	Kind: functions.KindConflict, Code: "source_not_finished", Message: "the job whose outputs are to be the input has not finished",
	Hint: "wait until it is finished: ostraka job watch JOB; of one that failed or was cancelled, run again what failed: ostraka job rerun JOB",
}

// countOutputs checks and counts what the outputs of a job come to as items. Nothing is stored: plans promise that, and a job may be refused yet.
func (s *Service) countOutputs(ctx context.Context, project uuid.UUID, plan *plannedJob, chosen bool) (err error) {
	plan.partition, plan.shards, err = countChosen(plan.partition, chosen, func(spec partition.Spec) (n int64, err error) {
		err = s.readOutputs(ctx, project, plan, func(lines io.Reader) (err error) {
			n, err = countInputs(spec.Read(lines))
			return err
		})
		return n, err
	})
	return err
}

// storeOutputs makes an object of the outputs that are a job's items, once it is known what else the job is. Others have their partition.
func (s *Service) storeOutputs(ctx context.Context, project uuid.UUID, plan *plannedJob) error {
	if plan.fromJob == nil {
		return nil
	}
	return s.readOutputs(ctx, project, plan, func(lines io.Reader) error {
		object, err := s.registry.PutObject(ctx, project, "", lines)
		plan.partition.Object = object.Digest
		return err
	})
}

// readOutputs has the accepted outputs of a finished job of the project read, in the order of its shards, one JSON value a line. The bounds are
// those of items that somebody uploads: an output that could be no item is refused by its shard.
func (s *Service) readOutputs(ctx context.Context, project uuid.UUID, plan *plannedJob, read func(io.Reader) error) error {
	job := *plan.fromJob
	source, err := s.jobs.GetJob(ctx, project, job)
	if err != nil {
		return err
	}
	if source.State != functions.JobFinished {
		return ErrSourceNotFinished.With("job %s is %s, and the outputs of a finished job can be the input of another one", job, source.State)
	}
	lines := newOutputLines(s.jobs.Results(ctx, project, job, jobs.ResultQuery{After: -1}))
	defer lines.stop()
	if err = read(lines); lines.err != nil {
		err = lines.err // as it was, and not as a store of objects tells it
	}
	if lines.err == nil && lines.count == 0 {
		err = functions.BadPartition(&partition.Error{Code: partition.CodeNoItems, Field: "job", Detail: "there are no outputs", Hint: "name a job that has some: ostraka job results JOB"})
	}
	if err != nil {
		return fmt.Errorf("reading the outputs of job %s as items: %w", job, err)
	}
	return nil
}

// outputLines reads results as JSON lines of their outputs, one after the other.
type outputLines struct {
	next func() (jobs.ResultLine, error, bool)
	stop func()
	line []byte // what is left of the one that is being read
	err  error  // why it ended, unless all was read
	// So many were taken, and so many bytes: neither gets larger than those of items that somebody uploads.
	count, bytes int64
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
	if _, err := partition.ItemsOf(r.Output).Next(); err != nil {
		return notAnItem(r.Shard, err)
	}
	line := append(append(make([]byte, 0, len(r.Output)+1), r.Output...), '\n')
	o.count, o.bytes = o.count+1, o.bytes+int64(len(line))
	switch {
	case o.count > partition.MaxShards:
		return functions.BadPartition(&partition.Error{
			Code: partition.CodeTooManyShards, Field: "job", Detail: fmt.Sprintf("there are more than %d outputs, the most that a job has shards", partition.MaxShards),
			Hint: "aggregate the outputs, or upload them as items of several jobs",
		})
	case o.bytes > registry.MaxObjectBytes:
		return &functions.Error{
			Kind: functions.KindTooLarge, Code: "object_too_large", Message: fmt.Sprintf("the outputs have more than %d bytes, the most that an object has", int64(registry.MaxObjectBytes)),
			Hint: "have the function return less, or upload the outputs as items of several jobs",
		}
	}
	o.line = line
	return nil
}

// notAnItem says of a bad item which shard's output it is.
func notAnItem(shard int64, err error) error {
	var refused *partition.Error
	if !errors.As(err, &refused) {
		return err
	}
	named := *refused
	named.Field, named.Line, named.Detail = "job", 0, fmt.Sprintf("the output of shard %d cannot be an item: %s", shard, refused.Detail)
	return functions.BadPartition(&named)
}
