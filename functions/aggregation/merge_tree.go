package aggregation

import (
	"github.com/ostraka/ostraka/wasm"
)

// The merge tree of an aggregation: level 0 has one partial for each page, and each level above has one for every wasm.MergeFanIn of
// the level below, up to the first that has no more than that many. The answer is made of that level, the top. Nodes are merged as
// soon as all below them is there, so that little is left to do after the last page.

// MaxLevelBytes bounds what the partials of one level of the tree may take in the database together, in bytes. Answers are of
// wasm.MaxLine; a module that prints a full line for each of ten thousand pages would store eighty gigabytes.
const MaxLevelBytes = 4 << 30

// maxPartial is how many bytes one partial of a level may have: its share, so that nothing needs to be counted, and no more than a line.
func maxPartial(pages int64, level int) int64 {
	return min(wasm.MaxLine, max(MaxLevelBytes/treeWidth(pages, level), 1))
}

// node is a place in the tree.
type node struct {
	level  int
	number int64
}

// parent is the node that takes this one in.
func (n node) parent() node { return node{n.level + 1, n.number / wasm.MergeFanIn} }

// treeTop is the level that the answer is made of, and how many nodes it has.
func treeTop(pages int64) (level int, width int64) {
	width = pages
	for width > wasm.MergeFanIn {
		level, width = level+1, above(width)
	}
	return level, width
}

// treeWidth is how many nodes a level has.
func treeWidth(pages int64, level int) int64 {
	for range level {
		pages = above(pages)
	}
	return pages
}

func above(width int64) int64 { return (width + wasm.MergeFanIn - 1) / wasm.MergeFanIn }

// children are the nodes from, up to but without to, of the level below that make this one.
func (n node) children(pages int64) (from, to int64) {
	return n.number * wasm.MergeFanIn, min((n.number+1)*wasm.MergeFanIn, treeWidth(pages, n.level-1))
}

// pathOf is the way of a page to the top: what changes with it.
func pathOf(pages, page int64) []node {
	top, _ := treeTop(pages)
	nodes := []node{{0, page}}
	for n := nodes[0]; n.level < top; {
		n = n.parent()
		nodes = append(nodes, n)
	}
	return nodes
}
