package policy

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/policy/sql"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/guardian"
)

const (
	// maxYeses is how many approvals of one operation are looked at, the newest first: one for each rule that there can be.
	maxYeses = 3 * guardian.MaxRules
	// MaxShownAsked is how many bytes of what was asked for beyond the facts are kept for people to read. A yes is bound to all of it.
	MaxShownAsked = 16 << 10
)

// partOf is the job that an operation is part of: leases and rechecks of a job are asked about again and again, and one yes is for all.
func partOf(op guardian.Operation) *uuid.UUID {
	var job string
	switch f := op.Facts.(type) {
	case guardian.DispatchFacts:
		job = f.Job.ID
	case guardian.RecheckFacts:
		job = f.Job.ID
	case guardian.SandboxFacts:
		job = f.Job.ID
	}
	id, err := uuid.Parse(job)
	if err != nil {
		return nil
	}
	return &id
}

// approvalsOf looks for the yeses to an operation that were not used, or to the job that it is part of.
func (s *Service) approvalsOf(ctx context.Context, tx *store.Tx, j judged) (list []guardian.Approval, err error) {
	digest, err := hex.DecodeString(j.decision.Digest)
	if err != nil {
		return nil, fmt.Errorf("reading the digest of an operation: %w", err)
	}
	type row struct {
		ID          uuid.UUID
		Layer       guardian.Layer
		Rule        string
		RuleVersion int64
		DecidedBy   string
		Why         string
		ExpiresAt   *time.Time // nil: it does not expire as long as there is the job
	}
	rows, err := store.Many[row](ctx, tx, sql.FindApprovals, digest, s.now(), partOf(j.op), j.op.Kind, maxYeses)
	for _, r := range rows {
		if r.ExpiresAt == nil {
			r.ExpiresAt = new(s.now().Add(ApprovalLife))
		}
		list = append(list, guardian.Approval{
			ID: r.ID.String(), Digest: j.decision.Digest, Layer: r.Layer, Rule: r.Rule, Version: r.RuleVersion, By: r.DecidedBy, Reason: r.Why, Expires: *r.ExpiresAt,
		})
	}
	return list, err
}

func useApproval(ctx context.Context, tx *store.Tx, id string) error {
	n, err := store.Exec(ctx, tx, sql.UseApproval, id)
	if err == nil && n == 0 { // another transaction was faster
		err = &functions.Error{Kind: functions.KindConflict, Code: "approval_used", Message: "approval " + id + " was used meanwhile", Hint: "send the request again: it asks for another approval"}
	}
	return err
}

// requestApprovals keeps what each rule asks that has no yes, or finds that it is asked already. by is who wants it, job what waits for it.
// tx is where the operation's record belongs.
func (s *Service) requestApprovals(ctx context.Context, tx *store.Tx, j judged, job *uuid.UUID, by string) (ids []uuid.UUID, err error) {
	for _, rule := range j.decision.Asking() {
		id, err := s.requestApproval(ctx, tx, j, rule, job, by)
		if err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, nil
}

func (s *Service) requestApproval(ctx context.Context, tx *store.Tx, j judged, rule guardian.Applied, job *uuid.UUID, by string) (id uuid.UUID, err error) {
	digest, err := hex.DecodeString(j.decision.Digest)
	if err != nil {
		return id, fmt.Errorf("reading the digest of an operation: %w", err)
	}
	known, found, err := store.Value[uuid.UUID](ctx, tx, sql.FindWaiting, digest, s.now(), job, j.op.Kind, rule.Layer, rule.Name, rule.Version)
	if err != nil || found {
		return known, err
	}
	n, _, err := store.Value[int](ctx, tx, sql.CountWaiting, s.now())
	if err != nil {
		return id, err
	}
	if n >= MaxWaiting {
		return id, &functions.Error{
			Kind: functions.KindConflict, Code: "too_many_approvals", Message: fmt.Sprintf("%d approvals wait already, and no more are kept", n),
			Hint: "have some of them decided: ostraka approval list",
		}
	}
	kept := detail{}
	kept.keepFacts(j.op.Facts)
	facts, err := json.Marshal(kept.Facts)
	if err != nil {
		return id, fmt.Errorf("encoding the facts of %s: %w", j.op.Kind, err)
	}
	id = base.NewID()
	_, err = store.Exec(ctx, tx, sql.AddApproval, id, j.op.Kind, j.op.Subject, digest, facts, shownAsked(j.op), rule.Layer, rule.Name, rule.Version, j.decision.Risk, rule.Reason, job, by, s.now().Add(ApprovalLife))
	return id, err
}

// shownAsked is what people see of what was asked for beyond the facts; nil: nothing.
func shownAsked(op guardian.Operation) []byte {
	if len(op.Asked) == 0 || len(op.Asked) > MaxShownAsked {
		return nil
	}
	return op.Asked
}

// requesterOf is the person behind a request. Requests of agents and steps are part of a job: the person is its submitter, or that of the
// first job of its chain.
func requesterOf(ctx context.Context, tx *store.Tx, j judged, job *uuid.UUID) (string, error) {
	if kind := j.op.Actor.Kind; job == nil || kind != "agent" && kind != "step" {
		return j.actor(), nil
	}
	who, found, err := store.Value[string](ctx, tx, sql.SubmitterOfJob, *job)
	if err != nil || !found {
		return j.actor(), err
	}
	return who, nil
}

// AskFor keeps the approvals that a job waits for, in the transaction that makes the job, and says which is the first and until when. root is
// the first job of its chain; where the job begins one, by is who wants it.
func (s *Service) AskFor(ctx context.Context, tx *store.Tx, op guardian.Operation, d guardian.Decision, job, root uuid.UUID, by string) (id uuid.UUID, until time.Time, err error) {
	j := judged{op: op, decision: d}
	if j.project, err = projectOf(op); err != nil {
		return id, until, err
	}
	if job != root {
		if by, err = requesterOf(ctx, tx, j, &root); err != nil {
			return id, until, err
		}
	}
	ids, err := s.requestApprovals(ctx, tx, j, &job, by)
	var full *functions.Error
	if errors.As(err, &full) {
		return id, until, s.unasked(ctx, tx, j, full)
	}
	if err != nil {
		return id, until, err
	}
	return ids[0], s.now().Add(ApprovalLife), nil
}

// unasked is the error of a job that cannot wait, since too much waits already. Nothing of it is left but the record of the decision.
func (s *Service) unasked(ctx context.Context, tx *store.Tx, j judged, why *functions.Error) error {
	by, err := s.read(ctx, tx, j.project)
	if err != nil {
		return fmt.Errorf("reading the guardian's rules: %w", err)
	}
	j.versions = by.versions()
	return &base.Refused{Err: why, Record: func(ctx context.Context) error {
		return s.place(ctx, j.project, func(tx *store.Tx) error { return record(ctx, tx, j) })
	}}
}
