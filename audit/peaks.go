package audit

import (
	"crypto/sha256"
	"fmt"
	"math/bits"

	"golang.org/x/mod/sumdb/tlog"
)

// Peaks are the roots of the complete subtrees that a growing tree consists of, the largest first: all that must be kept of the leaves
// so far for the root of the tree to be known, at most 63 hashes.
type Peaks struct {
	size   int64
	hashes []Hash
}

// NewPeaks goes on with a tree of that size, whose peaks Hashes has returned; both are zero for an empty tree.
func NewPeaks(size int64, hashes [][]byte) (Peaks, error) {
	if size < 0 || len(hashes) != bits.OnesCount64(uint64(size)) {
		return Peaks{}, fmt.Errorf("a tree of %d leaves has other than %d peaks", size, len(hashes))
	}
	p := Peaks{size: size, hashes: make([]Hash, len(hashes))}
	for i, h := range hashes {
		if copy(p.hashes[i][:], h) != len(h) || len(h) != len(Hash{}) {
			return Peaks{}, fmt.Errorf("peak %d has %d bytes: a hash has %d", i, len(h), len(Hash{}))
		}
	}
	return p, nil
}

// Add appends a leaf.
func (p *Peaks) Add(leaf Hash) {
	p.hashes = append(p.hashes, leaf)
	for n := p.size; n&1 == 1; n >>= 1 {
		last := len(p.hashes) - 1
		p.hashes[last-1] = tlog.NodeHash(p.hashes[last-1], p.hashes[last])
		p.hashes = p.hashes[:last]
	}
	p.size++
}

// Size is how many leaves the tree has.
func (p *Peaks) Size() int64 { return p.size }

// Hashes are the peaks.
func (p *Peaks) Hashes() [][]byte {
	hashes := make([][]byte, len(p.hashes))
	for i := range p.hashes {
		hashes[i] = p.hashes[i][:]
	}
	return hashes
}

// Root is the RFC 6962 root of the tree; that of an empty one is the hash of nothing.
func (p *Peaks) Root() Hash {
	if p.size == 0 {
		return sha256.Sum256(nil)
	}
	root := p.hashes[len(p.hashes)-1]
	for i := len(p.hashes) - 2; i >= 0; i-- {
		root = tlog.NodeHash(p.hashes[i], root)
	}
	return root
}
