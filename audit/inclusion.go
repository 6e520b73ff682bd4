package audit

import (
	"errors"

	"golang.org/x/mod/sumdb/tlog"
)

// PathFinder finds the RFC 6962 inclusion path of one leaf of a tree whose leaves come one after the other; it keeps as little as Peaks does,
// so that a receipt of ten million shards is read once.
type PathFinder struct {
	peaks []Hash // of the complete subtrees, the largest first
	size  int64
	at    int // which peak the leaf is under
	index int64
	found bool
	path  []Hash
}

// Add appends a leaf; wanted says that it is the one whose path is looked for.
func (p *PathFinder) Add(leaf Hash, wanted bool) {
	p.peaks = append(p.peaks, leaf)
	if wanted {
		p.at, p.index, p.found, p.path = len(p.peaks)-1, p.size, true, nil
	}
	for n := p.size; n&1 == 1; n >>= 1 {
		last := len(p.peaks) - 1
		switch {
		case !p.found:
		case p.at == last:
			p.path, p.at = append(p.path, p.peaks[last-1]), last-1
		case p.at == last-1:
			p.path = append(p.path, p.peaks[last])
		}
		p.peaks[last-1] = tlog.NodeHash(p.peaks[last-1], p.peaks[last])
		p.peaks = p.peaks[:last]
	}
	p.size++
}

// Path is the path from the leaf to the root, and the leaf's number.
func (p *PathFinder) Path() (index int64, path []Hash, err error) {
	if !p.found {
		return 0, nil, errors.New("the tree has no such leaf")
	}
	path = append(path, p.path...)
	if last := len(p.peaks) - 1; p.at < last {
		right := p.peaks[last]
		for i := last - 1; i > p.at; i-- {
			right = tlog.NodeHash(p.peaks[i], right)
		}
		path = append(path, right)
	}
	for i := p.at - 1; i >= 0; i-- {
		path = append(path, p.peaks[i])
	}
	return p.index, path, nil
}
