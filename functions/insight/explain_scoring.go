package insight

import (
	"fmt"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/heuristics"
	"github.com/ostraka/ostraka/functions/jobs"
)

// jobScoring is how heuristics do at a job's results.
type jobScoring struct {
	Failing   int64 // pages
	GivenUp   int64
	Failures  int
	Error     string
	Raised    int64 // agents
	AllRaised bool
}

func (s jobScoring) explain(e *functions.Explanation, job functions.Job) {
	add := func(code, hint, format string, args ...any) {
		e.Reasons = append(e.Reasons, functions.Reason{Code: code, Text: fmt.Sprintf(format, args...), Hint: hint})
	}
	if s.Failing > 0 {
		wait := ""
		if jobs.HoldFolds(job.Heuristics) {
			wait = ", and are folded after it"
		}
		add("scoring_failing", fmt.Sprintf("it is tried again with growing pauses; after %d failures the job goes on without", heuristics.MaxScoreFailures),
			"%s for a heuristic that fails (%d of %d times)%s: %s", base.Plural(s.Failing, "page waits", "pages wait"), s.Failures, heuristics.MaxScoreFailures, wait, s.Error)
	}
	if s.GivenUp > 0 {
		add("not_scored", "see ostraka flag list --job "+job.ID.String()+" --kind finding; nothing waits for it", "%s no score, since a heuristic failed: %s", base.Plural(s.GivenUp, "page has", "pages have"), s.Error)
	}
	switch {
	case s.AllRaised:
		add("audits_raised", "ostraka finding list --function "+job.Function, "More results than usual are audited at once, after what a heuristic found in the code.")
	case s.Raised > 0:
		add("audits_raised", "ostraka finding list --job "+job.ID.String(), "More results than usual of %s are audited at once, after what a heuristic found in them.", base.Plural(s.Raised, "agent", "agents"))
	}
}
