package auditlog

import (
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/google/uuid"

	auditlog "github.com/ostraka/ostraka/audit"
	"github.com/ostraka/ostraka/functions/auditlog/sql"
	"github.com/ostraka/ostraka/functions/store"
)

// The kinds of lines about what agents have signed, in their order.
const (
	lineOfKey        int16 = 0
	lineOfSubmission int16 = 1
	lineOfImport     int16 = 2 // either, as it came with the receipt of an imported job: its proof is by the head of that receipt
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
	unsealedRow
}

// sign adds what agents have signed whose first result of the receipt is one of these lines.
func (r *growingReceipt) sign(ctx context.Context, tx *store.Tx, job uuid.UUID, lines []auditlog.ShardLine) error {
	if len(lines) == 0 {
		return nil
	}
	rows, err := store.Many[submissionRow](ctx, tx, sql.SignedSubmissions, job, r.LastShard, lines[len(lines)-1].Shard)
	if err != nil || len(rows) == 0 {
		return err
	}
	results, err := signedResults(ctx, tx, job, rows)
	if err != nil {
		return err
	}
	var all []signatureLine
	written := map[uuid.UUID]bool{}
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

// add writes lines of a batch in the order in which they are read again.
func (r *growingReceipt) add(ctx context.Context, tx *store.Tx, job uuid.UUID, lines []signatureLine) error {
	slices.SortFunc(lines, func(a, b signatureLine) int {
		return cmp.Or(cmp.Compare(a.kind, b.kind), bytes.Compare(a.id[:], b.id[:]))
	})
	tree, err := auditlog.NewPeaks(r.signedLeaves(len(lines)), r.SignedPeaks)
	if err != nil {
		return err
	}
	ids, kinds, texts := make([]uuid.UUID, len(lines)), make([]int16, len(lines)), make([]string, len(lines))
	for i, l := range lines {
		ids[i], kinds[i], texts[i] = l.id, l.kind, string(l.canonical)
		tree.Add(auditlog.Leaf(l.canonical))
	}
	r.SignedPeaks = tree.Hashes()
	_, err = store.Exec(ctx, tx, sql.AddSignatures, job, r.Leaves/receiptBatch, ids, kinds, texts)
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
