package jobs

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/jobs/sql"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/functions/verify"
)

const (
	// maxFailuresRead is how many shards that failed a job's error is made of: the first ones, since a million may have failed.
	maxFailuresRead = 1000
	// maxFailuresTold is how many ways to fail a job's error names.
	maxFailuresTold = 3
)

// RaisedText is what a function raised, or the limit that it passed, as people say it.
type RaisedText struct {
	Status    verify.Status
	Type      string
	Message   string
	Traceback string
}

// lastFrame is a line of a Python traceback that names a place in the code.
var lastFrame = regexp.MustCompile(`(?m)^\s*File "([^"\n]{1,200})", line (\d{1,9}), in ([^\n]{1,200})$`)

// Text is one line: KeyError: 3 (main.py:3 in helper), or timeout: still running after 2 s.
func (r RaisedText) Text() string {
	what := r.Type
	if r.Status != verify.Error {
		what = string(r.Status)
	}
	if message := strings.Join(strings.Fields(r.Message), " "); message != "" {
		what += ": " + message
	}
	if text := []rune(what); len(text) > maxExceptionText {
		what = string(text[:maxExceptionText]) + "…"
	}
	if r.Status != verify.Error {
		return what
	}
	if frames := lastFrame.FindAllStringSubmatch(r.Traceback, -1); len(frames) > 0 {
		f := frames[len(frames)-1]
		what += fmt.Sprintf(" (%s:%s in %s)", f[1], f[2], f[3])
	}
	return what
}

// failure is why a shard failed.
type failure struct {
	Number  int64
	Reasons []verify.Reason
	RaisedText
}

// why is what its attempts ended with, or else what was decided about it.
func (f failure) why() string {
	switch {
	case f.Status != "" && (f.Type != "" || f.Message != "" || f.Status != verify.Error):
		return f.Text()
	case len(f.Reasons) > 0:
		return f.Reasons[len(f.Reasons)-1].Text
	default:
		return "no reason was kept"
	}
}

// failuresOf is the error of a job with failed shards: 3 of 12 shards failed: KeyError: 3 (main.py:3 in helper).
func failuresOf(ctx context.Context, tx *store.Tx, job uuid.UUID, failed, total int64) (string, error) {
	rows, err := store.Many[failure](ctx, tx, sql.FailuresOfJob, job, maxFailuresRead)
	if err != nil {
		return "", err
	}
	return tellFailures(rows, failed, total), nil
}

// tellFailures puts alike what failed alike, most of it first.
func tellFailures(rows []failure, failed, total int64) string {
	var ways []string
	times := map[string]int{}
	for _, r := range rows {
		why := r.why()
		if times[why]++; times[why] == 1 {
			ways = append(ways, why)
		}
	}
	slices.SortStableFunc(ways, func(a, b string) int { return times[b] - times[a] })
	told := ways[:min(len(ways), maxFailuresTold)]
	parts := make([]string, len(told))
	for i, way := range told {
		parts[i] = way
		if len(ways) > 1 {
			parts[i] = fmt.Sprintf("%d× %s", times[way], way)
		}
	}
	text := fmt.Sprintf("%d of %s failed: %s", failed, base.Plural(total, "shard", "shards"), strings.Join(parts, "; "))
	if more := len(ways) - len(told); more > 0 {
		text += fmt.Sprintf("; and in %s", base.Plural(int64(more), "other way", "other ways"))
	}
	if int64(len(rows)) < failed {
		text += fmt.Sprintf(" (of the first %d)", len(rows))
	}
	return text
}

// maxExceptionText is how much of an exception a reason quotes, in characters. The whole stands with the attempt.
const maxExceptionText = 300
