package determinism

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

var (
	addressText = regexp.MustCompile(`\b0x[0-9a-f]{6,}\b`)
	dateText    = regexp.MustCompile(`\b\d{4}-\d\d-\d\d`)
	numberText  = regexp.MustCompile(`^-?\d+(\.\d+)?([eE][-+]?\d+)?$`)
	pathText    = regexp.MustCompile(`"/[^"]*ostraka-`)
	uuidText    = regexp.MustCompile(`\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b`)
)

// nearNow is how far a number may be from the present to be taken for a time.
const nearNow = 48 * time.Hour

// looksLike says what the two values of a difference look like; nothing where they look like nothing in particular.
func looksLike(d Difference, now time.Time) string {
	both := func(p *regexp.Regexp) bool { return p.MatchString(d.First) && p.MatchString(d.Second) }
	switch {
	case both(numberText) && isAddress(d.First) && isAddress(d.Second):
		return "a memory address, as id() gives it"
	case both(addressText):
		return "a memory address: the text of an object that has no __repr__ of its own"
	case both(uuidText):
		return "a UUID made anew each time"
	case both(pathText):
		return "a path: the workspace is another one in every session"
	case both(numberText) && isNow(d.First, now) && isNow(d.Second, now):
		return "the time"
	case both(dateText) && strings.Contains(d.First, now.UTC().Format("2006-01-02")):
		return "the date and time"
	default:
		return ""
	}
}

// isAddress tells whether a number lies where 64-bit systems put the memory of a process.
func isAddress(text string) bool {
	value, err := strconv.ParseUint(text, 10, 64)
	return err == nil && value >= 0x5500_0000_0000 && value < 0x8000_0000_0000
}

// isNow tells whether a number is about the present, in seconds to nanoseconds since 1970.
func isNow(text string, now time.Time) bool {
	value, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return false
	}
	for _, perSecond := range []float64{1, 1e3, 1e6, 1e9} {
		if d := value/perSecond - float64(now.Unix()); d > -nearNow.Seconds() && d < nearNow.Seconds() {
			return true
		}
	}
	return false
}
