package submit

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/jobs"
	"github.com/ostraka/ostraka/functions/registry"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/functions/trust"
	"github.com/ostraka/ostraka/guardian"
	"github.com/ostraka/ostraka/runtime/bundle"
)

// codeFacts are what is known of a version's code.
type codeFacts struct {
	Findings []registry.FoundCode
	Scored   bool
}

// decide asks the guardian about a job, in the transaction that makes it. The job is made as strict as the conditions want it; one that a rule
// asks about is made, and waits.
func (s *Service) decide(ctx context.Context, tx *store.Tx, i base.Intent, p *plannedJob) error {
	if err := registry.HoldRuntime(ctx, tx, &p.manifest); err != nil { // first, as DeleteRuntime does; it may be gone since the job was planned
		return err
	}
	known, _, err := store.One[codeFacts](ctx, tx, store.CodeFacts, p.function, p.version, guardian.CodeModule)
	if err != nil {
		return err
	}
	i.Subject, i.Facts = p.id.String(), p.facts(known)
	d, err := s.env.Decide(ctx, tx, i)
	if err != nil {
		return err
	}
	if err := p.keepTo(guardian.Merge(p.inherited(), d.Conditions), s.env.Now()); err != nil {
		return err
	}
	if p.awaits, p.until = nil, nil; d.Verdict != guardian.Ask {
		return nil
	}
	op, err := i.Operation()
	if err != nil {
		return err
	}
	id, until, err := s.env.Guardian.AskFor(ctx, tx, op, d, p.id, p.root, p.createdBy)
	p.awaits, p.until = &id, &until
	return err
}

// facts are what rules can know of the job.
func (p *plannedJob) facts(known codeFacts) guardian.JobFacts {
	f := guardian.JobFacts{
		Function: p.row.Facts(), Findings: registry.FindingFacts(known.Findings), Scored: known.Scored,
		Job: guardian.Job{
			ID: p.id.String(), Shards: p.shards, Partition: string(p.partition.Kind), Priority: int64(p.priority), Depth: int64(p.depth),
			Verification: jobs.VerificationFacts(p.policy),
		},
	}
	if p.rerunOf != nil {
		f.Job.Rerun = p.rerunOf.String()
	}
	if p.aggregator != nil {
		f.Job.Aggregator = p.aggregator.Module
	}
	return f
}

// inherited are the conditions of the job that this one follows: what was allowed on conditions makes nothing that is free of them.
func (p *plannedJob) inherited() guardian.Conditions {
	if p.follows == nil || p.follows.Conditions == nil {
		return guardian.Conditions{}
	}
	return *p.follows.Conditions
}

// keepTo makes the job as strict as the conditions want it, and refuses one that cannot be made so.
func (p *plannedJob) keepTo(c guardian.Conditions, now time.Time) error {
	if c.Empty() {
		return nil
	}
	if broken := c.Broken(guardian.Planned{Limits: p.row.Facts().Limits, Shards: p.shards, Now: now}); len(broken) > 0 {
		return conditionsBroken(p, broken)
	}
	p.conditions = &c
	p.policy = p.policy.Tighten(trust.FloorOf(c))
	if least := bundle.Isolation(c.Isolation); c.Isolation != "" && least.AtLeast(p.isolation) {
		p.isolation = least
	}
	return nil
}

// conditionsBroken says which conditions of the job before it a job does not keep to. Those of its own were decided about by the guardian.
func conditionsBroken(p *plannedJob, broken []string) error {
	whose := "the guardian"
	if p.follows != nil {
		whose = "job " + p.follows.ID.String() + ", which it follows"
	}
	return &functions.Error{
		Kind: functions.KindForbidden, Code: "denied_by_guardian", Message: fmt.Sprintf("the job does not keep to the conditions of %s: %s", whose, strings.Join(broken, "; ")),
		Hint: "ask for less: ostraka job get shows the conditions of a job, which hold for all that follows from it",
	}
}
