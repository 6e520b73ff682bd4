package functions

import (
	"context"
	"slices"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions/verify"
)

// Codes of the reasons for which the agents and servers at hand cannot bring a job to its end. They are known from the moment a job
// is submitted.
const (
	ReasonTooFewOwners  = "too_few_owners"
	ReasonRecheckNobody = "recheck_nobody"
)

// explainOwners says how many independent owners are missing, where agents and servers at hand cannot decide a job's shards.
func (s *Service) explainOwners(ctx context.Context, project uuid.UUID, job Job, e *Explanation) error {
	f, err := s.forecast(ctx, project, job.Policy, job.Shards.Total)
	if err != nil {
		return err
	}
	explainOwners(e, job.Policy, f)
	return nil
}

func explainOwners(e *Explanation, p verify.Policy, f verify.Forecast) {
	said := func(codes ...string) bool {
		return slices.ContainsFunc(e.Reasons, func(r Reason) bool { return slices.Contains(codes, r.Code) })
	}
	switch {
	case !f.Stuck:
	case f.Owners < f.OwnersNeeded && !said("no_agents", "too_few_agents"):
		e.Reasons = append(e.Reasons, Reason{
			Code: ReasonTooFewOwners, Hint: tooFewOwnersHint(p),
			Text: "Results need agents of " + many(int64(f.OwnersNeeded), "owner", "independent owners") + ", and the project has " +
				many(int64(f.Owners), "owner", "owners") + " of agents: " + many(int64(f.OwnersNeeded-f.Owners), "more is missing", "more are missing") + ".",
		})
	case f.Owners >= f.OwnersNeeded && !said(ReasonRecheckNobody):
		e.Reasons = append(e.Reasons, Reason{
			Code: ReasonRecheckNobody, Hint: startRechecker, Text: "The server is to execute every shard as well, and no server executes shards.",
		})
	}
}

func tooFewOwnersHint(p verify.Policy) string {
	hint := "have others join: ostraka enrolment-token create NAME --owner WHO makes a token for the machines of one owner"
	if p.Independent() {
		hint += "; or " + startRechecker + ", which needs no second owner"
	}
	return hint
}
