package auditlog

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	auditlog "github.com/ostraka/ostraka/audit"
	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/aggregation"
	"github.com/ostraka/ostraka/functions/auditlog/sql"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/fleet"
	"github.com/ostraka/ostraka/functions/jobs"
	"github.com/ostraka/ostraka/functions/registry"
	"github.com/ostraka/ostraka/functions/stepargs"
	"github.com/ostraka/ostraka/functions/store"
)

// receiptBatch is how many shards one transaction takes into the tree.
const receiptBatch = 1000

var (
	// ErrNoAnswer is for a receipt of a job that has no answer to give one about.
	ErrNoAnswer = &functions.Error{
		Kind: functions.KindConflict, Code: "no_answer", Message: "the job has no answer that a receipt could be about",
		Hint: "a receipt is made of a job that has finished or failed: wait for its end, ostraka job watch JOB",
	}
	// ErrReceiptNotMade is for a receipt that was not asked for, or that is being made.
	ErrReceiptNotMade = &functions.Error{
		Kind: functions.KindConflict, Code: "receipt_not_made", Message: "the receipt is not made yet",
		Hint: "ask for it, and wait: ostraka job receipt JOB does both",
	}
)

// ReceiptState is how far a receipt is.
type ReceiptState string

// The states of a receipt.
const (
	ReceiptMaking  ReceiptState = "making"  // the tree over the shards grows
	ReceiptSealing ReceiptState = "sealing" // its record waits for the log to be sealed, some seconds
	ReceiptMade    ReceiptState = "made"
)

// JobReceipt says how far the receipt of a job is.
type JobReceipt struct {
	Job     uuid.UUID    `json:"job"`
	State   ReceiptState `json:"state" enum:"making,sealing,made"`
	Done    int64        `json:"done" doc:"How many accepted shards are in it."`
	Shards  int64        `json:"shards" doc:"How many accepted shards the job has."`
	AskedBy string       `json:"asked_by"`
	AskedAt time.Time    `json:"asked_at"`
	MadeAt  *time.Time   `json:"made_at,omitempty"`
}

type receiptRow struct {
	Leaves    int64
	Making    bool
	Statement *string
	Record    *string
	AskedBy   string
	AskedAt   time.Time
	MadeAt    *time.Time
	Leaf      *int64
	// Of the record of the submission, with the digest of the secret of draws.
	DrawsRecord *string
	DrawsLeaf   *int64
	Accepted    int64
}

func (r receiptRow) receipt(job uuid.UUID) JobReceipt {
	made := JobReceipt{Job: job, State: ReceiptMaking, Done: r.Leaves, Shards: r.Accepted, AskedBy: r.AskedBy, AskedAt: r.AskedAt, MadeAt: r.MadeAt}
	switch {
	case r.Making:
	case r.Leaf != nil:
		made.State = ReceiptMade
	default:
		made.State = ReceiptSealing
	}
	return made
}

// ReceiptEvery is for how long a receipt that was made is not made again, unless the job was aggregated again meanwhile.
const ReceiptEvery = time.Minute

// MakeReceipt asks for the receipt of a job that has ended. One that was made more than ReceiptEvery ago is made again, and is there until the new
// one is; asking while it is made is harmless.
func (s *Service) MakeReceipt(ctx context.Context, by functions.Principal, project, job uuid.UUID) (r JobReceipt, err error) {
	err = s.env.Project(ctx, project, func(tx *store.Tx) error {
		state, found, err := store.Value[functions.JobState](ctx, tx, store.LockJob, job)
		if err != nil || !found || state == functions.JobDeleting {
			return base.OrNotFound(err, "job", job)
		}
		if state == functions.JobCancelled {
			gone := ErrNoAnswer.With("the job %s was cancelled: it has no answer that a receipt could be about", job)
			gone.Hint = "run it again: ostraka job rerun JOB"
			return gone
		}
		if state != functions.JobFinished && state != functions.JobFailed {
			return ErrNoAnswer.With("the job %s is %s: there is no answer yet that a receipt could be about", job, state)
		}
		archived, err := base.Archived(ctx, tx, job)
		if err != nil {
			return err
		}
		if archived { // what was made before stays
			if r, err = getReceipt(ctx, tx, job); errors.Is(err, ErrReceiptNotMade) {
				err = functions.ErrJobArchived.With("job %s was archived without a receipt, which is made of the rows of its shards", job)
			}
			return err
		}
		current, _, err := store.One[aggregation.FoldingRow](ctx, tx, store.GetFolding, job, 0)
		if err != nil {
			return err
		}
		_, begun, err := store.Value[uuid.UUID](ctx, tx, sql.BeginReceipt, job, current.Run, by.Actor(), ReceiptEvery)
		if err != nil {
			return err
		}
		if r, err = getReceipt(ctx, tx, job); err != nil || !begun {
			return err
		}
		return s.env.Enqueue(ctx, tx, stepargs.ReceiptArgs{Project: project, Job: job})
	})
	return r, err
}

// GetReceipt says how far the receipt of a job is.
func (s *Service) GetReceipt(ctx context.Context, project, job uuid.UUID) (r JobReceipt, err error) {
	err = s.env.Project(ctx, project, func(tx *store.Tx) error {
		if err := base.NotDeleted(ctx, tx, job); err != nil {
			return err
		}
		r, err = getReceipt(ctx, tx, job)
		return err
	})
	return r, err
}

func getReceipt(ctx context.Context, tx *store.Tx, job uuid.UUID) (JobReceipt, error) {
	row, found, err := store.One[receiptRow](ctx, tx, sql.GetReceipt, job)
	if err == nil && !found {
		return importedReceipt(ctx, tx, job)
	}
	return row.receipt(job), err
}

// receiptShards reads lines of a job's shards; draws says whether they have draws.
func receiptShards(ctx context.Context, tx *store.Tx, job uuid.UUID, after int64, draws bool) ([]auditlog.ShardLine, error) {
	rows, err := store.Many[receiptLine](ctx, tx, sql.ReceiptShards, job, after, receiptBatch, auditlog.MaxShardAgents)
	lines := make([]auditlog.ShardLine, len(rows))
	for i, r := range rows {
		lines[i] = r.line(draws)
	}
	return lines, err
}

// growingReceipt is a receipt that is being made.
type growingReceipt struct {
	Run       int
	AskedBy   string
	LastShard int64
	Leaves    int64
	Peaks     [][]byte

	SignaturesMaking  int64 // the number of this making: of the lines about what agents have signed
	SignedAgents      int64
	SignedSubmissions int64
	SignedResults     int64
	SignedPeaks       [][]byte
}

// Receipt grows the tree over a job's accepted shards, so many in one transaction, and then writes the statement and its record in the log.
// What agents have signed of a receipt of before goes last, so many lines in one transaction. Cut off anywhere it continues where it was.
func (s *Service) Receipt(ctx context.Context, args stepargs.ReceiptArgs) error {
	mine := base.NewSlice()
	for more := true; more; {
		err := s.env.Project(ctx, args.Project, func(tx *store.Tx) (err error) {
			more, err = s.growReceipt(ctx, tx, args)
			return err
		})
		if err != nil {
			return fmt.Errorf("making the receipt of job %s: %w", args.Job, err)
		}
		if err := mine.Over(); err != nil && more {
			return err
		}
	}
	return s.dropSignatures(ctx, args, mine)
}

// growReceipt does one transaction's share, and says whether anything is left to do.
func (s *Service) growReceipt(ctx context.Context, tx *store.Tx, args stepargs.ReceiptArgs) (more bool, err error) {
	state, found, err := store.Value[functions.JobState](ctx, tx, store.LockJob, args.Job)
	if err != nil || !found || state == functions.JobDeleting {
		return false, err
	}
	if archived, err := base.Archived(ctx, tx, args.Job); err != nil || archived {
		return false, err
	}
	r, found, err := store.One[growingReceipt](ctx, tx, sql.LockReceipt, args.Job)
	if err != nil || !found { // another run of the step has made it
		return false, err
	}
	job, _, err := store.One[jobs.Row](ctx, tx, store.GetJob, args.Job)
	if err != nil {
		return false, err
	}
	if job.Run != r.Run { // it was aggregated again meanwhile
		r = growingReceipt{Run: job.Run, AskedBy: r.AskedBy, LastShard: -1, SignaturesMaking: r.SignaturesMaking}
	}
	if r.LastShard < 0 { // whatever a making of before has left does not belong to it
		r.SignaturesMaking++
	}
	peaks, err := auditlog.NewPeaks(r.Leaves, r.Peaks)
	if err != nil {
		return false, err
	}
	committed, _, err := store.Value[[]byte](ctx, tx, sql.DrawsOfJob, args.Job)
	if err != nil {
		return false, err
	}
	lines, err := receiptShards(ctx, tx, args.Job, r.LastShard, committed != nil)
	if err != nil {
		return false, err
	}
	if err := r.sign(ctx, tx, args.Job, lines); err != nil {
		return false, err
	}
	for _, l := range lines {
		line, err := l.Canonical()
		if err != nil {
			return false, err
		}
		peaks.Add(auditlog.Leaf(line))
		r.LastShard = l.Shard
	}
	_, err = store.Exec(ctx, tx, sql.GrowReceipt, args.Job, r.Run, r.LastShard, peaks.Size(), peaks.Hashes(), r.SignedAgents, r.SignedSubmissions, r.SignedResults, r.SignedPeaks,
		r.SignaturesMaking)
	if err != nil || len(lines) == receiptBatch {
		return true, err
	}
	return false, s.endReceipt(ctx, tx, args, job, r, &peaks)
}

// endReceipt writes what the receipt says, and its record.
func (s *Service) endReceipt(ctx context.Context, tx *store.Tx, args stepargs.ReceiptArgs, row jobs.Row, r growingReceipt, peaks *auditlog.Peaks) error {
	said, err := s.statement(ctx, tx, args, row, peaks)
	if err != nil {
		return err
	}
	if said.Signed, err = r.signed(); err != nil {
		return err
	}
	var draws drawsRecord
	if said.Draws, draws, err = drawsStated(ctx, tx, args.Project, row.Job()); err != nil {
		return err
	}
	statement, err := said.Canonical()
	if err != nil {
		return err
	}
	detail, err := json.Marshal(map[string]any{"digest": auditlog.DigestOf(statement), "run": row.Run})
	if err != nil {
		return fmt.Errorf("encoding the record of a receipt: %w", err)
	}
	record, _, err := store.One[unsealedRow](ctx, tx, sql.AddReceiptRecord, r.AskedBy, auditlog.ReceiptAction, args.Job.String(), detail)
	if err != nil {
		return err
	}
	sealed, err := record.canonical()
	if err != nil {
		return err
	}
	_, err = store.Exec(ctx, tx, sql.EndReceipt, args.Job, string(statement), record.Seq, string(sealed), draws.seq, draws.text)
	return err
}

// statement is what a receipt says.
func (s *Service) statement(ctx context.Context, tx *store.Tx, args stepargs.ReceiptArgs, row jobs.Row, peaks *auditlog.Peaks) (said auditlog.Statement, err error) {
	job := row.Job()
	root := peaks.Root()
	said = auditlog.Statement{
		Project: args.Project.String(), Job: job.ID.String(), Run: job.Run, State: string(job.State), Error: strings.ToValidUTF8(job.Error[:min(len(job.Error), auditlog.MaxReceiptPart)], ""),
		CreatedBy: job.CreatedBy, CreatedAt: job.CreatedAt.UTC(),
		Shards: auditlog.ShardsStated{Total: job.Shards.Total, Accepted: peaks.Size(), Failed: job.Shards.Failed, Root: hex.EncodeToString(root[:])},
	}
	if job.FinishedAt != nil {
		said.FinishedAt = job.FinishedAt.UTC()
	}
	f, err := registry.GetFunction(ctx, tx, job.Function, job.Version)
	if err != nil {
		return said, err
	}
	said.Function = auditlog.FunctionStated{Name: f.Name, Version: f.Version, Digest: f.Digest, Signature: hex.EncodeToString(f.Signature)}
	if f.SignedBy != nil {
		said.Function.SignedBy = base.FormatNumber(int64(*f.SignedBy))
		key, err := registry.SigningKeyOf(ctx, tx, *f.SignedBy)
		if err != nil {
			return said, err
		}
		said.Function.Key = hex.EncodeToString(key)
	}
	rechecks, err := fleet.CanRecheck(ctx, tx, args.Project, job.ID, job.Policy)
	if err != nil {
		return said, err
	}
	verification, err := jobs.ReadVerification(ctx, tx, job, job.ID, rechecks)
	if err != nil {
		return said, err
	}
	for _, part := range []struct {
		into *json.RawMessage
		from any
		some bool
	}{
		{&said.Partition, job.Partition, true},
		{&said.Policy, job.Policy, true},
		{&said.Validator, job.Validator, job.Validator != nil},
		{&said.Aggregator, job.Aggregator, job.Aggregator != nil},
		{&said.Verification, verification, verification != nil},
	} {
		if !part.some {
			continue
		}
		if *part.into, err = canonicalPart(part.from); err != nil {
			return said, err
		}
	}
	said.Answer, err = answerStated(job.Aggregate)
	return said, err
}

// canonicalPart is a part of a statement; of a long one it says the digest.
func canonicalPart(part any) (json.RawMessage, error) {
	text, err := json.Marshal(part)
	if err == nil && len(text) > auditlog.MaxReceiptPart {
		text, err = json.Marshal(map[string]any{"bytes": len(text), "sha256": auditlog.DigestOf(text)})
	}
	if err != nil {
		return nil, fmt.Errorf("encoding a part of a receipt: %w", err)
	}
	return text, nil
}

// answerStated is nil where a job folds nothing. A module may print its answer with white space, which no document of ours has.
func answerStated(a *functions.Aggregate) (*auditlog.AnswerStated, error) {
	if a == nil || a.Preview != nil {
		return nil, nil //nolint:nilnil // as said
	}
	said := &auditlog.AnswerStated{Count: a.Count, Digest: a.Object, Rows: a.RowsObject}
	if a.Object == "" {
		var value bytes.Buffer
		if err := json.Compact(&value, a.Value); err != nil {
			return nil, fmt.Errorf("the answer: %w", err)
		}
		said.Digest = auditlog.DigestOf(value.Bytes())
		if value.Len() <= auditlog.MaxReceiptValue {
			said.Value = value.Bytes()
		}
	}
	if len(a.Rows) > 0 {
		said.Rows = auditlog.DigestOf(a.Rows)
	}
	return said, nil
}
