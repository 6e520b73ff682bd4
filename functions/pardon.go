package functions

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/ostraka/ostraka/functions/store"
)

// ErrCaught says that an agent was caught by a project, which resuming or approving it does not change.
var ErrCaught = &Error{
	Kind: KindConflict, Code: "agent_caught", Message: "the agent was caught, and is lent nothing",
	Hint: "an owner of the project can take that back: ostraka agent pardon AGENT --reason WHY",
}

// PardonAgent takes back what a project holds against an agent: it is lent work again, and is on probation. What was taken back from it
// stays so. Pardoning again is harmless.
func (s *Service) PardonAgent(ctx context.Context, by Principal, project, id uuid.UUID, reason string) (ProjectAgent, error) {
	if err := checkResolutionReason(reason); err != nil {
		return ProjectAgent{}, err
	}
	if a, err := s.GetProjectAgent(ctx, project, id); err != nil {
		return a, err
	}
	err := s.project(ctx, project, func(tx *store.Tx) error { return pardon(ctx, tx, project, by, id, uuid.Nil, reason) })
	if err != nil {
		return ProjectAgent{}, err
	}
	return s.GetProjectAgent(ctx, project, id)
}

// pardon writes it. The agent's trust comes before flags in the order of locks; flag is the one that is decided about.
func pardon(ctx context.Context, tx *store.Tx, project uuid.UUID, by Principal, id, flag uuid.UUID, reason string) error {
	if _, err := store.Values[uuid.UUID](ctx, tx, store.LockTrust, []uuid.UUID{id}); err != nil {
		return err
	}
	if _, err := store.Exec(ctx, tx, store.PardonAlike, id); err != nil {
		return err
	}
	if _, err := store.Exec(ctx, tx, store.ForgetClaims, id); err != nil {
		return err
	}
	if _, err := store.Exec(ctx, tx, store.PardonAgent, id); err != nil {
		return err
	}
	if _, err := store.Exec(ctx, tx, store.DismissCaughtFlags, id, "pardoned: "+reason, by.Actor(), flag); err != nil {
		return err
	}
	if err := audit(ctx, tx, by.Actor(), "agent.pardon", id.String(), map[string]any{"reason": reason}); err != nil {
		return err
	}
	return notify(ctx, tx, channelWork, project)
}

// refuseCaught refuses to let an agent go on that a project has caught.
func (s *Service) refuseCaught(ctx context.Context, project, id uuid.UUID) error {
	type row struct {
		CaughtAt time.Time
		Reason   string
	}
	return s.project(ctx, project, func(tx *store.Tx) error {
		r, found, err := store.One[row](ctx, tx, store.CaughtAt, id)
		if err != nil || !found {
			return err
		}
		return ErrCaught.with("project %s has caught the agent (%s): it is lent nothing there, and this changes nothing about it", project, r.Reason)
	})
}

// refuseNothing refuses to approve or resume an agent that is active already, and idle since a project has caught it.
func (s *Service) refuseNothing(ctx context.Context, id uuid.UUID, action AgentAction) error {
	if action != ApproveAgent && action != ResumeAgent {
		return nil
	}
	var projects []uuid.UUID
	err := s.control(ctx, func(tx pgx.Tx) error {
		a, err := getAgent(ctx, tx, id)
		if err != nil || a.State != AgentActive {
			return err
		}
		projects, err = store.Values[uuid.UUID](ctx, tx, store.AgentProjects, id)
		return err
	})
	if err != nil {
		return err
	}
	for _, project := range projects {
		if err := s.refuseCaught(ctx, project, id); err != nil {
			return fmt.Errorf("looking whether the agent was caught: %w", err)
		}
	}
	return nil
}
