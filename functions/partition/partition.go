// Package partition cuts a job's input into shards.
//
// It is pure: it reads bytes that it is given, does arithmetic and returns
// shards or errors. Shards are numbered from 0; PageSize consecutive shards
// make a page.
package partition

import (
	"github.com/ostraka/ostraka/runtime/canonical"
)

// PageSize is the number of consecutive shards in a page, the unit of
// progress, of partial aggregation and of the portal's mosaic. At 1,024 a job
// of a million shards has about a thousand pages: few enough to read at once,
// many enough to show progress. Stored jobs depend on it, so it never changes.
const PageSize = 1024

// MaxShards is the largest number of shards in one job. At about 200 bytes a
// row ten million shards are 2 GB of table, which one Postgres still bears;
// larger inputs need larger shards or several jobs.
const MaxShards = 10_000_000

// MaxDigits is the largest number of decimal digits of a range's bounds and
// of its shard size. It leaves room for any number-theoretic search and keeps
// the arithmetic on hostile input far below a millisecond.
const MaxDigits = 1000

// MaxItemBytes is the largest size of one item, in bytes of JSON without the
// surrounding white space. It equals the size up to which a result is stored
// inline; an input that needs more belongs in an object.
const MaxItemBytes = 64 << 10

// MaxItemDepth is how deep an item's arrays and objects may nest, the same as
// for an output.
const MaxItemDepth = canonical.MaxDepth

// MaxInlineItems is the largest number of items written into a Spec itself.
// More items belong in an object of one JSON value a line.
const MaxInlineItems = 10_000

// MaxSpecBytes is the largest JSON form of a Spec, in bytes: what one request
// or one follow-up rule may carry inline.
const MaxSpecBytes = 1 << 20

// Pages returns how many pages count shards fill; the last may be short.
func Pages(count int64) int64 {
	if count <= 0 {
		return 0
	}
	return (count-1)/PageSize + 1
}

// PageOf returns the page that shard n belongs to.
func PageOf(n int64) int64 { return n / PageSize }

// PageBounds returns the half-open interval [first, last) of the shards of a
// page, in a job of count shards. It is empty (first == last) when the job has
// no such page.
func PageBounds(page, count int64) (first, last int64) {
	if page < 0 || page >= Pages(count) {
		return 0, 0
	}
	first = page * PageSize
	return first, min(first+PageSize, count)
}
