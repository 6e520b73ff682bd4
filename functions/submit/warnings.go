package submit

import (
	"context"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/fleet"
	"github.com/ostraka/ostraka/functions/tenant"
	"github.com/ostraka/ostraka/functions/verify"
	"github.com/ostraka/ostraka/runtime/bundle"
)

// WarnUncheckedQuorum is the code of a warning: strangers may work for the project, and nothing but their own agreement is asked of them.
const WarnUncheckedQuorum = "quorum_unchecked"

// warnings are what speaks against a job that is taken all the same.
func (s *Service) warnings(ctx context.Context, project uuid.UUID, p verify.Policy, volumes []bundle.Volume) ([]functions.Reason, error) {
	list, err := s.volumeWarnings(ctx, project, p, volumes)
	if err != nil {
		return nil, err
	}
	more, err := s.policyWarnings(ctx, project, p)
	return append(list, more...), err
}

// policyWarnings are what speaks against a policy.
func (s *Service) policyWarnings(ctx context.Context, project uuid.UUID, p verify.Policy) ([]functions.Reason, error) {
	if p.Quorum == 0 {
		return nil, nil
	}
	var open bool
	err := s.env.Control(ctx, func(tx pgx.Tx) error {
		row, err := tenant.GetProject(ctx, tx, project)
		open = row.AgentsOpen
		return err
	})
	if err != nil || !open {
		return nil, err
	}
	servers, err := fleet.ReadRecheckTrouble(ctx, s.env.Store.Pool)
	if err != nil || servers.Servers > 0 {
		return nil, base.Translate(err, uuid.Nil)
	}
	return []functions.Reason{{
		Code: WarnUncheckedQuorum, Text: "Every approved agent may work for the project, and no server executes shards: what " + agreeing(p.Quorum) + " say is the answer, and nothing else checks them.",
		Hint: "have the job verified by --target-error; or " + functions.StartRechecker + ", which checks one shard in a hundred of a quorum; or let only agents that you know work for the project: ostraka project set --agents listed",
	}}, nil
}

func agreeing(quorum int) string {
	return base.Plural(int64(quorum), "owner's agent", "owners' agents that agree")
}
