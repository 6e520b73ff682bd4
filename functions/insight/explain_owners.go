package insight

import (
	"context"
	"slices"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/functions/verify"
	"github.com/ostraka/ostraka/runtime/bundle"
)

// Codes of the reasons for which the agents and servers at hand cannot bring a job to its end. They are known from the moment a job
// is submitted.
const (
	ReasonTooFewOwners  = "too_few_owners"
	ReasonRecheckNobody = "recheck_nobody"
)

// explainOwners says how many independent owners are missing, where agents and servers at hand cannot decide a job's shards.
func (s *Service) explainOwners(ctx context.Context, project uuid.UUID, job functions.Job, e *functions.Explanation) error {
	var volumes []bundle.Volume
	err := s.env.Project(ctx, project, func(tx *store.Tx) (err error) {
		volumes, _, err = store.Value[[]bundle.Volume](ctx, tx, store.VolumesOfJob, job.ID)
		return err
	})
	if err != nil {
		return err
	}
	f, err := s.submit.Forecast(ctx, project, job.Policy, job.Shards.Total, volumes)
	if err != nil {
		return err
	}
	explainOwners(e, job.Policy, f, len(volumes) > 0)
	return nil
}

func explainOwners(e *functions.Explanation, p verify.Policy, f verify.Forecast, volumes bool) {
	said := func(codes ...string) bool {
		return slices.ContainsFunc(e.Reasons, func(r functions.Reason) bool { return slices.Contains(codes, r.Code) })
	}
	switch {
	case !f.Stuck:
	case f.Owners < f.OwnersNeeded && !said("no_agents", "too_few_agents", ReasonNoVolume):
		e.Reasons = append(e.Reasons, functions.Reason{
			Code: ReasonTooFewOwners, Hint: tooFewOwnersHint(p, volumes),
			Text: "Results need agents of " + base.Plural(int64(f.OwnersNeeded), "owner", "independent owners") + ", and the project has " +
				base.Plural(int64(f.Owners), "owner", "owners") + " of agents: " + base.Plural(int64(f.OwnersNeeded-f.Owners), "more is missing", "more are missing") + ".",
		})
	case f.Owners >= f.OwnersNeeded && !said(ReasonRecheckNobody) && volumes:
		e.Reasons = append(e.Reasons, functions.Reason{
			Code: ReasonRecheckNobody, Text: "The server is to execute every shard as well, and no server that executes shards has the volumes that the function wants.",
			Hint: "give a server the folders: " + recheckVolumes,
		})
	case f.Owners >= f.OwnersNeeded && !said(ReasonRecheckNobody):
		e.Reasons = append(e.Reasons, functions.Reason{
			Code: ReasonRecheckNobody, Hint: functions.StartRechecker, Text: "The server is to execute every shard as well, and no server executes shards.",
		})
	}
}

// recheckVolumes is how a server comes to execute shards that read volumes: one that executes others may be there.
const recheckVolumes = "ostraka server --recheck-sandbox linux --recheck-volume NAME=FOLDER"

func tooFewOwnersHint(p verify.Policy, volumes bool) string {
	hint := "have others join: ostraka enrolment-token create NAME --owner WHO makes a token for the machines of one owner"
	if p.Independent() && volumes {
		return hint + "; or give a server the folders that the function wants, which needs no second owner: " + recheckVolumes
	}
	if p.Independent() {
		hint += "; or " + functions.StartRechecker + ", which needs no second owner"
	}
	return hint
}
