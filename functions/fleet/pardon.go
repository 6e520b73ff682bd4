package fleet

import (
	"context"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/fleet/sql"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/guardian"
)

// PardonAgent takes back what a project holds against an agent: it gets leases again, and is on probation. What was taken back from it
// stays so. Pardoning again is harmless.
func (s *Service) PardonAgent(ctx context.Context, by functions.Principal, project, id uuid.UUID, reason string) (ProjectAgent, error) {
	if err := functions.CheckResolutionReason(reason); err != nil {
		return ProjectAgent{}, err
	}
	if a, err := s.GetProjectAgent(ctx, project, id); err != nil {
		return a, err
	}
	err := s.env.Do(ctx, agentIntent(by, project, guardian.AgentPardon, id, "pardon", reason), func(tx *store.Tx) error { return Pardon(ctx, tx, project, by, id, DecidedFlag{}, reason) })
	if err != nil {
		return ProjectAgent{}, err
	}
	return s.GetProjectAgent(ctx, project, id)
}

// DecidedFlag is the flag that a pardon is the decision about, if any.
type DecidedFlag struct {
	ID  uuid.UUID
	Job *uuid.UUID // whose flag it is
}

// Pardon writes it. In the order of locks the agent's trust comes first, then the job of the flag that is decided about, then flags.
func Pardon(ctx context.Context, tx *store.Tx, project uuid.UUID, by functions.Principal, id uuid.UUID, flag DecidedFlag, reason string) error {
	if _, err := store.Values[uuid.UUID](ctx, tx, store.LockTrust, []uuid.UUID{id}); err != nil {
		return err
	}
	if _, err := store.Exec(ctx, tx, sql.PardonAlike, id); err != nil {
		return err
	}
	if _, err := store.Exec(ctx, tx, sql.ForgetClaims, id); err != nil {
		return err
	}
	if _, err := store.Exec(ctx, tx, sql.PardonAgent, id); err != nil {
		return err
	}
	if flag.Job != nil {
		if _, _, err := store.Value[functions.JobState](ctx, tx, store.LockJob, *flag.Job); err != nil {
			return err
		}
	}
	if _, err := store.Exec(ctx, tx, store.DismissCaughtFlags, id, "pardoned: "+reason, by.Actor(), flag.ID); err != nil {
		return err
	}
	if err := base.Audit(ctx, tx, by.Actor(), "agent.pardon", id.String(), map[string]any{"reason": reason}); err != nil {
		return err
	}
	return base.Notify(ctx, tx, base.ChannelWork, project)
}

// ErrOwnerCaught says that the owner of an agent was caught by a project with other agents, which admitting one more does not change.
var ErrOwnerCaught = &functions.Error{
	Kind: functions.KindConflict, Code: "owner_caught", Message: "the agent's owner was caught, and none of its agents is lent anything",
	Hint: "an owner of the project can take that back, by pardoning one of the owner's caught agents: ostraka agent pardon AGENT --reason WHY",
}

// namedCaught is how many of an owner's caught agents an error names.
const namedCaught = 4
