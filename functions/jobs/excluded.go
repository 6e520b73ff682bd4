package jobs

import (
	"context"
	"slices"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions/jobs/sql"
	"github.com/ostraka/ostraka/functions/owner"
	"github.com/ostraka/ostraka/functions/store"
)

// ExcludedHands are those that take no part in a job since it runs another one again, in which results of theirs are in doubt: the agents
// with an incident there, and their owners. An incident is reported at the first failed audit and an agent is caught at a later one, so
// that the rerun cannot rely upon the agent being caught. Where a workflow's check has one shard of it executed again, they are those who
// gave its result as well: they would say the same again.
func ExcludedHands(ctx context.Context, tx *store.Tx, job uuid.UUID) ([]string, error) {
	type suspect struct {
		AgentID uuid.UUID
		Owner   string
	}
	rows, err := store.Many[suspect](ctx, tx, sql.ExcludedFromRerun, job)
	hands := []string{}
	for _, r := range rows {
		hands = append(hands, owner.Hand("", r.AgentID))
		if r.Owner != "" {
			hands = append(hands, owner.Hand(r.Owner, r.AgentID))
		}
	}
	return hands, err
}

// Excludes says whether an agent, or its owner, is one of them.
func Excludes(hands []string, of string, agent uuid.UUID) bool {
	return slices.Contains(hands, owner.Hand("", agent)) || slices.Contains(hands, owner.Hand(of, agent))
}
