package audit

import (
	"errors"
	"fmt"

	"golang.org/x/mod/sumdb/tlog"
)

// Hash is a node of the tree: SHA-256 as RFC 6962 says.
type Hash = tlog.Hash

// Nodes returns the hashes of the nodes with these numbers. The nodes of a log are numbered in the order in which they become certain
// (tlog.StoredHashIndex), so that a log only ever appends some.
type Nodes func(numbers []int64) ([]Hash, error)

// ReadHashes makes Nodes readable by package tlog.
func (n Nodes) ReadHashes(numbers []int64) ([]Hash, error) { return n(numbers) }

// Leaf is the hash of a record's canonical bytes.
func Leaf(record []byte) Hash { return tlog.RecordHash(record) }

// NodeCount is how many nodes a log of that size has stored.
func NodeCount(size int64) int64 { return tlog.StoredHashCount(size) }

// LeafNode is the number of the node that is a record's leaf.
func LeafNode(index int64) int64 { return tlog.StoredHashIndex(0, index) }

// Grow appends leaves to a log of the given size: it returns the nodes that become certain, the first of which has the number
// NodeCount(size), and the root of the log that has grown.
func Grow(size int64, leaves []Hash, old Nodes) (nodes []Hash, root Hash, err error) {
	first := NodeCount(size)
	read := Nodes(func(numbers []int64) ([]Hash, error) { return readBoth(numbers, first, nodes, old) })
	for i, leaf := range leaves {
		more, err := tlog.StoredHashesForRecordHash(size+int64(i), leaf, read)
		if err != nil {
			return nil, root, fmt.Errorf("appending to the tree: %w", err)
		}
		nodes = append(nodes, more...)
	}
	root, err = tlog.TreeHash(size+int64(len(leaves)), read)
	if err != nil {
		return nil, root, fmt.Errorf("computing the root of the tree: %w", err)
	}
	return nodes, root, nil
}

// readBoth reads nodes that are stored and nodes that are not yet.
func readBoth(numbers []int64, first int64, fresh []Hash, old Nodes) ([]Hash, error) {
	hashes := make([]Hash, len(numbers))
	var stored []int64
	var places []int
	for i, n := range numbers {
		if n < first {
			stored, places = append(stored, n), append(places, i)
			continue
		}
		if n-first >= int64(len(fresh)) {
			return nil, fmt.Errorf("node %d of the tree is not there", n)
		}
		hashes[i] = fresh[n-first]
	}
	if len(stored) == 0 {
		return hashes, nil
	}
	read, err := old(stored)
	if err != nil {
		return nil, err
	}
	if len(read) != len(stored) {
		return nil, errors.New("nodes of the tree are missing")
	}
	for i, place := range places {
		hashes[place] = read[i]
	}
	return hashes, nil
}

// Root is the root of the tree over the first size records.
func Root(size int64, nodes Nodes) (Hash, error) { return tlog.TreeHash(size, nodes) }

// tree computes the root of a tree whose leaves come one after the other, and keeps as little as it can.
type tree struct {
	size  int64
	peaks []Hash // of the complete subtrees, the largest first
}

func (t *tree) add(leaf Hash) {
	t.peaks = append(t.peaks, leaf)
	t.size++
	for n := t.size; n&1 == 0; n >>= 1 {
		last := len(t.peaks) - 1
		t.peaks[last-1] = tlog.NodeHash(t.peaks[last-1], t.peaks[last])
		t.peaks = t.peaks[:last]
	}
}

func (t *tree) root() Hash {
	if len(t.peaks) == 0 {
		root, _ := tlog.TreeHash(0, nil) // of nothing; it reads nothing
		return root
	}
	hash := t.peaks[len(t.peaks)-1]
	for i := len(t.peaks) - 2; i >= 0; i-- {
		hash = tlog.NodeHash(t.peaks[i], hash)
	}
	return hash
}
