package trust

import (
	"context"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/registry"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/guardian"
)

// codeFacts are what is known of a version's code.
type codeFacts struct {
	Findings []registry.FoundCode
	Scored   bool
}

// askExecute asks the guardian whether the server may execute a batch, once and not for each shard, and whether it may open a sandbox for it.
func (s *Service) askExecute(ctx context.Context, tx *store.Tx, args functions.RecheckArgs, work recheckWork) error {
	known, _, err := store.One[codeFacts](ctx, tx, store.CodeFacts, work.function.FunctionID, work.function.Version, guardian.CodeModule)
	if err != nil {
		return err
	}
	level, job := string(s.rechecker.Describe().Level), guardian.Job{ID: work.job.String()}
	findings := registry.FindingFacts(known.Findings)
	intent := base.Intent{Step: functions.RecheckArgs{}.Kind(), Project: args.Project, Kind: guardian.JobRecheck, Subject: work.job.String()}
	intent.Facts = guardian.RecheckFacts{
		Function: work.function.Facts(), Job: job, Shards: int64(len(work.numbers)), Isolation: level, Findings: findings, Scored: known.Scored,
	}
	if err := s.env.Ask(ctx, tx, intent); err != nil {
		return err
	}
	intent.Kind, intent.Facts = guardian.SandboxOpen, guardian.SandboxFacts{
		Function: work.function.Facts(), Isolation: level, Network: work.function.Manifest.Network, Job: job, Shards: int64(len(work.numbers)),
		Findings: findings, Scored: known.Scored,
	}
	return s.env.Ask(ctx, tx, intent)
}
