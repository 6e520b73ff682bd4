package fleet

import (
	"context"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/fleet/sql"
	"github.com/ostraka/ostraka/functions/stepargs"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/functions/tenant"
	"github.com/ostraka/ostraka/guardian"
)

// AdmitAgent lets an agent work for a project. One that waits for approval is approved by it, as by an enrolment token. owner, where
// given, is whose machine it is for this project. Admitting again is harmless; one that the project has caught,
// or whose owner it has, is not helped by it, which it is told.
func (s *Service) AdmitAgent(ctx context.Context, by functions.Principal, project, id uuid.UUID, owner, reason string) (ProjectAgent, error) {
	if err := functions.CheckOwner(owner); err != nil {
		return ProjectAgent{}, err
	}
	if err := s.refuseCaught(ctx, project, id, owner); err != nil {
		return ProjectAgent{}, err
	}
	return s.admit(ctx, by, project, id, owner, reason, nil)
}

// AdmitAgentAsSeen admits an agent about which nobody has decided since seen (see Seen), but in the same way and for the same reason.
func (s *Service) AdmitAgentAsSeen(ctx context.Context, by functions.Principal, project, id uuid.UUID, seen Seen, reason string) (ProjectAgent, error) {
	if err := s.refuseCaught(ctx, project, id, ""); err != nil {
		return ProjectAgent{}, err
	}
	return s.admit(ctx, by, project, id, "", reason, &seen)
}

// RestoreAgentAsSeen takes back that an agent was excluded, about which nobody has decided since seen. One that the project has caught, or whose
// owner it has, is what it was before it was excluded: caught, and lent nothing.
func (s *Service) RestoreAgentAsSeen(ctx context.Context, by functions.Principal, project, id uuid.UUID, seen Seen, reason string) (ProjectAgent, error) {
	return s.admit(ctx, by, project, id, "", reason, &seen)
}

func (s *Service) admit(ctx context.Context, by functions.Principal, project, id uuid.UUID, owner, reason string, seen *Seen) (ProjectAgent, error) {
	intent := agentIntent(by, project, guardian.AgentAdmit, id, "admit", reason)
	intent.Asked = struct {
		Owner string `json:"owner"`
	}{owner}
	return s.decideMember(ctx, intent, project, id, "project.admit", reason, func(tx pgx.Tx) error {
		if err := checkMemberSeen(ctx, tx, id, project, memberDecision{Reason: reason}, seen); err != nil {
			return err
		}
		if _, err := store.Exec(ctx, tx, sql.AdmitAgent, id, project, owner, reason); err != nil {
			return err
		}
		_, err := store.Exec(ctx, tx, sql.ApproveByToken, id)
		return err
	})
}

// ExcludeAgent ends an agent's work for a project, whose leases of it are taken back. What it has posted stays and counts as before.
func (s *Service) ExcludeAgent(ctx context.Context, by functions.Principal, project, id uuid.UUID, reason string) (ProjectAgent, error) {
	return s.exclude(ctx, by, project, id, reason, nil)
}

// ExcludeAgentAsSeen excludes an agent about which nobody has decided since seen (see Seen), but in the same way and for the same reason.
func (s *Service) ExcludeAgentAsSeen(ctx context.Context, by functions.Principal, project, id uuid.UUID, seen Seen, reason string) (ProjectAgent, error) {
	return s.exclude(ctx, by, project, id, reason, &seen)
}

func (s *Service) exclude(ctx context.Context, by functions.Principal, project, id uuid.UUID, reason string, seen *Seen) (ProjectAgent, error) {
	intent := agentIntent(by, project, guardian.AgentExclude, id, "exclude", reason)
	return s.decideMember(ctx, intent, project, id, "project.exclude", reason, func(tx pgx.Tx) error {
		if err := checkMemberSeen(ctx, tx, id, project, memberDecision{Excluded: true, Reason: reason}, seen); err != nil {
			return err
		}
		if _, err := store.Exec(ctx, tx, sql.ExcludeAgent, id, project, reason); err != nil {
			return err
		}
		return s.env.Queue.Enqueue(ctx, tx, stepargs.RevokeArgs{Project: project, Agent: id})
	})
}

func (s *Service) decideMember(ctx context.Context, i base.Intent, project, id uuid.UUID, action, reason string, decide func(pgx.Tx) error) (ProjectAgent, error) {
	if err := checkReason(reason); err != nil {
		return ProjectAgent{}, err
	}
	err := s.env.Control(ctx, func(tx pgx.Tx) error {
		if _, err := tenant.GetProject(ctx, tx, project); err != nil {
			return err
		}
		// The answer must not reveal that an agent exists which has nothing to do with the project: its ID is no secret, but
		// those who know it were told by somebody who may.
		state, found, err := store.Value[AgentState](ctx, tx, sql.LockAgent, id)
		if err != nil || !found {
			return base.OrNotFound(err, "agent", id)
		}
		if state == AgentRevoked {
			return ErrAgentState.With("the agent is revoked, and that is final: its machine may enrol with a new key")
		}
		if err := s.env.AskControl(ctx, tx, i); err != nil {
			return err
		}
		if err := decide(tx); err != nil {
			return err
		}
		if err := base.AuditServer(ctx, tx, i.By.Actor(), action, id.String(), map[string]any{"project": project, "reason": reason}); err != nil {
			return err
		}
		return base.Notify(ctx, tx, base.ChannelAgents, id)
	})
	if err != nil {
		return ProjectAgent{}, err
	}
	return s.GetProjectAgent(ctx, project, id)
}

// AssignOwner says whose machine an agent is, for all projects. Replicas of a shard can be kept apart by it, so that nothing which the
// agent itself says may decide it.
func (s *Service) AssignOwner(ctx context.Context, by functions.Principal, id uuid.UUID, owner string) (a Agent, err error) {
	if err := functions.CheckLabel("owner", owner); err != nil {
		return a, err
	}
	err = s.env.DoControl(ctx, agentIntent(by, uuid.Nil, guardian.AgentAssign, id, "assign to "+owner, ""), func(tx pgx.Tx) error {
		n, err := store.Exec(ctx, tx, sql.SetAgentOwner, id, owner)
		if err != nil || n == 0 {
			return base.OrNotFound(err, "agent", id)
		}
		if err := base.AuditServer(ctx, tx, by.Actor(), "agent.owner", id.String(), map[string]any{"owner": owner}); err != nil {
			return err
		}
		a, err = getAgent(ctx, tx, id)
		return err
	})
	return a, err
}
