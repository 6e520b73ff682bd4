package auditlog

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"iter"

	"github.com/google/uuid"

	auditlog "github.com/ostraka/ostraka/audit"
	"github.com/ostraka/ostraka/functions/auditlog/sql"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/stepargs"
	"github.com/ostraka/ostraka/functions/store"
)

// The kinds of lines about what agents have signed.
const (
	lineOfKey        int16 = 0
	lineOfSubmission int16 = 1
	lineOfImport     int16 = 2 // either, as it came with the receipt of an imported job: its proof is by the head of that receipt
)

const (
	// maxResultsAtOnce is how many results of submissions are in memory at once, each with some 300 bytes.
	maxResultsAtOnce = 1 << 16
	// signaturesAtOnce is how many lines that are of no receipt any more one transaction deletes.
	signaturesAtOnce = 2000
)

// signatureLine is a line about what agents have signed.
type signatureLine struct {
	id        uuid.UUID // of a submission, or of the agent whose key it is
	kind      int16
	canonical []byte
}

// submissionRow is a submission that a stranger can check, with the record of its agent's key.
type submissionRow struct {
	ID         uuid.UUID
	LeaseID    uuid.UUID
	AgentID    uuid.UUID
	Signature  []byte
	KeyWritten bool
	Results    int
	unsealedRow
}

// sign adds what agents have signed whose first result of the receipt is one of these lines.
func (r *growingReceipt) sign(ctx context.Context, tx *store.Tx, job uuid.UUID, lines []auditlog.ShardLine) error {
	if len(lines) == 0 {
		return nil
	}
	rows, err := store.Many[submissionRow](ctx, tx, sql.SignedSubmissions, job, r.LastShard, lines[len(lines)-1].Shard, r.SignaturesMaking, auditlog.StatementOfWork)
	if err != nil {
		return err
	}
	written := map[uuid.UUID]bool{}
	for part := range atOnce(rows, maxResultsAtOnce) {
		if err := r.signPart(ctx, tx, job, part, written); err != nil {
			return err
		}
	}
	return nil
}

// atOnce cuts submissions into parts that state at most so many results together, or are of one submission.
func atOnce(rows []submissionRow, most int) iter.Seq[[]submissionRow] {
	return func(yield func([]submissionRow) bool) {
		for len(rows) > 0 {
			n, results := 1, rows[0].Results
			for n < len(rows) && results+rows[n].Results <= most {
				results += rows[n].Results
				n++
			}
			if !yield(rows[:n]) {
				return
			}
			rows = rows[n:]
		}
	}
}

// signPart adds some submissions, each after the key of its agent; written are the agents whose keys were added for these lines.
func (r *growingReceipt) signPart(ctx context.Context, tx *store.Tx, job uuid.UUID, rows []submissionRow, written map[uuid.UUID]bool) error {
	results, err := signedResults(ctx, tx, job, rows)
	if err != nil {
		return err
	}
	var all []signatureLine
	for _, row := range rows {
		shown := count(results[row.ID])
		if shown == 0 {
			continue
		}
		if !row.KeyWritten && !written[row.AgentID] {
			key, err := row.key()
			if err != nil {
				return err
			}
			written[row.AgentID] = true
			r.SignedAgents++
			all = append(all, key)
		}
		said := auditlog.SubmissionLine{Submission: auditlog.NewSubmission(row.AgentID.String(), row.LeaseID.String(), results[row.ID], row.Signature)}
		text, err := said.Canonical()
		if err != nil {
			return err
		}
		r.SignedSubmissions++
		r.SignedResults += shown
		all = append(all, signatureLine{id: row.ID, kind: lineOfSubmission, canonical: text})
	}
	return r.add(ctx, tx, job, all)
}

// key is the line with the record of an agent's key.
func (s submissionRow) key() (signatureLine, error) {
	record, err := s.canonical()
	if err != nil {
		return signatureLine{}, err
	}
	text, err := auditlog.SignerLine{Signer: record}.Committed()
	return signatureLine{id: s.AgentID, kind: lineOfKey, canonical: text}, err
}

// count says how many results are shown. None is where one of the submission's is not known any more: its signature cannot be checked then.
func count(results []auditlog.SignedResult) (shown int64) {
	for _, r := range results {
		if r.Outcome == "" {
			return 0
		}
		if r.Shown {
			shown++
		}
	}
	return shown
}

// signedResults are all results of submissions, in the order of their shards.
func signedResults(ctx context.Context, tx *store.Tx, job uuid.UUID, of []submissionRow) (map[uuid.UUID][]auditlog.SignedResult, error) {
	type row struct {
		ID      uuid.UUID
		Shard   int64
		Status  *string
		Outcome []byte
		Output  []byte
		Shown   bool
	}
	ids := make([]uuid.UUID, len(of))
	for i, s := range of {
		ids[i] = s.ID
	}
	rows, err := store.Many[row](ctx, tx, sql.SignedResults, job, ids, auditlog.MaxShardAgents)
	if err != nil {
		return nil, err
	}
	results := map[uuid.UUID][]auditlog.SignedResult{}
	for _, r := range rows {
		said := auditlog.SignedResult{Shown: r.Shown}
		said.Shard = r.Shard
		if r.Status != nil {
			said.Status, said.Outcome = *r.Status, hex.EncodeToString(r.Outcome)
		}
		if said.Status == "ok" {
			said.Output = hex.EncodeToString(r.Output)
		}
		results[r.ID] = append(results[r.ID], said)
	}
	return results, nil
}

// add writes lines of a batch, in the order in which they are read again.
func (r *growingReceipt) add(ctx context.Context, tx *store.Tx, job uuid.UUID, lines []signatureLine) error {
	if len(lines) == 0 {
		return nil
	}
	before := r.signedLeaves(len(lines))
	tree, err := auditlog.NewPeaks(before, r.SignedPeaks)
	if err != nil {
		return err
	}
	ids, kinds, texts := make([]uuid.UUID, len(lines)), make([]int16, len(lines)), make([]string, len(lines))
	for i, l := range lines {
		ids[i], kinds[i], texts[i] = l.id, l.kind, string(l.canonical)
		tree.Add(auditlog.Leaf(l.canonical))
	}
	r.SignedPeaks = tree.Hashes()
	_, err = store.Exec(ctx, tx, sql.AddSignatures, job, r.SignaturesMaking, r.Leaves/receiptBatch, before, ids, kinds, texts)
	return err
}

// signedLeaves is how many lines there were before the newest.
func (r *growingReceipt) signedLeaves(newest int) int64 {
	return r.SignedAgents + r.SignedSubmissions - int64(newest)
}

// signed is what the statement says of it; nil: agents have signed nothing that a stranger can check.
func (r *growingReceipt) signed() (*auditlog.SignedStated, error) {
	if r.SignedSubmissions == 0 {
		return nil, nil //nolint:nilnil // as said
	}
	tree, err := auditlog.NewPeaks(r.signedLeaves(0), r.SignedPeaks)
	if err != nil {
		return nil, err
	}
	root := tree.Root()
	return &auditlog.SignedStated{Agents: r.SignedAgents, Submissions: r.SignedSubmissions, Results: r.SignedResults, Root: hex.EncodeToString(root[:])}, nil
}

// dropSignatures deletes lines of receipts that were made before the one that is there.
func (s *Service) dropSignatures(ctx context.Context, args stepargs.ReceiptArgs, mine base.Slice) error {
	for {
		var gone int64
		err := s.env.Project(ctx, args.Project, func(tx *store.Tx) (err error) {
			gone, err = store.Exec(ctx, tx, sql.DropSignatures, args.Job, signaturesAtOnce)
			return err
		})
		if err != nil {
			return fmt.Errorf("deleting what agents have signed of receipts of job %s that were made before: %w", args.Job, err)
		}
		if gone < signaturesAtOnce {
			return nil
		}
		if err := mine.Over(); err != nil {
			return err
		}
	}
}

// writeSignatures writes what agents have signed that comes before a batch of lines; keys are proven by the head of that size.
func (s *Service) writeSignatures(ctx context.Context, project, job uuid.UUID, batch, size int64, write func([]byte) error) error {
	type row struct {
		Line string
		Leaf *int64
	}
	var lines [][]byte
	err := s.env.Project(ctx, project, func(tx *store.Tx) error {
		rows, err := store.Many[row](ctx, tx, sql.SignaturesOfBatch, job, batch)
		lines = lines[:0]
		for _, r := range rows {
			text := []byte(r.Line)
			if r.Leaf != nil {
				if text, err = provenKey(ctx, tx, text, *r.Leaf, size); err != nil {
					return err
				}
			}
			lines = append(lines, text)
		}
		return err
	})
	if err != nil {
		return err
	}
	for _, line := range lines {
		if err := write(append(line, '\n')); err != nil {
			return err
		}
	}
	return nil
}

// provenKey is the line with an agent's key, and the proof that the log has it.
func provenKey(ctx context.Context, tx *store.Tx, text []byte, leaf, size int64) ([]byte, error) {
	var line auditlog.SignerLine
	err := json.Unmarshal(text, &line)
	if err != nil {
		return nil, fmt.Errorf("reading the record of an agent's key: %w", err)
	}
	if line.Proof, err = auditlog.ProveRecord(leaf, size, auditNodes(ctx, tx)); err != nil {
		return nil, err
	}
	return line.Canonical()
}
