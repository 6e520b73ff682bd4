package audit

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/transparency-dev/formats/proof"
	"golang.org/x/mod/sumdb/tlog"
)

// MaxProofBytes is how long a proof may be: 63 hashes and a checkpoint.
const MaxProofBytes = MaxCheckpointBytes + 8<<10

// Prove writes a C2SP tlog-proof that the record with this number is in the log of a signed checkpoint of that size.
func Prove(index, size int64, checkpoint []byte, nodes Nodes) ([]byte, error) {
	hashes, err := tlog.ProveRecord(size, index, nodes)
	if err != nil {
		return nil, fmt.Errorf("proving record %d of %d: %w", index, size, err)
	}
	p := proof.TLogProof{Index: uint64(max(index, 0)), Checkpoint: checkpoint}
	for _, h := range hashes {
		p.Hashes = append(p.Hashes, h)
	}
	return p.Marshal(), nil
}

// CheckProof verifies that a record is in the log whose verifier this is, and returns its number and the checkpoint.
func CheckProof(text, record []byte, verifier string) (int64, Checkpoint, error) {
	if len(text) > MaxProofBytes {
		return 0, Checkpoint{}, fmt.Errorf("a proof of %d bytes: one has at most %d", len(text), MaxProofBytes)
	}
	var p proof.TLogProof
	if err := p.Unmarshal(text); err != nil {
		return 0, Checkpoint{}, fmt.Errorf("this is no tlog-proof: %w", err)
	}
	if !bytes.Equal(p.Marshal(), text) {
		return 0, Checkpoint{}, errors.New("the proof is not written as a tlog-proof is: something in it was changed")
	}
	if len(p.ExtraData) > 0 {
		return 0, Checkpoint{}, errors.New("the proof has an extra line: nothing vouches for what it says, and none of ours has one")
	}
	c, err := Open(p.Checkpoint, verifier)
	if err != nil {
		return 0, c, err
	}
	if p.Index >= uint64(max(c.Size, 0)) {
		return 0, c, fmt.Errorf("the proof is about record %d of a log that has %d", p.Index, c.Size)
	}
	hashes := make(tlog.RecordProof, len(p.Hashes))
	for i, h := range p.Hashes {
		hashes[i] = h
	}
	index := int64(p.Index)
	if err := tlog.CheckRecord(hashes, c.Size, c.Root, index, Leaf(record)); err != nil {
		return 0, c, fmt.Errorf("the record is not number %d of the log %s: %w", index, c.Origin, err)
	}
	return index, c, nil
}
