package main

import (
	"fmt"

	"github.com/ostraka/ostraka/client"
)

// executionsText is what verification has cost a job so far.
func executionsText(v *client.JobVerification) string {
	if v == nil || v.ExecutionsPerShard == 0 {
		return ""
	}
	return fmt.Sprintf("%.2f a shard, with %d by the server", v.ExecutionsPerShard, v.Rechecks)
}

// asGoodAsSure is the probability of a wrong result from which on a number says no more than a sentence: two digits would show some as 1.
const asGoodAsSure = 0.95

// answerRiskText says how likely any wrong result is.
func answerRiskText(risk float64) string {
	switch {
	case risk == 0:
		return "every result is right, as far as the server is"
	case risk >= asGoodAsSure:
		return "some result may be wrong: --exact or --answer-error says with what probability"
	default:
		return fmt.Sprintf("all results are right but for a probability of at most %.2g", risk)
	}
}

// answerText says so of a job whose results are audited, once it has some.
func answerText(j client.Job) string {
	if j.Verification == nil || j.Shards.Accepted == 0 {
		return ""
	}
	return answerRiskText(j.Verification.AnswerRisk)
}

// caveatText says what the bound of a job rests on besides.
func caveatText(v *client.JobVerification) string {
	if v == nil {
		return ""
	}
	return v.Caveat
}

// auditsText says how a job's audits stand.
func auditsText(v *client.JobVerification) string {
	if v == nil || v.AuditsDrawn == 0 {
		return ""
	}
	return fmt.Sprintf("%d drawn, %d passed", v.AuditsDrawn, v.AuditsPassed) +
		furtherCounts(counted{v.AuditsFailed, "failed"}, counted{v.AuditsPending, "pending"}, counted{v.AuditsVoid, "came to nothing"})
}

// counted is how many of something there are.
type counted struct {
	n    int64
	what string
}

// furtherCounts goes on with a sentence of counts by those of which there are any.
func furtherCounts(all ...counted) (text string) {
	for _, c := range all {
		if c.n > 0 {
			text += fmt.Sprintf(", %d %s", c.n, c.what)
		}
	}
	return text
}

// confirmedText says how results stand that matter by the job's confirm.
func confirmedText(v *client.JobVerification) string {
	if v == nil || v.Confirm == nil {
		return ""
	}
	c := v.Confirm
	text := fmt.Sprintf("%d of %s", c.Confirmed, count(c.Matched, "result")) + " that matter"
	for _, other := range []struct {
		n    int64
		what string
	}{{c.Refuted, "came to nothing"}, {c.Matched - c.Confirmed - c.Refuted, "waiting"}, {c.Unjudged, "could not be judged by confirm"}} {
		if other.n > 0 {
			text += fmt.Sprintf(", %d %s", other.n, other.what)
		}
	}
	return text
}

// takenBackText says what catches have cost a job.
func takenBackText(v *client.JobVerification) string {
	if v == nil || v.Reopened == 0 {
		return ""
	}
	return count(v.Reopened, "result") + " of agents that were caught, and lent again"
}

// incidentsText says that a job keeps results of agents that were caught later.
func incidentsText(j client.Job) string {
	v := j.Verification
	if v == nil || v.Incidents == 0 {
		return ""
	}
	return fmt.Sprintf("%s, with %s of agents that were caught later: ostraka incident list --job %s", count(v.Incidents, "incident"), count(v.Questionable, "final result"), j.ID)
}
