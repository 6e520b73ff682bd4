package functions

import (
	"context"
	"slices"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions/store"
)

// excludedHands are those that take no part in a job since it runs another one again, in which results of theirs are in doubt: the agents
// with an incident there, and their owners. An incident is reported at the first failed audit and an agent is caught at a later one, so
// that the rerun cannot rely upon the agent being caught.
func excludedHands(ctx context.Context, tx *store.Tx, job uuid.UUID) ([]string, error) {
	type suspect struct {
		AgentID uuid.UUID
		Owner   string
	}
	rows, err := store.Many[suspect](ctx, tx, store.ExcludedFromRerun, job)
	hands := []string{}
	for _, r := range rows {
		hands = append(hands, hand("", r.AgentID))
		if r.Owner != "" {
			hands = append(hands, hand(r.Owner, r.AgentID))
		}
	}
	return hands, err
}

// excludes says whether an agent, or its owner, is one of them.
func excludes(hands []string, owner string, agent uuid.UUID) bool {
	return slices.Contains(hands, hand("", agent)) || slices.Contains(hands, hand(owner, agent))
}
