package insight

import (
	"fmt"
	"strings"
	"time"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/trust/execution"
	"github.com/ostraka/ostraka/guardian"
)

// recheckHeld says why the guardian keeps the server from executing a job's shards, and what helps.
func recheckHeld(h execution.RecheckHold, rechecks int64) functions.Reason {
	r := functions.Reason{Code: h.Code, Text: fmt.Sprintf("%s held by the guardian: %s", base.Plural(rechecks, "recheck is", "rechecks are"), h.Reason)}
	switch h.Code {
	case execution.HeldForApproval:
		r.Hint = "ostraka approval list --state waiting names what is asked; with a yes they go on by themselves"
	case execution.HeldForIsolation:
		r.Hint = "start a server with a stronger sandbox, or change the rule: ostraka guardian rule list; they go on by themselves"
	case execution.HeldForVolume:
		r.Text = fmt.Sprintf("%s for a server that has the function's volumes: %s", base.Plural(rechecks, "recheck waits", "rechecks wait"), h.Reason)
		r.Hint = "give this one the folder too: ostraka server --recheck-volume NAME=FOLDER; they go on by themselves"
	default:
		r.Hint = "change the rule, or make an exception from it: ostraka guardian override add --rule RULE --reason WHY --for 1h; they go on by themselves, and nothing is decided without them"
	}
	return r
}

// explainConditions says what the conditions of a job keep it from.
func explainConditions(e *functions.Explanation, job functions.Job, now time.Time) {
	c := job.Conditions
	if c == nil {
		return
	}
	if len(c.Broken(guardian.Planned{Now: now})) > 0 {
		e.Reasons = append([]functions.Reason{{
			Code: "no_longer_allowed",
			Text: fmt.Sprintf("The guardian allowed the job until %s: nothing more of it is lent, and servers execute nothing more of it.", c.ValidUntil.UTC().Format(time.RFC3339)),
			Hint: "cancel it with ostraka job cancel " + job.ID.String() + ", and submit it again when a rule allows it",
		}}, e.Reasons...)
	}
	if c.Owners != nil {
		e.Reasons = append(e.Reasons, functions.Reason{
			Code: "owners_only", Text: "By a condition of the guardian it is lent to agents of these owners alone: " + namesOf(c.Owners) + ".",
			Hint: "ostraka agent list shows whose the agents are; ostraka guardian rule list shows the rules that set conditions, which hold for jobs made from then on",
		})
	}
}

func namesOf(owners []string) string {
	if len(owners) == 0 {
		return "nobody, since several rules name others"
	}
	return strings.Join(owners, ", ")
}
