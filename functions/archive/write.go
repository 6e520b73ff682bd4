package archive

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/blob"
	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/archive/sql"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/jobs"
	"github.com/ostraka/ostraka/functions/partition"
	"github.com/ostraka/ostraka/functions/stepargs"
	"github.com/ostraka/ostraka/functions/store"
	file "github.com/ostraka/ostraka/runtime/archive"
)

const (
	// maxListed is how many flags, incidents or aggregations of a job a document lists; a job with more becomes no archive.
	maxListed = 10_000
	// waitsAgain is when a job is looked at again that cannot become an archive just now.
	waitsAgain = functions.LongestSnooze
)

// Archive makes an archive of a job: it writes the files, while the job is read as ever, and then removes its rows page by page. Cut off while it
// writes it begins again; afterwards it continues where it was.
func (s *Service) Archive(ctx context.Context, args stepargs.ArchiveArgs) error {
	type row struct {
		State   functions.ArchiveState
		AskedBy string
	}
	var a row
	err := s.env.Project(ctx, args.Project, func(tx *store.Tx) (err error) {
		if err := base.NotDeleted(ctx, tx, args.Job); err != nil {
			return err
		}
		if a, _, err = store.One[row](ctx, tx, sql.ArchiveState, args.Job); err != nil || a.State != functions.ArchiveWriting {
			return err
		}
		return mayArchive(ctx, tx, args.Job) // before much is written for nothing
	})
	if err == nil && a.State == functions.ArchiveWriting {
		if err = s.write(ctx, args, a.AskedBy); err == nil {
			a.State = functions.ArchiveRemoving
		}
	}
	if err == nil && a.State == functions.ArchiveRemoving {
		return s.remove(ctx, args)
	}
	return s.failed(ctx, args, err)
}

// failed notes why a job cannot become an archive, and gives back what may go well another time.
func (s *Service) failed(ctx context.Context, args stepargs.ArchiveArgs, err error) error {
	var ours *functions.Error
	switch {
	case errors.Is(err, ErrWaits):
		return &functions.Snooze{For: waitsAgain, Err: err}
	case errors.Is(err, blob.ErrTooLarge), errors.Is(err, file.ErrTooLarge):
	case errors.As(err, &ours) && ours.Kind == functions.KindExhausted:
	case err == nil, errors.Is(err, functions.ErrJobDeleted):
		return err
	default:
		return fmt.Errorf("archiving job %s: %w", args.Job, err)
	}
	return s.env.Project(ctx, args.Project, func(tx *store.Tx) error {
		if _, err := store.Exec(ctx, tx, sql.FailArchive, args.Job, s.why(err)); err != nil {
			return err
		}
		return base.Notify(ctx, tx, base.ChannelJobs, args.Job)
	})
}

// why says to people what is wrong.
func (s *Service) why(err error) string {
	var ours *functions.Error
	switch {
	case errors.As(err, &ours):
		return ours.Message + "; " + ours.Hint
	case errors.Is(err, blob.ErrTooLarge):
		return fmt.Sprintf("the file of its shards would have more than %d bytes, which an archive may have; the job stays as it is", s.maxBytes)
	default:
		return err.Error() + "; the job stays as it is"
	}
}

// write writes the files of a job, and has them read instead of its rows from then on.
func (s *Service) write(ctx context.Context, args stepargs.ArchiveArgs, by string) error {
	before, err := s.jobs.GetJob(ctx, args.Project, args.Job)
	if err != nil {
		return err
	}
	digest, size, rows, err := s.writeShards(ctx, args)
	if err != nil {
		return err
	}
	results := file.Results{Digest: digest, Bytes: size, Rows: rows}
	document, err := s.document(ctx, args, before, by, results)
	if err != nil {
		return err
	}
	name, length, err := s.env.Blobs.Put(ctx, args.Project, bytes.NewReader(document), file.MaxDocument+1)
	if err != nil {
		return err
	}
	return s.env.Project(ctx, args.Project, func(tx *store.Tx) error {
		return s.end(ctx, tx, args, before, results, functions.ArchivedFile{Digest: name, Bytes: length})
	})
}

// end notes what was written, unless the job changed meanwhile. It is one transaction.
func (s *Service) end(ctx context.Context, tx *store.Tx, args stepargs.ArchiveArgs, before functions.Job, results file.Results, document functions.ArchivedFile) error {
	state, found, err := store.Value[functions.JobState](ctx, tx, store.LockJob, args.Job)
	if err != nil || !found || state == functions.JobDeleting {
		return base.OrNotFound(err, "job", args.Job)
	}
	if err := mayArchive(ctx, tx, args.Job); err != nil {
		return err
	}
	row, _, err := store.One[jobs.Row](ctx, tx, store.GetJob, args.Job)
	if err != nil {
		return err
	}
	if row.EventSeq != before.EventSeq || row.Run != before.Run || row.Attempts != before.Attempts || row.Job().Shards != before.Shards {
		return ErrWaits.With("job %s changed while its archive was written", args.Job)
	}
	var verification []byte
	if before.Verification != nil {
		if verification, err = json.Marshal(before.Verification); err != nil {
			return fmt.Errorf("encoding what speaks for the results: %w", err)
		}
	}
	n, err := store.Exec(ctx, tx, sql.EndWriting, args.Job, results.Digest, results.Bytes, results.Rows, document.Digest, document.Bytes,
		row.Accepted, row.Provisional, row.Review, row.Failed, row.Cancelled, row.Attempts, verification)
	if err != nil || n == 0 { // another run of the step was faster
		return err
	}
	detail := map[string]any{"results": results.Digest, "document": document.Digest, "shards": results.Rows, "bytes": results.Bytes + document.Bytes}
	if err := base.Audit(ctx, tx, "server", "job.archived", args.Job.String(), detail); err != nil {
		return err
	}
	if err := base.Notify(ctx, tx, base.ChannelJobs, args.Job); err != nil {
		return err
	}
	server, err := tx.AsServer(ctx)
	if err != nil {
		return err
	}
	_, err = store.Exec(ctx, server, sql.UncountResults, args.Project, row.ShardsTotal)
	return err
}

// writeShards writes the file of a job's shards.
func (s *Service) writeShards(ctx context.Context, args stepargs.ArchiveArgs) (digest string, size, rows int64, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	out, in := io.Pipe()
	done := make(chan int64, 1)
	go func() {
		n, err := s.copyShards(ctx, args, in)
		_ = in.CloseWithError(err) // which never fails
		done <- n
	}()
	digest, size, err = s.env.Blobs.Put(ctx, args.Project, out, s.maxBytes)
	_ = out.CloseWithError(err) // ends the copying if nothing reads any more
	return digest, size, <-done, err
}

// copyShards reads the shards of a job, a page in each transaction, and writes them.
func (s *Service) copyShards(ctx context.Context, args stepargs.ArchiveArgs, out io.Writer) (int64, error) {
	w := file.NewWriter(out, "server")
	for from := int64(0); ; from += partition.PageSize {
		p := page{out: w, files: map[string]bool{}}
		err := s.env.Project(ctx, args.Project, func(tx *store.Tx) error {
			if p.begun {
				return fmt.Errorf("reading the shards from %d on was cut off", from) // what was written cannot be taken back
			}
			p.begun = true
			err := store.Each(ctx, tx, sql.ShardsToArchive, p.add, args.Job, from, from+partition.PageSize)
			return errors.Join(err, p.flush())
		})
		if err != nil {
			return w.Rows(), err
		}
		if err := s.refer(ctx, args, p.files); err != nil {
			return w.Rows(), err
		}
		if w.Rows() < from+partition.PageSize { // numbers have no gaps
			return w.Rows(), w.Close()
		}
	}
}

// refer notes the objects that results of the job refer to, so that they stay when their rows are gone.
func (s *Service) refer(ctx context.Context, args stepargs.ArchiveArgs, files map[string]bool) error {
	if len(files) == 0 {
		return nil
	}
	digests := make([]string, 0, len(files))
	for digest := range files {
		digests = append(digests, digest)
	}
	slices.Sort(digests)
	return s.env.Project(ctx, args.Project, func(tx *store.Tx) error {
		_, err := store.Exec(ctx, tx, sql.KeepReferred, args.Job, digests)
		return err
	})
}

// page puts the rows of a page together: shards with their attempts.
type page struct {
	out   *file.Writer
	begun bool
	open  *file.Shard
	files map[string]bool // digests of objects that its results refer to
}

// attemptRow is an attempt with its shard, or a shard without any.
type attemptRow struct {
	Number       int64
	State        functions.ShardState
	Provisional  bool
	Lost         int32
	Input        []byte
	Accepted     *uuid.UUID
	Reasons      []byte
	AgentID      *uuid.UUID
	Status       *string
	Agrees       *bool
	Void         *bool
	Output       []byte
	OutputDigest *string
	Outcome      *string
	OutputBytes  *int64
	CPUMicros    *int64 `db:"cpu_us"`
	WallMicros   *int64 `db:"wall_us"`
	PeakRSS      *int64 `db:"peak_rss"`
	Diagnostics  []byte
	ReportedAt   *time.Time
	SubmissionID *uuid.UUID
	Signature    []byte
	DrawAgent    *string
	DrawRate     *int16
	DrawWindow   *int32
	Drawn        *bool
}

// draw is how it was drawn about the accepted result; nil: it was not.
func (r attemptRow) draw() *file.Draw {
	if r.DrawRate == nil || r.DrawAgent == nil {
		return nil
	}
	d := &file.Draw{Agent: *r.DrawAgent, Rate: int32(*r.DrawRate), Drawn: r.Drawn != nil && *r.Drawn}
	if r.DrawWindow != nil {
		d.Window = *r.DrawWindow
	}
	return d
}

func (p *page) add(r attemptRow) error {
	if p.open == nil || p.open.Shard != r.Number {
		if err := p.flush(); err != nil {
			return err
		}
		p.open = &file.Shard{Shard: r.Number, State: string(r.State), Provisional: r.Provisional, Lost: r.Lost, Input: text(r.Input), Reasons: text(r.Reasons), Draw: r.draw()}
	}
	if r.AgentID == nil {
		return nil
	}
	p.refer(r)
	a := file.Attempt{
		Agent: r.AgentID.String(), Status: *r.Status, Agrees: r.Agrees != nil && *r.Agrees, Void: *r.Void, OutputDigest: r.OutputDigest, Outcome: *r.Outcome,
		OutputBytes: *r.OutputBytes, CPUMicros: *r.CPUMicros, WallMicros: *r.WallMicros, PeakRSS: *r.PeakRSS, Diagnostics: text(r.Diagnostics),
		ReportedAt: *r.ReportedAt, Submission: r.SubmissionID.String(), Signature: r.Signature,
	}
	if r.State == functions.ShardAccepted && r.Accepted != nil && *r.Accepted == *r.AgentID {
		p.open.Output, p.open.OutputDigest, p.open.Agent = text(r.Output), r.OutputDigest, &a.Agent
	} else {
		a.Output = text(r.Output)
	}
	p.open.Attempts = append(p.open.Attempts, a)
	return nil
}

// refer collects what an attempt refers to: an output that is an object of its own, and files.
func (p *page) refer(r attemptRow) {
	if r.OutputDigest != nil && r.Output == nil && (r.Agrees == nil || !*r.Agrees || r.Accepted != nil && *r.Accepted == *r.AgentID) {
		p.files[*r.OutputDigest] = true
	}
	var d struct {
		Files []functions.File `json:"files"`
	}
	if json.Unmarshal(r.Diagnostics, &d) == nil {
		for _, f := range d.Files {
			p.files[f.Digest] = true
		}
	}
}

func (p *page) flush() error {
	if p.open == nil {
		return nil
	}
	shard := *p.open
	p.open = nil
	return p.out.Write(shard)
}

func text(b []byte) *string {
	if b == nil {
		return nil
	}
	return new(string(b))
}
