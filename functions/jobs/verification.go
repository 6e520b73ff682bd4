package jobs

import (
	"context"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/jobs/sql"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/functions/verify"
)

type verificationRow struct {
	Drawn        int64
	Passed       int64
	Failed       int64
	Void         int64
	Pending      int64
	Rechecks     int64
	Reopened     int64
	Incidents    int64
	Questionable int64
}

// caveatNoServer is what is promised of a job whose results other agents audit.
const caveatNoServer = "no server executes shards of this job: other agents audit, so that the bound holds only as far as it is chance who they are; accomplices who ask for work more often than others get more of the audits"

// ReadVerification is nil where a job's policy has neither a bound nor the server's executions. rechecks: some server can execute shards now.
func ReadVerification(ctx context.Context, tx *store.Tx, j functions.Job, id uuid.UUID, rechecks bool) (*functions.JobVerification, error) {
	if j.Policy.TargetError == 0 && j.Policy.Recheck == "" {
		return nil, nil //nolint:nilnil // there is none, as said
	}
	r, _, err := store.One[verificationRow](ctx, tx, sql.JobVerification, id)
	if err != nil {
		return nil, err
	}
	v := &functions.JobVerification{
		ErrorBound: j.Policy.TargetError, AssumeHostile: j.Policy.AssumeHostile,
		AuditsDrawn: r.Drawn, AuditsPassed: r.Passed, AuditsFailed: r.Failed, AuditsVoid: r.Void, AuditsPending: r.Pending,
		Rechecks: r.Rechecks, Reopened: r.Reopened, Incidents: r.Incidents, Questionable: r.Questionable,
	}
	if v.ErrorBound > 0 && v.AssumeHostile == 0 { // jobs that were submitted when a default was not written down
		v.AssumeHostile = verify.DefaultHostile
	}
	if v.AnswerRisk = verify.AnswerRisk(v.ErrorBound, j.Shards.Total); r.Rechecks >= j.Shards.Total && j.State.Ended() {
		v.AnswerRisk = 0
	}
	if verify.AuditedByAgents(v.ErrorBound, v.AuditsPassed, v.Rechecks, rechecks || j.State.Ended()) {
		v.Caveat = caveatNoServer
	}
	if j.Shards.Total > 0 {
		v.ExecutionsPerShard = float64(j.Attempts+r.Rechecks) / float64(j.Shards.Total)
	}
	if j.Policy.Confirm == "" {
		return v, nil
	}
	c, _, err := store.One[functions.JobConfirmation](ctx, tx, sql.JobConfirmation, id)
	v.Confirm = &c
	return v, err
}
