package submit

import (
	"context"

	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/jobs"
	"github.com/ostraka/ostraka/functions/registry"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/functions/verify"
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
	known, _, err := store.One[codeFacts](ctx, tx, store.CodeFacts, p.function, p.version, guardian.CodeModule)
	if err != nil {
		return err
	}
	i.Subject, i.Facts = p.id.String(), p.facts(known)
	d, err := s.env.Decide(ctx, tx, i)
	if err != nil {
		return err
	}
	if !d.Conditions.Empty() {
		p.keepTo(d.Conditions)
	}
	if p.awaits, p.until = nil, nil; d.Verdict != guardian.Ask {
		return nil
	}
	op, err := i.Operation()
	if err != nil {
		return err
	}
	id, until, err := s.env.Guardian.AskFor(ctx, tx, op, d, p.id, p.root)
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

// keepTo makes the job as strict as the conditions want it.
func (p *plannedJob) keepTo(c guardian.Conditions) {
	p.conditions = &c
	p.policy = p.policy.Tighten(verify.Floor{Quorum: int(c.Quorum), TargetError: c.TargetError, RecheckAll: c.RecheckAll})
	if least := bundle.Isolation(c.Isolation); c.Isolation != "" && least.AtLeast(p.isolation) {
		p.isolation = least
	}
}
