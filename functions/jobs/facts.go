package jobs

import (
	"context"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/registry"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/functions/verify"
	"github.com/ostraka/ostraka/guardian"
)

// codeFacts are what is known of a version's code.
type codeFacts struct {
	Findings []registry.FoundCode
	Scored   bool
}

// Facts are what rules of the guardian can know of a job that there is.
func Facts(ctx context.Context, tx *store.Tx, id uuid.UUID) (f guardian.JobFacts, err error) {
	row, found, err := store.One[Row](ctx, tx, store.GetJob, id)
	if err != nil || !found {
		return f, base.OrNotFound(err, "job", id)
	}
	function, _, err := store.One[registry.FunctionRow](ctx, tx, store.FunctionOfJob, id)
	if err != nil {
		return f, err
	}
	code, _, err := store.One[codeFacts](ctx, tx, store.CodeFacts, function.FunctionID, function.Version, guardian.CodeModule)
	if err != nil {
		return f, err
	}
	f = guardian.JobFacts{
		Function: function.Facts(), Findings: registry.FindingFacts(code.Findings), Scored: code.Scored,
		Job: guardian.Job{
			ID: id.String(), Shards: row.ShardsTotal, Partition: string(row.Partition.Kind), Priority: int64(row.Priority), Depth: int64(row.Depth),
			Verification: VerificationFacts(row.Policy),
		},
	}
	if row.RerunOf != nil {
		f.Job.Rerun = row.RerunOf.String()
	}
	if row.Aggregator != nil {
		f.Job.Aggregator = row.Aggregator.Module
	}
	return f, nil
}

// VerificationFacts are how results are checked, as rules of the guardian see it.
func VerificationFacts(p verify.Policy) guardian.Verification {
	return guardian.Verification{
		Quorum: int64(p.Quorum), TargetError: p.TargetError, AnswerError: p.AnswerError, RecheckAll: p.Recheck != "", None: p.None,
	}
}
