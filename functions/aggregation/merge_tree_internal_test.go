package aggregation

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/ostraka/ostraka/wasm"
)

func TestTreeTop(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		pages int64
		level int
		width int64
	}{{1, 0, 1}, {100, 0, 100}, {101, 1, 2}, {977, 1, 10}, {10_000, 1, 100}, {10_001, 2, 2}} {
		level, width := treeTop(c.pages)
		require.Equal(t, c.level, level, "%d pages", c.pages)
		require.Equal(t, c.width, width, "%d pages", c.pages)
	}
}

// TestAPartialMayHaveItsShare lets every partial of a small job be a whole line, and those of a large one fill its level at most.
func TestAPartialMayHaveItsShare(t *testing.T) {
	t.Parallel()
	const whole = MaxLevelBytes / wasm.MaxLine
	require.EqualValues(t, wasm.MaxLine, maxPartial(1, 0))
	require.EqualValues(t, wasm.MaxLine, maxPartial(whole, 0))
	require.Less(t, maxPartial(whole+1, 0), int64(wasm.MaxLine))
	require.EqualValues(t, wasm.MaxLine, maxPartial(whole+1, 1))
	require.EqualValues(t, 1, maxPartial(2*MaxLevelBytes, 0), "never nought, which would be no bound")
	rapid.Check(t, func(t *rapid.T) {
		pages, level := rapid.Int64Range(1, MaxLevelBytes).Draw(t, "pages"), rapid.IntRange(0, 3).Draw(t, "level")
		if most := maxPartial(pages, level) * treeWidth(pages, level); most > MaxLevelBytes {
			t.Fatalf("%d pages may take %d bytes at level %d", pages, most, level)
		}
	})
}

// TestTreeHoldsEveryPageOnce walks down from the top.
func TestTreeHoldsEveryPageOnce(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		pages := rapid.Int64Range(1, 30_000).Draw(t, "pages")
		top, width := treeTop(pages)
		if width > wasm.MergeFanIn {
			t.Fatalf("the answer is made of %d partials", width)
		}
		from, to := int64(0), width
		for level := top; level > 0; level-- {
			first, _ := node{level, from}.children(pages)
			_, last := node{level, to - 1}.children(pages)
			for n := from; n+1 < to; n++ {
				_, end := node{level, n}.children(pages)
				start, _ := node{level, n + 1}.children(pages)
				if end != start {
					t.Fatalf("level %d: node %d ends at %d, the next starts at %d", level, n, end, start)
				}
			}
			from, to = first, last
		}
		if from != 0 || to != pages {
			t.Fatalf("the tree holds the pages %d to %d of %d", from, to, pages)
		}
		page := rapid.Int64Range(0, pages-1).Draw(t, "page")
		nodes := pathOf(pages, page)
		if len(nodes) != top+1 {
			t.Fatalf("the path of page %d has %d nodes, the tree %d levels", page, len(nodes), top+1)
		}
		for i := 1; i < len(nodes); i++ {
			if from, to := nodes[i].children(pages); nodes[i-1].number < from || nodes[i-1].number >= to {
				t.Fatalf("%v is not below %v", nodes[i-1], nodes[i])
			}
		}
	})
}
