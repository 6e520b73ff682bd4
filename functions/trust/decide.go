package trust

import (
	"context"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/jobs"
	"github.com/ostraka/ostraka/functions/registry"
	"github.com/ostraka/ostraka/functions/stepargs"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/functions/verify"
	"github.com/ostraka/ostraka/guardian"
)

// codeFacts are what is known of a version's code.
type codeFacts struct {
	Findings []registry.FoundCode
	Scored   bool
}

// FloorOf is how strictly conditions want results verified.
func FloorOf(c guardian.Conditions) verify.Floor {
	return verify.Floor{Quorum: int(c.Quorum), TargetError: c.TargetError, RecheckAll: c.RecheckAll}
}

// Broken says which conditions a job does not keep to that the guardian sets when something is done with it, each in a sentence. Whether its
// results are verified strictly enough is for package verify to say, which knows what is stricter than what.
func Broken(c guardian.Conditions, planned guardian.Planned, p verify.Policy) []string {
	list := c.Broken(planned)
	if p.Tighten(FloorOf(c)) != p {
		list = append(list, "its results are verified less strictly than is asked for")
	}
	return list
}

// facts are what rules can know of the job.
func (j recheckJob) facts(id uuid.UUID) guardian.Job {
	return guardian.Job{
		ID: id.String(), Shards: j.Shards, Partition: string(j.Partition.Kind), Priority: int64(j.Priority), Depth: int64(j.Depth),
		Verification: jobs.VerificationFacts(j.Policy),
	}
}

// askExecute asks the guardian whether the server may execute a batch, once and not for each shard, and whether it may open a sandbox for it. A
// batch that does not keep to the conditions, those of its job among them, is held.
func (s *Service) askExecute(ctx context.Context, tx *store.Tx, args stepargs.RecheckArgs, work recheckWork) error {
	known, _, err := store.One[codeFacts](ctx, tx, store.CodeFacts, work.function.FunctionID, work.function.Version, guardian.CodeModule)
	if err != nil {
		return err
	}
	level, job := string(s.madeIn(work.function.Manifest).Level), work.facts
	findings := registry.FindingFacts(known.Findings)
	intent := base.Intent{Step: stepargs.RecheckArgs{}.Kind(), Project: args.Project, Kind: guardian.JobRecheck, Subject: work.job.String()}
	intent.Facts = guardian.RecheckFacts{
		Function: work.function.Facts(), Job: job, Shards: int64(len(work.numbers)), Isolation: level, Findings: findings, Scored: known.Scored,
	}
	execute, err := s.env.Decide(ctx, tx, intent)
	if err != nil {
		return err
	}
	intent.Kind, intent.Facts = guardian.SandboxOpen, guardian.SandboxFacts{
		Function: work.function.Facts(), Isolation: level, Network: work.function.Manifest.Network, Job: job, Shards: int64(len(work.numbers)),
		Findings: findings, Scored: known.Scored,
	}
	open, err := s.env.Decide(ctx, tx, intent)
	if err != nil {
		return err
	}
	return s.holdUnless(guardian.Merge(work.conditions, guardian.Merge(execute.Conditions, open.Conditions)), work)
}
