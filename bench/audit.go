package main

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/ostraka/ostraka/audit"
)

// auditRecords is how many records the log has that is verified.
const auditRecords = 200_000

// audit measures how many records of an exported log a second one core verifies: audit_verify_per_s.
func (b *bench) audit(context.Context) ([]figure, error) {
	export, key, err := auditExport(auditRecords)
	if err != nil {
		return nil, fmt.Errorf("making a log: %w", err)
	}
	began := time.Now()
	report, err := audit.Verify(bytes.NewReader(export), key)
	took := time.Since(began)
	if err != nil {
		return nil, fmt.Errorf("verifying a log: %w", err)
	}
	if !report.Sound() || report.Records != auditRecords {
		return nil, fmt.Errorf("of a whole log of %d records %d were verified, with %d faults", auditRecords, report.Records, len(report.Faults))
	}
	return []figure{{"audit_verify_per_s", auditRecords / took.Seconds()}}, nil
}

// receiptShards is how many shards the receipt has that is verified.
const receiptShards = 100_000

// receipt measures how many shards of a receipt a second one core verifies, without executing any again: receipt_verify_per_s.
func (b *bench) receipt(context.Context) ([]figure, error) {
	receipt, lines, key, err := benchReceipt()
	if err != nil {
		return nil, fmt.Errorf("making a receipt: %w", err)
	}
	began := time.Now()
	r, err := audit.OpenReceipt(receipt, key)
	if err != nil {
		return nil, fmt.Errorf("verifying a receipt: %w", err)
	}
	var peaks audit.Peaks
	for line := range bytes.Lines(lines) {
		line = bytes.TrimSuffix(line, []byte("\n"))
		if _, err := audit.ParseShardLine(line); err != nil {
			return nil, fmt.Errorf("verifying a receipt: %w", err)
		}
		peaks.Add(audit.Leaf(line))
	}
	took := time.Since(began)
	if root := peaks.Root(); hex.EncodeToString(root[:]) != r.Statement.Shards.Root {
		return nil, errors.New("the lines of a sound receipt are not those that it commits to")
	}
	return []figure{{"receipt_verify_per_s", receiptShards / took.Seconds()}}, nil
}

// benchReceipt is a receipt, the lines of its shards, and the key of its log.
func benchReceipt() (receipt, lines []byte, verifier string, err error) {
	const project, job = "0192d4a5-8f5e-7c3a-9b1e-2f6d3c4b5a60", "0192d4a5-8f5e-7c3a-9b1e-2f6d3c4b5a61"
	var peaks audit.Peaks
	for i := range int64(receiptShards) {
		line, err := audit.ShardLine{Shard: i, Output: audit.DigestOf(fmt.Append(nil, i)), Agents: []string{project}}.Canonical()
		if err != nil {
			return nil, nil, "", err
		}
		peaks.Add(audit.Leaf(line))
		lines = append(append(lines, line...), '\n')
	}
	root := peaks.Root()
	said := audit.Statement{
		Project: project, Job: job, Run: 1, State: "finished", Function: audit.FunctionStated{Name: "bench", Version: 1, Digest: audit.DigestOf(nil)},
		Partition: json.RawMessage(`{}`), Policy: json.RawMessage(`{}`),
		Shards: audit.ShardsStated{Total: receiptShards, Accepted: receiptShards, Root: hex.EncodeToString(root[:])},
	}
	statement, err := said.Canonical()
	if err != nil {
		return nil, nil, "", err
	}
	record, err := audit.Record{
		Seq: 1, At: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), Actor: "owner:bench", Action: audit.ReceiptAction, Subject: job,
		Detail: json.RawMessage(`{"digest":"` + audit.DigestOf(statement) + `","run":1}`),
	}.Canonical()
	if err != nil {
		return nil, nil, "", err
	}
	receipt, verifier, err = sealedReceipt(audit.ProjectOrigin(project), statement, record)
	return receipt, lines, verifier, err
}

// sealedReceipt is a receipt whose record is the only one of its log.
func sealedReceipt(origin string, statement, record []byte) (receipt []byte, verifier string, err error) {
	key := audit.NewKey()
	if verifier, err = key.Verifier(origin); err != nil {
		return nil, "", err
	}
	none := func([]int64) ([]audit.Hash, error) { return nil, errors.New("an empty log has no nodes") }
	nodes, logRoot, err := audit.Grow(0, []audit.Hash{audit.Leaf(record)}, none)
	if err != nil {
		return nil, "", err
	}
	head, err := key.Sign(audit.Checkpoint{Origin: origin, Size: 1, Root: logRoot})
	if err != nil {
		return nil, "", err
	}
	proof, err := audit.Prove(0, 1, head, func(numbers []int64) ([]audit.Hash, error) {
		hashes := make([]audit.Hash, len(numbers))
		for i, n := range numbers {
			hashes[i] = nodes[n]
		}
		return hashes, nil
	})
	if err != nil {
		return nil, "", err
	}
	receipt, err = audit.EncodeReceipt(audit.ReceiptParts{Statement: statement, Record: record, Proof: proof, Key: verifier})
	return receipt, verifier, err
}

// auditExport is the export of a log whose records are like those of leases, and the key that verifies it.
func auditExport(records int64) (export []byte, verifier string, err error) {
	origin := audit.ServerOrigin("bench")
	key := audit.NewKey()
	if verifier, err = key.Verifier(origin); err != nil {
		return nil, "", err
	}
	var out bytes.Buffer
	e, err := audit.NewExporter(&out, origin, verifier)
	if err != nil {
		return nil, "", err
	}
	var nodes []audit.Hash
	read := func(numbers []int64) ([]audit.Hash, error) {
		hashes := make([]audit.Hash, len(numbers))
		for i, n := range numbers {
			hashes[i] = nodes[n]
		}
		return hashes, nil
	}
	for first := int64(0); first < records; first += audit.TileSize {
		end := min(first+audit.TileSize, records)
		leaves, err := benchRecords(e, first, end)
		if err != nil {
			return nil, "", err
		}
		more, root, err := audit.Grow(first, leaves, read)
		if err != nil {
			return nil, "", err
		}
		nodes = append(nodes, more...)
		head, err := key.Sign(audit.Checkpoint{Origin: origin, Size: end, Root: root})
		if err != nil {
			return nil, "", err
		}
		if err := e.Tile(leaves, head); err != nil {
			return nil, "", err
		}
	}
	err = e.Close()
	return out.Bytes(), verifier, err
}

func benchRecords(e *audit.Exporter, first, end int64) (leaves []audit.Hash, err error) {
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := first; i < end; i++ {
		text, err := audit.Record{
			Seq: i + 1, At: at.Add(time.Duration(i) * time.Second), Actor: "server", Action: "lease.expire", Subject: fmt.Sprintf("lease-%d", i),
			Detail: json.RawMessage(`{"agent":"0192d4a5-8f5e-7c3a-9b1e-2f6d3c4b5a60","job":"0192d4a5-8f5e-7c3a-9b1e-2f6d3c4b5a61","shards":64}`),
		}.Canonical()
		if err != nil {
			return nil, err
		}
		if err := e.Record(i, text); err != nil {
			return nil, err
		}
		leaves = append(leaves, audit.Leaf(text))
	}
	return leaves, nil
}
