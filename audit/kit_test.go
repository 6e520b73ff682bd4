package audit_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/audit"
)

const origin = "ostraka/projects/01a20052-0f0b-7723-86c4-b07d6b8e85ba"

// book is a log in memory.
type book struct {
	t       testing.TB
	key     audit.Key
	records [][]byte
	nodes   []audit.Hash
	heads   map[int64][]byte // signed, by the size that they were signed at
	origin  string

	witnesses int // of the receipts that it makes

	committed   []byte // the record with the digest of the secret, of receipts with draws
	committedAt int64
	late        []byte // the same, to be recorded after the receipt
}

func newBook(t testing.TB, size, every int) *book {
	t.Helper()
	b := &book{t: t, key: audit.NewKey(), heads: map[int64][]byte{}, origin: origin}
	for len(b.records) < size {
		b.grow(min(every, size-len(b.records)))
	}
	return b
}

func (b *book) read(numbers []int64) ([]audit.Hash, error) {
	hashes := make([]audit.Hash, len(numbers))
	for i, n := range numbers {
		hashes[i] = b.nodes[n]
	}
	return hashes, nil
}

// grow appends records and signs a checkpoint.
func (b *book) grow(n int) {
	texts := make([][]byte, n)
	for i := range texts {
		at := len(b.records) + i
		text, err := audit.Record{
			Seq: int64(at) + 1, At: time.Unix(1_800_000_000, int64(i)*1000), Actor: "server", Action: "lease.expire", Subject: fmt.Sprint(at),
			Detail: json.RawMessage(`{"shards": 10, "agent": "a", "z": [1.50, "<é>"]}`),
		}.Canonical()
		require.NoError(b.t, err)
		texts[i] = text
	}
	b.add(texts...)
}

// add appends these records and signs a checkpoint.
func (b *book) add(texts ...[]byte) {
	size := int64(len(b.records))
	leaves := make([]audit.Hash, len(texts))
	for i, text := range texts {
		leaves[i] = audit.Leaf(text)
	}
	b.records = append(b.records, texts...)
	require.Len(b.t, b.nodes, int(audit.NodeCount(size)))
	nodes, root, err := audit.Grow(size, leaves, b.read)
	require.NoError(b.t, err)
	b.nodes = append(b.nodes, nodes...)
	size += int64(len(texts))
	b.heads[size], err = b.key.Sign(audit.Checkpoint{Origin: b.origin, Size: size, Root: root})
	require.NoError(b.t, err)
}

func (b *book) verifier() string {
	v, err := b.key.Verifier(b.origin)
	require.NoError(b.t, err)
	return v
}

// export writes the log; those that prune says have no content.
func (b *book) export(prune func(index int) bool) []byte {
	var out bytes.Buffer
	e, err := audit.NewExporter(&out, b.origin, b.verifier())
	require.NoError(b.t, err)
	for first := 0; first < len(b.records); first += audit.TileSize {
		var leaves []audit.Hash
		var head []byte
		for i := first; i < min(first+audit.TileSize, len(b.records)); i++ {
			text := b.records[i]
			leaves = append(leaves, audit.Leaf(text))
			if prune != nil && prune(i) {
				text = nil
			}
			require.NoError(b.t, e.Record(int64(i), text))
			if signed := b.heads[int64(i)+1]; signed != nil {
				head = signed
			}
		}
		require.NoError(b.t, e.Tile(leaves, head))
	}
	require.NoError(b.t, e.Close())
	return out.Bytes()
}

func (b *book) verify(export []byte, known ...audit.Checkpoint) *audit.Report {
	report, err := audit.Verify(bytes.NewReader(export), b.verifier(), known...)
	require.NoError(b.t, err)
	return report
}
