package partition

import (
	"fmt"
	"strings"
)

// Code names a kind of refusal. Codes are part of the API's contract: they are
// shown in problem types and never change their meaning.
type Code string

// The codes of this package.
const (
	CodeRangeSyntax    Code = "range_syntax"     // not of the form FROM:TO
	CodeRangeEmpty     Code = "range_empty"      // from equals to
	CodeRangeReversed  Code = "range_reversed"   // from is above to
	CodeNotAnInteger   Code = "not_an_integer"   // a bound or a size is not a whole number
	CodeIntegerTooLong Code = "integer_too_long" // more than MaxDigits digits
	CodeShardSize      Code = "shard_size"       // the size is missing, zero or negative
	CodeTooManyShards  Code = "too_many_shards"  // more than MaxShards shards
	CodePartitionKind  Code = "partition_kind"   // no such kind of partition
	CodeSpecSyntax     Code = "partition_syntax" // not a JSON object of the expected fields
	CodeSpecTooLarge   Code = "partition_size"   // more than MaxSpecBytes or MaxInlineItems
	CodeNoItems        Code = "items_empty"      // no item at all
	CodeItemSyntax     Code = "item_syntax"      // an item is not one acceptable JSON value
	CodeNoFile         Code = "file_missing"     // there is no such file or object
	CodeShardFiles     Code = "shard_files"      // files that cannot be those of one shard
	CodeItemTooLarge   Code = "item_size"        // an item has more than MaxItemBytes bytes
)

// Error is a refusal of a partition or of its input. It says what was wrong,
// where, and what to do next.
type Error struct {
	Code   Code
	Field  string // the field of the Spec, "" when it is the whole
	Line   int64  // the line of the items, counted from 1; 0 when there is none
	Detail string // what is wrong, in a sentence without a full stop
	Hint   string // what to do next
}

// Error tells where, what and what to do next.
func (e *Error) Error() string {
	var b strings.Builder
	if e.Line > 0 {
		fmt.Fprintf(&b, "line %d: ", e.Line)
	}
	if e.Field != "" {
		fmt.Fprintf(&b, "%s: ", e.Field)
	}
	b.WriteString(e.Detail)
	if e.Hint != "" {
		fmt.Fprintf(&b, " (%s)", e.Hint)
	}
	return b.String()
}

// quoted shows foreign text in a message: escaped, and cut with a mark where
// it is long, since a message is no place for a megabyte.
func quoted(text string) string {
	const most = 60
	if len(text) <= most {
		return fmt.Sprintf("%q", text)
	}
	return fmt.Sprintf("%q… (%d bytes)", text[:most], len(text))
}
