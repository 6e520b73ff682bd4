package audit

import (
	"encoding/json"
	"errors"
	"fmt"

	"golang.org/x/mod/sumdb/tlog"
)

const (
	// MaxShardProofBytes is how long the proof of one shard may be: a receipt without lines, one line, a path of 24 hashes at most, and what each
	// agent of the line has signed.
	MaxShardProofBytes = MaxReceiptBytes + MaxShardLine + 4<<10 + MaxShardAgents*maxShardSignature
	// maxShardSignature is how long one of these may be, with the record of the agent's key.
	maxShardSignature = 8 << 10
	// maxShardPath is how many hashes a path has in the tree of MaxReceiptShards lines.
	maxShardPath = 24
)

const (
	shardProofKind    = "receipt-shard"
	shardProofVersion = 1
	// signedShardVersion is the version of one with signatures of agents.
	signedShardVersion = 2
)

type shardProofWire struct {
	Kind    string          `json:"ostraka"`
	V       int             `json:"v"`
	Receipt json.RawMessage `json:"receipt"`
	Line    json.RawMessage `json:"line"`
	Index   int64           `json:"index"` // of the line, counted from 0
	Path    []string        `json:"path"`  // RFC 6962, from the leaf to the root
	// Signatures are those of agents that the line names.
	Signatures []ShardSignature `json:"signatures,omitempty"`
}

func (w shardProofWire) version() int {
	if len(w.Signatures) > 0 {
		return signedShardVersion
	}
	return shardProofVersion
}

// ShardProof is one shard of a receipt, proven without the lines of the others.
type ShardProof struct {
	Receipt Receipt
	Line    ShardLine
	Index   int64
	Signed  []SignedSeen // the agents whose signatures it has
}

// IsShardProof says whether a line is the proof of one shard, and not a receipt.
func IsShardProof(text []byte) bool {
	var w struct {
		Kind string `json:"ostraka"`
	}
	return json.Unmarshal(text, &w) == nil && w.Kind == shardProofKind
}

// EncodeShardProof writes the proof of a shard out of a receipt without lines, the line, its path in the tree of the lines, and what
// agents have signed of it.
func EncodeShardProof(receipt, line []byte, index int64, path []Hash, signatures ...ShardSignature) ([]byte, error) {
	w := shardProofWire{Kind: shardProofKind, Receipt: receipt, Line: line, Index: index, Path: hashTexts(path), Signatures: signatures}
	w.V = w.version()
	text, err := encode(w)
	if err != nil {
		return nil, fmt.Errorf("writing the proof of a shard: %w", err)
	}
	return text, nil
}

// OpenShardProof verifies the proof of a shard with the key of the project's log, as OpenReceipt does a receipt. It asks no server.
func OpenShardProof(text []byte, key string) (p ShardProof, err error) {
	if len(text) > MaxShardProofBytes {
		return p, fmt.Errorf("the proof of a shard has at most %d bytes", MaxShardProofBytes)
	}
	var w shardProofWire
	if err := json.Unmarshal(text, &w); err != nil || w.Kind != shardProofKind {
		return p, errors.New("this is no proof of a shard: one begins with {\"ostraka\":\"receipt-shard\"")
	}
	if w.V != w.version() {
		return p, fmt.Errorf("the proof of a shard has version %d: this program reads version %d, and version %d of those with signatures of agents", w.V, shardProofVersion, signedShardVersion)
	}
	if err := strict(text, &w); err != nil {
		return p, fmt.Errorf("the proof of a shard was changed: %w", err)
	}
	if p.Receipt, err = OpenReceipt(w.Receipt, key); err != nil {
		return p, err
	}
	if p.Line, err = ParseShardLine(w.Line); err != nil {
		return p, err
	}
	p.Index = w.Index
	if err := w.holds(p); err != nil {
		return p, err
	}
	p.Signed, err = p.signed(w.Signatures)
	return p, err
}

// holds makes sure that the line is one of those that the receipt commits to.
func (w shardProofWire) holds(p ShardProof) error {
	said := p.Receipt.Statement.Shards
	if w.Index < 0 || w.Index >= said.Accepted || p.Line.Shard >= said.Total || p.Line.Shard < w.Index {
		return fmt.Errorf("line %d of %d cannot be that of shard %d of %d", w.Index, said.Accepted, p.Line.Shard, said.Total)
	}
	if len(w.Path) > maxShardPath {
		return fmt.Errorf("a path of %d hashes: one has at most %d", len(w.Path), maxShardPath)
	}
	path, err := readHashes(w.Path)
	if err != nil {
		return fmt.Errorf("the path: %w", err)
	}
	root, err := hashOf(said.Root)
	if err != nil {
		return err
	}
	if err := tlog.CheckRecord(path, said.Accepted, root, w.Index, Leaf(w.Line)); err != nil {
		return fmt.Errorf("the line of shard %d is not one of those that the log vouches for", p.Line.Shard)
	}
	return nil
}
