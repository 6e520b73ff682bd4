package functions

import (
	"fmt"
	"strconv"
)

// many is a number of things with what they do.
func many(n int64, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, more)
}

// itoa writes a number of a shard, a page or a revision.
func itoa(n int64) string { return strconv.FormatInt(n, 10) }
