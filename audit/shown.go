package audit

import (
	"encoding/base64"
	"errors"
	"math/bits"
	"slices"

	"golang.org/x/mod/sumdb/tlog"
)

// hide returns what stands for the leaves of a tree that are not shown: the roots of the largest subtrees without one that is, from left to right.
func hide(leaves []Hash, shown []bool) []Hash {
	if len(leaves) == 0 {
		return nil
	}
	if !slices.Contains(shown, true) {
		var tree Peaks
		for _, leaf := range leaves {
			tree.Add(leaf)
		}
		return []Hash{tree.Root()}
	}
	if len(leaves) == 1 {
		return nil
	}
	k := split(len(leaves))
	return append(hide(leaves[:k], shown[:k]), hide(leaves[k:], shown[k:])...)
}

// split is how many leaves are under the left child of a tree of n, which has two at least.
func split(n int) int { return 1 << (bits.Len(uint(n-1)) - 1) }

// shownTree computes the root of a tree of which some leaves are shown, and the others stand there as hide has returned them. It keeps nothing of
// those that are not shown: a file may claim many in few bytes.
type shownTree struct {
	size   int
	places []int // of the leaves that are shown, in their order
	leaves []Hash
	hidden []Hash
	only   int // the leaf for which alone others is computed; -1: none
	others []Hash
}

var errHidden = errors.New("it has not as many hidden hashes as its tree needs")

func (t *shownTree) root() (Hash, error) {
	if t.size == 0 || len(t.leaves) != len(t.places) {
		return Hash{}, errHidden
	}
	root, err := t.node(0, t.size, 0, len(t.places))
	if err == nil && len(t.hidden) > 0 {
		err = errHidden
	}
	return root, err
}

// node is the hash over the leaves in [from, to), of which those in places[first:end] are shown.
func (t *shownTree) node(from, to, first, end int) (h Hash, err error) {
	switch {
	case first == end:
		if len(t.hidden) == 0 {
			return h, errHidden
		}
		h, t.hidden = t.hidden[0], t.hidden[1:]
		return h, nil
	case to-from == 1:
		return t.leaves[first], nil
	}
	k := from + split(to-from)
	middle, _ := slices.BinarySearch(t.places[first:end], k)
	middle += first
	left, err := t.node(from, k, first, middle)
	if err != nil {
		return h, err
	}
	right, err := t.node(k, to, middle, end)
	if err != nil {
		return h, err
	}
	switch { // the subtrees beside the way to the leaf, from left to right
	case t.only >= from && t.only < k:
		t.others = append(t.others, right)
	case t.only >= k && t.only < to:
		t.others = slices.Insert(t.others, 0, left)
	}
	return tlog.NodeHash(left, right), nil
}

func hashTexts(hashes []Hash) []string {
	texts := make([]string, len(hashes))
	for i, h := range hashes {
		texts[i] = base64.StdEncoding.EncodeToString(h[:])
	}
	return texts
}

func readHashes(texts []string) ([]Hash, error) {
	hashes := make([]Hash, len(texts))
	for i, text := range texts {
		h, err := base64.StdEncoding.Strict().DecodeString(text)
		if err != nil || len(h) != len(Hash{}) {
			return nil, errors.New("a hash in it cannot be read")
		}
		hashes[i] = Hash(h)
	}
	return hashes, nil
}
