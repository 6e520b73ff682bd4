package insight

import (
	"context"
	"slices"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/verify"
)

// Codes of the reasons for which the agents and servers at hand cannot bring a job to its end. They are known from the moment a job
// is submitted.
const (
	ReasonTooFewOwners  = "too_few_owners"
	ReasonRecheckNobody = "recheck_nobody"
)

// explainOwners says how many independent owners are missing, where agents and servers at hand cannot decide a job's shards.
func (s *Service) explainOwners(ctx context.Context, project uuid.UUID, job functions.Job, e *functions.Explanation) error {
	f, err := s.submit.Forecast(ctx, project, job.Policy, job.Shards.Total)
	if err != nil {
		return err
	}
	explainOwners(e, job.Policy, f)
	return nil
}

func explainOwners(e *functions.Explanation, p verify.Policy, f verify.Forecast) {
	said := func(codes ...string) bool {
		return slices.ContainsFunc(e.Reasons, func(r functions.Reason) bool { return slices.Contains(codes, r.Code) })
	}
	switch {
	case !f.Stuck:
	case f.Owners < f.OwnersNeeded && !said("no_agents", "too_few_agents"):
		e.Reasons = append(e.Reasons, functions.Reason{
			Code: ReasonTooFewOwners, Hint: tooFewOwnersHint(p),
			Text: "Results need agents of " + base.Plural(int64(f.OwnersNeeded), "owner", "independent owners") + ", and the project has " +
				base.Plural(int64(f.Owners), "owner", "owners") + " of agents: " + base.Plural(int64(f.OwnersNeeded-f.Owners), "more is missing", "more are missing") + ".",
		})
	case f.Owners >= f.OwnersNeeded && !said(ReasonRecheckNobody):
		e.Reasons = append(e.Reasons, functions.Reason{
			Code: ReasonRecheckNobody, Hint: functions.StartRechecker, Text: "The server is to execute every shard as well, and no server executes shards.",
		})
	}
}

func tooFewOwnersHint(p verify.Policy) string {
	hint := "have others join: ostraka enrolment-token create NAME --owner WHO makes a token for the machines of one owner"
	if p.Independent() {
		hint += "; or " + functions.StartRechecker + ", which needs no second owner"
	}
	return hint
}
