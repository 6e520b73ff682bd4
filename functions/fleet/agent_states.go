package fleet

import (
	"context"
	"fmt"
	"slices"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/fleet/sql"
	"github.com/ostraka/ostraka/functions/stepargs"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/guardian"
)

// AgentAction is what an operator decides about an agent.
type AgentAction string

// The actions.
const (
	ApproveAgent    AgentAction = "approve"    // a pending agent may work
	DrainAgent      AgentAction = "drain"      // it finishes what it has and gets nothing more
	ResumeAgent     AgentAction = "resume"     // one that was drained or quarantined may work again
	QuarantineAgent AgentAction = "quarantine" // it gets nothing and its leases end; what it has posted stays
	RevokeAgent     AgentAction = "revoke"     // its keys are refused forever and its leases end
)

// MaxReason is the longest reason for a decision about an agent, in characters.
const MaxReason = 300

// transitions say from which states an action leads where. An action that leads to the state that is there already changes nothing.
var transitions = map[AgentAction]struct {
	to   AgentState
	from []AgentState
}{
	ApproveAgent:    {AgentActive, []AgentState{AgentPending}},
	DrainAgent:      {AgentDraining, []AgentState{AgentActive}},
	ResumeAgent:     {AgentActive, []AgentState{AgentDraining, AgentQuarantined}},
	QuarantineAgent: {AgentQuarantined, []AgentState{AgentPending, AgentActive, AgentDraining}},
	RevokeAgent:     {AgentRevoked, []AgentState{AgentPending, AgentActive, AgentDraining, AgentQuarantined}},
}

// next is the state that the action leads to.
func (a AgentAction) next(from AgentState) (AgentState, error) {
	t, known := transitions[a]
	switch {
	case !known:
		return from, functions.Invalid("bad_action", fmt.Sprintf("there is no action %q", a), "choose approve, drain, resume, quarantine or revoke")
	case from == t.to || slices.Contains(t.from, from):
		return t.to, nil
	case from == AgentRevoked:
		return from, ErrAgentState.With("the agent is revoked, and that is final: its machine may enrol with a new key")
	case from == AgentPending:
		return from, ErrAgentState.With("the agent is pending: approve it first")
	default:
		return from, ErrAgentState.With("the agent is %s: it cannot %s", from, a)
	}
}

// kinds are the actions in the words of the guardian.
var kinds = map[AgentAction]guardian.Kind{
	ApproveAgent: guardian.AgentApprove, DrainAgent: guardian.AgentPause, ResumeAgent: guardian.AgentResume, QuarantineAgent: guardian.AgentPause,
	RevokeAgent: guardian.AgentRevoke,
}

// agentIntent is a decision about an agent in the words of the guardian; the nil project: for all of them.
func agentIntent(by functions.Principal, project uuid.UUID, kind guardian.Kind, id uuid.UUID, action, reason string) base.Intent {
	return base.Intent{By: by, Project: project, Kind: kind, Subject: id.String(), Facts: guardian.AgentFacts{Agent: guardian.Agent{ID: id.String()}, Action: action, Reason: reason}}
}

func checkReason(reason string) error {
	if n := len([]rune(reason)); n > MaxReason {
		return functions.Invalid("bad_reason", fmt.Sprintf("the reason has %d characters, at most %d are kept", n, MaxReason), "say it in fewer words")
	}
	return nil
}

// DecideAgent carries out an operator's decision. Deciding the same again is harmless.
func (s *Service) DecideAgent(ctx context.Context, by functions.Principal, id uuid.UUID, action AgentAction, reason string) (Agent, error) {
	return s.decide(ctx, by, id, action, reason, nil)
}

// DecideAgentAsSeen decides about an agent about which nobody has decided since seen (see Seen), or that is in the new state already.
func (s *Service) DecideAgentAsSeen(ctx context.Context, by functions.Principal, id uuid.UUID, action AgentAction, seen Seen, reason string) (Agent, error) {
	return s.decide(ctx, by, id, action, reason, &seen)
}

func (s *Service) decide(ctx context.Context, by functions.Principal, id uuid.UUID, action AgentAction, reason string, seen *Seen) (a Agent, err error) {
	if err := checkReason(reason); err != nil {
		return a, err
	}
	if err := s.refuseNothing(ctx, id, action); err != nil {
		return a, err
	}
	err = s.env.Control(ctx, func(tx pgx.Tx) error {
		state, found, err := store.Value[AgentState](ctx, tx, sql.LockAgent, id)
		if err != nil || !found {
			return base.OrNotFound(err, "agent", id)
		}
		next, err := action.next(state)
		if err != nil {
			return err
		}
		if next != state {
			if err := checkAgentSeen(ctx, tx, id, seen); err != nil {
				return err
			}
			if err := s.env.AskControl(ctx, tx, agentIntent(by, uuid.Nil, kinds[action], id, string(action), reason)); err != nil {
				return err
			}
			if err := s.changeAgent(ctx, tx, by, id, action, next, reason); err != nil {
				return err
			}
		}
		a, err = getAgent(ctx, tx, id)
		return err
	})
	return a, err
}

// changeAgent writes the new state, ends what the agent may not continue with, and wakes its poll so that it hears of it at once.
func (s *Service) changeAgent(ctx context.Context, tx pgx.Tx, by functions.Principal, id uuid.UUID, action AgentAction, next AgentState, reason string) error {
	if _, err := store.Exec(ctx, tx, sql.SetAgentState, id, next, reason); err != nil {
		return err
	}
	if next == AgentRevoked {
		if _, err := store.Exec(ctx, tx, sql.RevokeAgentKeys, id); err != nil {
			return err
		}
	}
	if err := base.AuditServer(ctx, tx, by.Actor(), "agent."+string(action), id.String(), map[string]any{"state": next, "reason": reason}); err != nil {
		return err
	}
	if err := base.Notify(ctx, tx, base.ChannelAgents, id); err != nil {
		return err
	}
	if !next.endsLeases() {
		return nil
	}
	projects, err := store.Values[uuid.UUID](ctx, tx, sql.ProjectsOfLeases, id)
	if err != nil || len(projects) == 0 {
		return err
	}
	steps := make([]functions.Step, len(projects))
	for i, p := range projects {
		steps[i] = stepargs.RevokeArgs{Project: p, Agent: id}
	}
	return s.env.Queue.Enqueue(ctx, tx, steps...)
}
