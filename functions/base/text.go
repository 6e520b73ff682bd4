package base

import (
	"fmt"
	"strconv"
)

// Plural is a number of things with what they do.
func Plural(n int64, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, more)
}

// FormatNumber writes a number of a shard, a page or a revision.
func FormatNumber(n int64) string { return strconv.FormatInt(n, 10) }
