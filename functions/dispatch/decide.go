package dispatch

import (
	"context"
	"errors"
	"slices"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/jobs"
	"github.com/ostraka/ostraka/functions/registry"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/guardian"
	"github.com/ostraka/ostraka/runtime/bundle"
	"github.com/ostraka/ostraka/runtime/monitor/threshold"
)

// errNotDecided says that the operators' rules have changed since the lease was decided by them: it is decided anew with the next poll.
var errNotDecided = errors.New("the guardian's rules have changed meanwhile")

// indexedLease is what the server knows when a lease is made.
type indexedLease struct {
	Monitor *threshold.Rules
	Rules   int64 // the version of the operators' rules of the guardian
}

// facts are what rules of the guardian can know of the agent.
func (c candidate) facts(id uuid.UUID) guardian.Agent {
	return guardian.Agent{ID: id.String(), Name: c.Name, Owner: c.Owner, State: string(c.State), Isolation: string(c.Isolation), Platform: c.Platform.Machine().Class()}
}

// keeps says whether the agent is one of those that the job may be lent to, by the conditions with which the guardian has allowed it.
func (g leaseGate) keeps(from openJob) bool { return g.Conditions == nil || keeps(*g.Conditions, from) }

func keeps(c guardian.Conditions, from openJob) bool {
	return (c.Owners == nil || from.lender.owner != "" && slices.Contains(c.Owners, from.lender.owner)) &&
		(c.Isolation == "" || bundle.Isolation(from.agent.Isolation).AtLeast(bundle.Isolation(c.Isolation)))
}

// refusedByGuardian says whether the agent is not lent anything of the job, which is nothing that it should be told.
func refusedByGuardian(err error) bool {
	var refused *base.Refused
	return errors.As(err, &refused)
}

// decide asks the guardian about a lease, once and not for each shard. The record is written with the lease.
func (s *Service) decide(ctx context.Context, tx *store.Tx, from openJob, gate leaseGate, lease *functions.Lease) (base.Judgement, error) {
	function := registry.FunctionRow{Name: gate.FunctionName, Version: gate.Version, Digest: gate.Digest, Size: gate.Size, Manifest: gate.Manifest, SignedBy: gate.SignedBy}
	facts := guardian.DispatchFacts{
		Function: function.Facts(), Agent: from.agent, Shards: int64(len(lease.Shards)), Findings: registry.FindingFacts(gate.Findings), Scored: gate.Scored,
		Job: guardian.Job{
			ID: lease.Job.String(), Shards: gate.Shards, Partition: string(gate.Partition.Kind), Priority: int64(gate.Priority), Depth: int64(gate.Depth),
			Verification: jobs.VerificationFacts(gate.Policy),
		},
	}
	op := guardian.Operation{
		Kind: guardian.JobDispatch, Project: from.ProjectID.String(), Actor: guardian.Actor{Kind: "agent", ID: from.agent.ID, Role: string(functions.RoleAgent)},
		Subject: lease.Job.String(), Facts: facts,
	}
	j, err := s.env.Guardian.Judge(ctx, tx, base.RuleVersions{Operator: from.rules, Project: gate.Rules}, op)
	if err != nil {
		return j, err
	}
	if !keeps(j.Conditions, from) {
		return j, errNotDecided // nothing is lent on these conditions
	}
	return j, nil
}
