package archive

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/audit"
	"github.com/ostraka/ostraka/blob"
	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/archive/sql"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/jobs"
	"github.com/ostraka/ostraka/functions/partition"
	"github.com/ostraka/ostraka/functions/registry"
	"github.com/ostraka/ostraka/functions/store"
	file "github.com/ostraka/ostraka/runtime/archive"
	"github.com/ostraka/ostraka/runtime/canonical"
)

// open opens the file of an archived job, with how its input was cut.
func (s *Service) open(ctx context.Context, project, job uuid.UUID) (r *file.Reader, spec partition.Spec, done io.Closer, err error) {
	var is fileRow
	err = s.env.Project(ctx, project, func(tx *store.Tx) error {
		if err := base.NotDeleted(ctx, tx, job); err != nil {
			return err
		}
		var found bool
		if is, found, err = store.One[fileRow](ctx, tx, sql.ArchivedFile, job); err == nil && !found {
			return ErrNoArchive.With("job %s has no archive", job)
		}
		if err != nil {
			return err
		}
		spec, _, err = store.Value[partition.Spec](ctx, tx, store.GetPartition, job)
		return err
	})
	if err != nil {
		return nil, spec, nil, err
	}
	in, size, err := s.env.Blobs.OpenAt(ctx, project, is.Digest)
	if err != nil {
		return nil, spec, nil, broken(err, is.Digest)
	}
	if r, err = is.read(in, size); err != nil {
		return nil, spec, nil, errors.Join(broken(err, is.Digest), in.Close())
	}
	return r, spec, in, nil
}

// fileRow is a file of shards as it was written.
type fileRow struct {
	Digest string
	Bytes  int64
	Rows   int64
}

// read refuses what cannot be that file by how large it is: readers of parts do not compare its digest.
func (f fileRow) read(in io.ReaderAt, size int64) (*file.Reader, error) {
	if size != f.Bytes {
		return nil, fmt.Errorf("%w: it has %d bytes, and was written with %d", file.ErrDamaged, size, f.Bytes)
	}
	r, err := file.Open(in, size)
	if err == nil && r.Rows() != f.Rows {
		return nil, fmt.Errorf("%w: it has %d shards, and was written with %d", file.ErrDamaged, r.Rows(), f.Rows)
	}
	return r, err
}

// broken says of an archive that cannot be read what is wrong with it.
func broken(err error, digest string) error {
	if errors.Is(err, file.ErrDamaged) {
		err = fmt.Errorf("%w: %w", blob.ErrCorrupt, err)
	}
	return registry.ObjectError(err, digest)
}

// ArchivedResults yields the accepted results of an archived job in shard order. Each inline output is held against its digest.
func (s *Service) ArchivedResults(ctx context.Context, project, job uuid.UUID, query jobs.ResultQuery) iter.Seq2[jobs.ResultLine, error] {
	return func(yield func(jobs.ResultLine, error) bool) {
		r, spec, done, err := s.open(ctx, project, job)
		if err != nil {
			yield(jobs.ResultLine{}, err)
			return
		}
		defer func() { _ = done.Close() }() // it was only read
		for result, err := range r.Results(query.After) {
			var line jobs.ResultLine
			if err == nil && query.Final && result.Provisional {
				continue
			}
			if err == nil {
				line, err = resultLine(result, spec, query.Input)
			}
			if err != nil {
				yield(line, broken(err, "of the archive of job "+job.String()))
				return
			}
			if !yield(line, nil) {
				return
			}
		}
	}
}

func resultLine(r file.Result, spec partition.Spec, input bool) (jobs.ResultLine, error) {
	line := jobs.ResultLine{Shard: r.Shard, OutputDigest: r.OutputDigest, Provisional: r.Provisional}
	if r.Output != nil {
		line.Output = json.RawMessage(*r.Output)
		if got := canonical.Digest(line.Output); got != r.OutputDigest {
			return line, fmt.Errorf("%w: the output of shard %d has another digest", file.ErrDamaged, r.Shard)
		}
	}
	var err error
	if line.Agent, err = uuid.Parse(r.Agent); err != nil {
		return line, fmt.Errorf("%w: the agent of shard %d: %w", file.ErrDamaged, r.Shard, err)
	}
	if input {
		var stored []byte
		if r.Input != nil {
			stored = []byte(*r.Input)
		}
		line.Input = jobs.ShardInput(spec, r.Shard, stored)
	}
	return line, nil
}

// ReceiptLines yields what the receipt of an archived job says of its accepted shards.
func (s *Service) ReceiptLines(ctx context.Context, project, job uuid.UUID, after int64) iter.Seq2[audit.ShardLine, error] {
	return func(yield func(audit.ShardLine, error) bool) {
		r, _, done, err := s.open(ctx, project, job)
		if err != nil {
			yield(audit.ShardLine{}, err)
			return
		}
		defer func() { _ = done.Close() }() // it was only read
		for shard, err := range r.Shards(after) {
			if err != nil {
				yield(audit.ShardLine{}, broken(err, "of the archive of job "+job.String()))
				return
			}
			if line, accepted := receiptLine(shard); accepted && !yield(line, nil) {
				return
			}
		}
	}
}

// receiptLine says who gave exactly the accepted bytes.
func receiptLine(s file.Shard) (line audit.ShardLine, accepted bool) {
	if s.State != string(functions.ShardAccepted) || s.OutputDigest == nil {
		return line, false
	}
	line = audit.ShardLine{Shard: s.Shard, Output: *s.OutputDigest}
	line.Agents, line.Server = s.Agreed(audit.MaxShardAgents)
	if d := s.Draw; d != nil {
		line.Draw = audit.DrawOf{Agent: d.Agent, Rate: int(d.Rate), Window: int64(d.Window), Drawn: d.Drawn}.Among(line.Agents)
	}
	return line, true
}
