package dispatch

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/fleet"
	"github.com/ostraka/ostraka/functions/jobs"
	"github.com/ostraka/ostraka/functions/registry"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/functions/trust"
	"github.com/ostraka/ostraka/guardian"
	"github.com/ostraka/ostraka/runtime/bundle"
	"github.com/ostraka/ostraka/runtime/monitor/threshold"
)

var (
	// errNotDecided says that the operators' rules have changed since the lease was decided by them: it is decided again with the next poll.
	errNotDecided = errors.New("the guardian's rules have changed meanwhile")
	// errConditions says that the guardian allows the lease on conditions that it does not keep.
	errConditions = errors.New("the lease does not keep to the guardian's conditions")
)

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
// What they say of shards, limits and verification was seen to when the job was made, and none of it changes.
func (g leaseGate) keeps(from openJob, now time.Time) bool {
	return g.Conditions == nil || keeps(*g.Conditions, from) && len(g.Conditions.Broken(guardian.Planned{Now: now})) == 0
}

// onlyOwners are those whose agents the job may be lent to; nil: all.
func (g leaseGate) onlyOwners() []string {
	if g.Conditions == nil {
		return nil
	}
	return g.Conditions.Owners
}

func keeps(c guardian.Conditions, from openJob) bool {
	return (c.Owners == nil || from.lender.owner != "" && slices.Contains(c.Owners, from.lender.owner)) &&
		(c.Isolation == "" || bundle.Isolation(from.agent.Isolation).AtLeast(bundle.Isolation(c.Isolation)))
}

// passedOver says whether the agent is not lent anything of the job for a reason that is none to keep other jobs from it, nor anything that it
// should be told: a switch that was put on meanwhile, or a rule.
func passedOver(err error) bool {
	return errors.Is(err, fleet.ErrHeld) || errors.Is(err, errNotDecided) || errors.Is(err, errConditions) || base.RefusalOf(err) != nil
}

// noteUnrecorded says in the server's own log that a refusal is not in the project's.
func (s *Service) noteUnrecorded(err error, from openJob) {
	var unrecorded *base.Unrecorded
	if errors.As(err, &unrecorded) {
		s.env.Log.Warn("a job is not lent, and its log does not say so", "project", from.ProjectID, "job", from.JobID, "refused", unrecorded.Refused.Err.Message, "error", unrecorded.Failed)
	}
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
	planned := guardian.Planned{Limits: facts.Function.Limits, Shards: gate.Shards, Now: s.env.Now()}
	if broken := trust.Broken(j.Conditions, planned, gate.Policy); !keeps(j.Conditions, from) || len(broken) > 0 {
		return j, errConditions
	}
	return j, nil
}
