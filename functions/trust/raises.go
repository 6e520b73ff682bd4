package trust

import (
	"context"
	"slices"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/functions/trust/sql"
	"github.com/ostraka/ostraka/functions/verify"
)

const (
	// RaiseFactor is how much more of an agent's results in a job is audited at once after a finding whose rule says raise: one in ten
	// instead of one in a hundred, and one in two of an agent on probation.
	RaiseFactor = 10
	// raiseAll has all results audited at once.
	raiseAll = 1 / verify.LiveRate
)

// RaiseOf is how much more is audited after a finding in code: of all results of its jobs, since nobody knows which ones it is about.
func RaiseOf(actions []functions.HeuristicAction) float64 {
	switch {
	case slices.Contains(actions, functions.DoRecheck):
		return raiseAll
	case slices.Contains(actions, functions.DoRaise):
		return RaiseFactor
	default:
		return 0
	}
}

// raises say how much more of agents' results in one job is audited at once; under ServerAgent: of all agents'.
type raises map[uuid.UUID]float64

func (r raises) of(agent uuid.UUID) float64 { return max(r[agent], r[functions.ServerAgent]) }

// readRaises reads those of agents, ServerAgent among them.
func readRaises(ctx context.Context, tx *store.Tx, job uuid.UUID, agents []uuid.UUID) (raises, error) {
	type row struct {
		AgentID uuid.UUID
		Factor  float64
	}
	rows, err := store.Many[row](ctx, tx, sql.RaisesOfJob, job, agents)
	r := raises{}
	for _, of := range rows {
		r[of.AgentID] = of.Factor
	}
	return r, err
}
