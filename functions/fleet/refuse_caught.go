package fleet

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/fleet/sql"
	"github.com/ostraka/ostraka/functions/owner"
	"github.com/ostraka/ostraka/functions/store"
)

// ErrCaught says that an agent was caught by a project, which resuming or approving it does not change.
var ErrCaught = &functions.Error{
	Kind: functions.KindConflict, Code: "agent_caught", Message: "the agent was caught, and is lent nothing",
	Hint: "an owner of the project can take that back: ostraka agent pardon AGENT --reason WHY",
}

// refuseCaught refuses to let an agent go on that a project has caught, or whose owner it has. owner, where given, is whose machine the
// agent is to be.
func (s *Service) refuseCaught(ctx context.Context, project, id uuid.UUID, owner string) error {
	type row struct {
		CaughtAt time.Time
		Reason   string
	}
	return s.env.Project(ctx, project, func(tx *store.Tx) error {
		r, found, err := store.One[row](ctx, tx, sql.CaughtAt, id)
		if err != nil {
			return err
		}
		if found {
			return ErrCaught.With("project %s has caught the agent (%s): it is lent nothing there, and this changes nothing about it", project, r.Reason)
		}
		server, err := tx.AsServer(ctx)
		if err != nil {
			return err
		}
		of, _, err := store.Value[string](ctx, server, sql.OwnerOnceAdmitted, id, project, owner)
		if err != nil {
			return err
		}
		if err := tx.AsProject(ctx); err != nil {
			return err
		}
		return refuseOwner(ctx, tx, project, of)
	})
}

// refuseOwner refuses an agent whose owner is caught, and names the agents: one of them must be pardoned.
func refuseOwner(ctx context.Context, tx *store.Tx, project uuid.UUID, of string) error {
	known, err := owner.ReadKin(ctx, tx, of)
	why, caught := known[of].WhyCaught()
	if err != nil || !caught {
		return err
	}
	agents, err := store.Values[uuid.UUID](ctx, tx, sql.CaughtOfOwner, of, namedCaught)
	if err != nil {
		return err
	}
	names := make([]string, len(agents))
	for i, a := range agents {
		names[i] = a.String()
	}
	return ErrOwnerCaught.With("project %s has caught the agent's owner %s (%s: %s): none of its agents is lent anything there, and this changes nothing about it",
		project, of, why, strings.Join(names, ", "))
}

// refuseNothing refuses to approve or resume an agent where it would change nothing: one that is active already, and idle since a project
// has caught it or its owner; and any other that all projects have caught which it may work for.
func (s *Service) refuseNothing(ctx context.Context, id uuid.UUID, action AgentAction) error {
	if action != ApproveAgent && action != ResumeAgent {
		return nil
	}
	var projects []uuid.UUID
	var state AgentState
	err := s.env.Control(ctx, func(tx pgx.Tx) error {
		a, err := getAgent(ctx, tx, id)
		if state = a.State; err != nil || state == AgentRevoked {
			return err
		}
		projects, err = store.Values[uuid.UUID](ctx, tx, sql.AgentProjects, id)
		return err
	})
	if err != nil {
		return err
	}
	var refusal error
	for _, project := range projects {
		err := s.refuseCaught(ctx, project, id, "")
		switch {
		case err != nil && !errors.Is(err, ErrCaught) && !errors.Is(err, ErrOwnerCaught):
			return fmt.Errorf("looking whether the agent was caught: %w", err)
		case err != nil && state == AgentActive:
			return err
		case err == nil && state != AgentActive:
			return nil
		case err != nil:
			refusal = err
		}
	}
	return refusal
}
