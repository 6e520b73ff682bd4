package main

import (
	"bytes"
	"context"
	"encoding/json"
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
