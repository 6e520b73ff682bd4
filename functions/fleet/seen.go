package fleet

import (
	"context"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/fleet/sql"
	"github.com/ostraka/ostraka/functions/store"
)

// Seen is when the decision about an agent was taken that whoever decides now has looked at, in microseconds since the epoch: about the agent
// itself, or about its work for a project, where 0 says that there was none.
type Seen int64

// ErrAgentChanged says that somebody has decided about an agent meanwhile: that decision stays.
var ErrAgentChanged = &functions.Error{
	Kind: functions.KindPrecondition, Code: "revision_changed", Message: "somebody has decided about the agent since it was chosen", Hint: "look at the agent and decide again",
}

// checkAgentSeen refuses to overrule a decision about an agent that was not seen. The agent's row is locked.
func checkAgentSeen(ctx context.Context, tx pgx.Tx, id uuid.UUID, seen *Seen) error {
	if seen == nil {
		return nil
	}
	at, _, err := store.Value[Seen](ctx, tx, sql.AgentDecidedAt, id)
	if err == nil && at != *seen {
		return ErrAgentChanged
	}
	return err
}

// memberDecision is the last decision about an agent's work for a project.
type memberDecision struct {
	Excluded bool
	Reason   string
	At       Seen
}

// checkMemberSeen is checkAgentSeen for the agent's work for a project. What was decided in the same way and for the same reason may be decided
// again: that is what becomes of a decision that was cut off before it was noted. Somebody else's decision has a reason of its own.
func checkMemberSeen(ctx context.Context, tx pgx.Tx, id, project uuid.UUID, decides memberDecision, seen *Seen) error {
	if seen == nil {
		return nil
	}
	last, _, err := store.One[memberDecision](ctx, tx, sql.MemberDecidedAt, id, project)
	if err != nil || last.At == *seen {
		return err
	}
	if last.Excluded != decides.Excluded || last.Reason != decides.Reason {
		return ErrAgentChanged
	}
	return nil
}
