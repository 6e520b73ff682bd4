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

// auditsText says how a job's audits stand.
func auditsText(v *client.JobVerification) string {
	if v == nil || v.AuditsDrawn == 0 {
		return ""
	}
	text := fmt.Sprintf("%d drawn, %d passed", v.AuditsDrawn, v.AuditsPassed)
	for _, other := range []struct {
		n    int64
		what string
	}{{v.AuditsFailed, "failed"}, {v.AuditsPending, "pending"}, {v.AuditsVoid, "came to nothing"}} {
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
