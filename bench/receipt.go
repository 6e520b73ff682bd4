package main

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/ostraka/ostraka/audit"
)

const (
	// receiptShards is how many shards the receipt has that is verified.
	receiptShards = 100_000
	// receiptSigned is how many of them an agent has signed at once.
	receiptSigned = 100

	receiptProject = "0192d4a5-8f5e-7c3a-9b1e-2f6d3c4b5a60"
	receiptJob     = "0192d4a5-8f5e-7c3a-9b1e-2f6d3c4b5a61"
	receiptAgent   = "0192d4a5-8f5e-7c3a-9b1e-2f6d3c4b5a62"
)

// receipt measures how many shards of a receipt a second one core verifies, with the signatures of their agent and without executing any again:
// receipt_verify_per_s.
func (b *bench) receipt(context.Context) ([]figure, error) {
	receipt, lines, key, err := benchReceipt()
	if err != nil {
		return nil, fmt.Errorf("making a receipt: %w", err)
	}
	began := time.Now()
	if err := verifyReceipt(receipt, lines, key); err != nil {
		return nil, fmt.Errorf("verifying a receipt: %w", err)
	}
	return []figure{{"receipt_verify_per_s", receiptShards / time.Since(began).Seconds()}}, nil
}

func verifyReceipt(receipt, lines []byte, key string) error {
	r, err := audit.OpenReceipt(receipt, key)
	if err != nil {
		return err
	}
	signatures := audit.NewSignatureCheck(r)
	var peaks audit.Peaks
	for line := range bytes.Lines(lines) {
		line = bytes.TrimSuffix(line, []byte("\n"))
		if audit.IsSignedLine(line) {
			if err := signatures.Line(line); err != nil {
				return err
			}
			continue
		}
		shard, err := audit.ParseShardLine(line)
		if err != nil {
			return err
		}
		if err := signatures.Shard(shard); err != nil {
			return err
		}
		peaks.Add(audit.Leaf(line))
	}
	if root := peaks.Root(); hex.EncodeToString(root[:]) != r.Statement.Shards.Root {
		return errors.New("the lines of a sound receipt are not those that it commits to")
	}
	if signed, _ := signatures.Signed(); signed != receiptShards {
		return fmt.Errorf("%d of %d results are signed", signed, receiptShards)
	}
	return signatures.End()
}

// benchReceipt is a receipt, the lines of its shards, and the key of its log.
func benchReceipt() (receipt, lines []byte, verifier string, err error) {
	agent := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{1}, ed25519.SeedSize))
	key := base64.StdEncoding.EncodeToString(agent[ed25519.SeedSize:])
	known, err := benchRecord(1, audit.AgentKeyAction, receiptAgent, map[string]any{audit.KeyDetail: key})
	if err != nil {
		return nil, nil, "", err
	}
	lines, said, err := benchLines(agent, known)
	if err != nil {
		return nil, nil, "", err
	}
	statement, err := said.Canonical()
	if err != nil {
		return nil, nil, "", err
	}
	record, err := benchRecord(2, audit.ReceiptAction, receiptJob, map[string]any{"digest": audit.DigestOf(statement), "run": 1})
	if err != nil {
		return nil, nil, "", err
	}
	receipt, proof, verifier, err := sealedReceipt(statement, known, record)
	if err != nil {
		return nil, nil, "", err
	}
	first, err := audit.SignerLine{Signer: known, Proof: proof}.Canonical()
	return receipt, append(append(first, '\n'), lines...), verifier, err
}

func benchRecord(seq int64, action, subject string, detail map[string]any) ([]byte, error) {
	text, err := json.Marshal(detail)
	if err != nil {
		return nil, err
	}
	return audit.Record{Seq: seq, At: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), Actor: "owner:bench", Action: action, Subject: subject, Detail: text}.Canonical()
}

// benchLines are the lines of the shards with what the agent has signed of them, but for its key, and the statement about them.
func benchLines(agent ed25519.PrivateKey, known []byte) (lines []byte, said audit.Statement, err error) {
	var peaks, signed audit.Peaks
	committed, err := audit.SignerLine{Signer: known}.Committed()
	if err != nil {
		return nil, said, err
	}
	signed.Add(audit.Leaf(committed))
	for i := range int64(receiptShards) {
		if i%receiptSigned == 0 {
			text, err := benchSubmission(agent, i)
			if err != nil {
				return nil, said, err
			}
			signed.Add(audit.Leaf(text))
			lines = append(append(lines, text...), '\n')
		}
		line, err := audit.ShardLine{Shard: i, Output: benchOutput(i), Agents: []string{receiptAgent}}.Canonical()
		if err != nil {
			return nil, said, err
		}
		peaks.Add(audit.Leaf(line))
		lines = append(append(lines, line...), '\n')
	}
	root, signedRoot := peaks.Root(), signed.Root()
	return lines, audit.Statement{
		Project: receiptProject, Job: receiptJob, Run: 1, State: "finished", Function: audit.FunctionStated{Name: "bench", Version: 1, Digest: audit.DigestOf(nil)},
		Partition: json.RawMessage(`{}`), Policy: json.RawMessage(`{}`),
		Signed: &audit.SignedStated{Agents: 1, Submissions: receiptShards / receiptSigned, Results: receiptShards, Root: hex.EncodeToString(signedRoot[:])},
		Shards: audit.ShardsStated{Total: receiptShards, Accepted: receiptShards, Root: hex.EncodeToString(root[:])},
	}, nil
}

func benchOutput(shard int64) string { return audit.DigestOf(fmt.Append(nil, shard)) }

// benchSubmission is what the agent has signed at once, from a shard on.
func benchSubmission(agent ed25519.PrivateKey, first int64) ([]byte, error) {
	results, lines := make([]audit.SignedResult, receiptSigned), make([]audit.WorkLine, receiptSigned)
	for i := range results {
		shard := first + int64(i)
		lines[i] = audit.WorkLine{Shard: shard, Status: "ok", Outcome: benchOutput(shard), Output: benchOutput(shard)}
		results[i] = audit.SignedResult{WorkLine: lines[i], Shown: true}
	}
	work := audit.Work{Project: receiptProject, Job: receiptJob, Function: audit.DigestOf(nil), Lease: receiptJob}
	said := audit.NewSubmission(receiptAgent, receiptJob, results, ed25519.Sign(agent, audit.WorkStatement(work, lines)))
	return audit.SubmissionLine{Submission: said}.Canonical()
}

// sealedReceipt is a receipt whose log has two records: the key of the agent, which is proven as well, and that of the receipt.
func sealedReceipt(statement, known, record []byte) (receipt []byte, proven *audit.RecordProof, verifier string, err error) {
	origin, key := audit.ProjectOrigin(receiptProject), audit.NewKey()
	if verifier, err = key.Verifier(origin); err != nil {
		return nil, nil, "", err
	}
	none := func([]int64) ([]audit.Hash, error) { return nil, errors.New("an empty log has no nodes") }
	nodes, logRoot, err := audit.Grow(0, []audit.Hash{audit.Leaf(known), audit.Leaf(record)}, none)
	if err != nil {
		return nil, nil, "", err
	}
	read := func(numbers []int64) ([]audit.Hash, error) {
		hashes := make([]audit.Hash, len(numbers))
		for i, n := range numbers {
			hashes[i] = nodes[n]
		}
		return hashes, nil
	}
	head, err := key.Sign(audit.Checkpoint{Origin: origin, Size: 2, Root: logRoot})
	if err != nil {
		return nil, nil, "", err
	}
	proof, err := audit.Prove(1, 2, head, read)
	if err != nil {
		return nil, nil, "", err
	}
	if proven, err = audit.ProveRecord(0, 2, read); err != nil {
		return nil, nil, "", err
	}
	receipt, err = audit.EncodeReceipt(audit.ReceiptParts{Statement: statement, Record: record, Proof: proof, Key: verifier})
	return receipt, proven, verifier, err
}
