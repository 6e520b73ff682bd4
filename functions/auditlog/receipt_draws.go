package auditlog

import (
	"context"
	"encoding/hex"

	"github.com/google/uuid"

	auditlog "github.com/ostraka/ostraka/audit"
	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/auditlog/sql"
	"github.com/ostraka/ostraka/functions/fleet"
	"github.com/ostraka/ostraka/functions/store"
)

// drawsRecord is the record of a job's submission, which has the digest of the secret by which its audits were drawn.
type drawsRecord struct {
	seq  *int64
	text *string // canonical; nil: no audits were drawn, or the record was pruned
}

// drawsStated says by which secret the audits of a job were drawn that is over; nil where none were, or where the job is of before. The secret is of
// no use to anybody then: nothing of the job is drawn any more, and a rerun is another job with a secret of its own.
func drawsStated(ctx context.Context, tx *store.Tx, project uuid.UUID, job functions.Job) (said *auditlog.DrawsStated, record drawsRecord, err error) {
	committed, _, err := store.Value[[]byte](ctx, tx, sql.DrawsOfJob, job.ID)
	if err != nil || committed == nil {
		return nil, record, err
	}
	said = &auditlog.DrawsStated{Commitment: hex.EncodeToString(committed), Quorum: job.Policy.Quorum >= 2}
	row, found, err := store.One[unsealedRow](ctx, tx, sql.SubmitRecord, job.ID.String(), auditlog.SubmitAction)
	if err != nil {
		return nil, record, err
	}
	if found {
		text, err := row.canonical()
		if err != nil {
			return nil, record, err
		}
		said.Record = auditlog.DigestOf(text)
		record.seq, record.text = &row.Seq, new(string(text))
	}
	if job.State != functions.JobFinished && job.State != functions.JobFailed {
		return said, record, nil
	}
	secret, err := fleet.JobSecret(ctx, tx, project, job.ID)
	if err != nil {
		return nil, record, err
	}
	said.Secret = hex.EncodeToString(secret)
	return said, record, nil
}

// commitment proves by the same head that the log has the digest of the secret of draws.
func (r receiptRow) commitment(ctx context.Context, tx *store.Tx, by witnessedHead) (*auditlog.CommitmentStated, error) {
	if r.DrawsRecord == nil || r.DrawsLeaf == nil {
		return nil, nil //nolint:nilnil // there is none, as the statement says
	}
	proof, err := auditlog.Prove(*r.DrawsLeaf, by.size, []byte(by.checkpoint), auditNodes(ctx, tx))
	return &auditlog.CommitmentStated{Record: []byte(*r.DrawsRecord), Proof: string(proof)}, err
}

// receiptLine is what is known of an accepted shard.
type receiptLine struct {
	Shard      int64
	Output     string
	Agents     []string
	Server     bool
	DrawAgent  *string
	DrawRate   *int16
	DrawWindow *int32
	Drawn      *bool
}

// line is the line of the receipt; draws says whether its statement is one with draws.
func (l receiptLine) line(draws bool) auditlog.ShardLine {
	line := auditlog.ShardLine{Shard: l.Shard, Output: l.Output, Agents: l.Agents, Server: l.Server}
	if !draws || l.DrawRate == nil || l.DrawAgent == nil {
		return line
	}
	of := auditlog.DrawOf{Agent: *l.DrawAgent, Rate: int(*l.DrawRate)}
	if l.DrawWindow != nil {
		of.Window = int64(*l.DrawWindow)
	}
	of.Drawn = l.Drawn != nil && *l.Drawn
	line.Draw = of.Among(line.Agents)
	return line
}
