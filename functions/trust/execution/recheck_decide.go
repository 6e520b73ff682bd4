package execution

import (
	"context"

	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/registry"
	"github.com/ostraka/ostraka/functions/stepargs"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/functions/trust"
	"github.com/ostraka/ostraka/guardian"
)

// codeFacts are what is known of a version's code.
type codeFacts struct {
	Findings []registry.FoundCode
	Scored   bool
}

// askExecute asks the guardian whether the server may execute a batch, once and not for each shard, and whether it may open a sandbox for it. A
// batch that does not keep to the conditions, those of its job among them, is held.
func (s *Service) askExecute(ctx context.Context, tx *store.Tx, args stepargs.RecheckArgs, work trust.RecheckWork) error {
	known, _, err := store.One[codeFacts](ctx, tx, store.CodeFacts, work.Function.FunctionID, work.Function.Version, guardian.CodeModule)
	if err != nil {
		return err
	}
	level, job := string(s.trust.MadeIn(work.Function.Manifest).Level), work.Facts
	findings := registry.FindingFacts(known.Findings)
	intent := base.Intent{Step: stepargs.RecheckArgs{}.Kind(), Project: args.Project, Kind: guardian.JobRecheck, Subject: work.Job.String()}
	intent.Facts = guardian.RecheckFacts{
		Function: work.Function.Facts(), Job: job, Shards: int64(len(work.Numbers)), Isolation: level, Findings: findings, Scored: known.Scored,
	}
	execute, err := s.env.Decide(ctx, tx, intent)
	if err != nil {
		return err
	}
	intent.Kind, intent.Facts = guardian.SandboxOpen, guardian.SandboxFacts{
		Function: work.Function.Facts(), Isolation: level, Network: work.Function.Manifest.Network, Job: job, Shards: int64(len(work.Numbers)),
		Findings: findings, Scored: known.Scored,
	}
	open, err := s.env.Decide(ctx, tx, intent)
	if err != nil {
		return err
	}
	return s.holdUnless(guardian.Merge(work.Conditions, guardian.Merge(execute.Conditions, open.Conditions)), work)
}
