package functions

import "fmt"

// jobScoring is how heuristics do at a job's results.
type jobScoring struct {
	Failing   int64 // pages
	GivenUp   int64
	Failures  int
	Error     string
	Raised    int64 // agents
	AllRaised bool
}

func (s jobScoring) explain(e *Explanation, job Job) {
	add := func(code, hint, format string, args ...any) {
		e.Reasons = append(e.Reasons, Reason{Code: code, Text: fmt.Sprintf(format, args...), Hint: hint})
	}
	if s.Failing > 0 {
		wait := ""
		if holdFolds(job.Heuristics) {
			wait = ", and are folded after it"
		}
		add("scoring_failing", fmt.Sprintf("it is tried again with growing pauses; after %d failures the job goes on without", MaxScoreFailures),
			"%s for a heuristic that fails (%d of %d times)%s: %s", many(s.Failing, "page waits", "pages wait"), s.Failures, MaxScoreFailures, wait, s.Error)
	}
	if s.GivenUp > 0 {
		add("not_scored", "see ostraka flag list --job "+job.ID.String()+" --kind finding; nothing waits for it", "%s no score, since a heuristic failed: %s", many(s.GivenUp, "page has", "pages have"), s.Error)
	}
	switch {
	case s.AllRaised:
		add("audits_raised", "ostraka finding list --function "+job.Function, "More results than usual are audited at once, after what a heuristic found in the code.")
	case s.Raised > 0:
		add("audits_raised", "ostraka finding list --job "+job.ID.String(), "More results than usual of %s are audited at once, after what a heuristic found in them.", many(s.Raised, "agent", "agents"))
	}
}
