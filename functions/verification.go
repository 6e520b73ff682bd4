package functions

import (
	"context"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/functions/verify"
)

// JobVerification is what speaks for the results of a job with a target error, or of one whose shards the server executes as well.
type JobVerification struct {
	ErrorBound         float64 `json:"error_bound" doc:"The largest share of wrong results that is to be expected among the final ones; 0 where the server executes every shard."`
	AnswerRisk         float64 `json:"answer_risk" doc:"The largest probability with which any result is wrong; 0 where the server has executed every shard."`
	Caveat             string  `json:"caveat,omitempty" doc:"What the bound rests on besides, where agents audit in the place of a server; left out where servers do."`
	AssumeHostile      float64 `json:"assume_hostile" doc:"The share of hostile results against which the bound is kept."`
	AuditsDrawn        int64   `json:"audits_drawn" doc:"Results that were drawn for an audit."`
	AuditsPassed       int64   `json:"audits_passed"`
	AuditsFailed       int64   `json:"audits_failed" doc:"Audits that proved a result wrong."`
	AuditsVoid         int64   `json:"audits_void" doc:"Audits that came to nothing: the result was taken back before, for example."`
	AuditsPending      int64   `json:"audits_pending"`
	Rechecks           int64   `json:"rechecks" doc:"Shards that the server has executed itself."`
	ExecutionsPerShard float64 `json:"executions_per_shard" doc:"By agents and the server, so far."`
	Reopened           int64   `json:"reopened" doc:"Accepted results that were taken back when their agent was caught; a shard counts as often as it happened."`
	Incidents          int64   `json:"incidents" doc:"Agents that were caught after results of theirs had become final in this job."`
	Questionable       int64   `json:"questionable" doc:"Those results: they are within the bound's promise, and stay."`
	// Confirm is nil where the policy has no condition over outputs.
	Confirm *JobConfirmation `json:"confirm,omitempty" doc:"Results that matter by the policy's confirm."`
}

// JobConfirmation counts results that matter. What is neither confirmed nor refuted waits.
type JobConfirmation struct {
	Matched   int64 `json:"matched" doc:"Results that fulfil confirm, or of which that could not be told."`
	Confirmed int64 `json:"confirmed" doc:"Those to which the server, or enough other owners, gave the same answer."`
	Refuted   int64 `json:"refuted" doc:"Those that came to nothing: the shard's answer is another one, or the result was taken back."`
	Unjudged  int64 `json:"unjudged" doc:"Those on which the expression failed: they are taken to matter, and their attempts say why."`
}

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

// verification is nil where a job's policy has neither a bound nor the server's executions. rechecks: some server can execute shards now.
func (j Job) verification(ctx context.Context, tx *store.Tx, id uuid.UUID, rechecks bool) (*JobVerification, error) {
	if j.Policy.TargetError == 0 && j.Policy.Recheck == "" {
		return nil, nil //nolint:nilnil // there is none, as said
	}
	r, _, err := store.One[verificationRow](ctx, tx, store.JobVerification, id)
	if err != nil {
		return nil, err
	}
	v := &JobVerification{
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
	c, _, err := store.One[JobConfirmation](ctx, tx, store.JobConfirmation, id)
	v.Confirm = &c
	return v, err
}
