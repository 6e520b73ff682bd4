package bundle

import (
	"fmt"
	"strconv"
	"strings"
)

// units are the suffixes of a size, as Kubernetes writes them.
var units = []struct {
	suffix string
	factor int64
}{
	{"Ki", 1 << 10},
	{"Mi", 1 << 20},
	{"Gi", 1 << 30},
	{"k", 1000},
	{"M", 1_000_000},
	{"G", 1_000_000_000},
}

// ParseBytes reads a size such as "256Mi", "64k" or "1000".
func ParseBytes(s string) (int64, error) {
	digits, factor := s, int64(1)
	for _, u := range units {
		if rest, ok := strings.CutSuffix(s, u.suffix); ok {
			digits, factor = rest, u.factor
			break
		}
	}
	n, err := strconv.ParseUint(digits, 10, 62)
	if err != nil || int64(n) > (1<<62)/factor {
		return 0, fmt.Errorf("%q is not a size: write bytes, or a number with Ki, Mi or Gi, for example 256Mi", s)
	}
	return int64(n) * factor, nil
}

// FormatBytes writes n the way ParseBytes reads it.
func FormatBytes(n int64) string {
	for _, u := range []int{2, 1, 0} {
		if n > 0 && n%units[u].factor == 0 {
			return strconv.FormatInt(n/units[u].factor, 10) + units[u].suffix
		}
	}
	return strconv.FormatInt(n, 10)
}
