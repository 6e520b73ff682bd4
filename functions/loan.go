package functions

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/functions/verify"
)

// loanRow is what an agent and the others of its owner have of a job.
type loanRow struct {
	Agents int64
	Credit int64
	Held   int64
	Leases int
	Paused bool
}

// mayHold is how many further shards of a job the agent may be lent: what its owner's agents have brought back decides. It is 0 also where
// the agent has as many leases as it can work on, or has let too many end without a result.
func (s *Service) mayHold(ctx context.Context, tx *store.Tx, job, agent uuid.UUID, l lender) (int64, error) {
	row, _, err := store.One[loanRow](ctx, tx, store.GetLoan, job, agent, l.owner)
	if err != nil || row.Paused || row.Leases >= verify.OpenLeases(l.cores) {
		return 0, err
	}
	return verify.Loan{First: s.firstLoan, Agents: row.Agents, Held: row.Held, Credit: row.Credit}.Free(), nil
}

// loseCredit notes that a lease of the agent died with so many shards; idle: it brought no result at all.
func (s *Service) loseCredit(ctx context.Context, tx *store.Tx, l leaseIndexRow, lost int, idle bool) error {
	type credit struct {
		Credit int64
		Idle   int
	}
	c, found, err := store.One[credit](ctx, tx, store.LockCredit, l.JobID, l.AgentID)
	if err != nil || !found {
		return err
	}
	if c.Credit = verify.CreditAfter(c.Credit, 0, int64(lost), s.firstLoan); idle {
		c.Idle++
	}
	_, err = store.Exec(ctx, tx, store.SetCredit, l.JobID, l.AgentID, c.Credit, c.Idle, verify.Pause(c.Idle))
	return err
}

// lastCall is how long heartbeats may keep a lease without a result: a worker executes one shard after the other.
func lastCall(wallSeconds int64) time.Duration {
	return lastCallGrace + time.Duration(wallSeconds)*time.Second
}

// lostEnough keeps those of a job's shards that a person must look at: enough leases died with them, of enough owners.
func lostEnough(ctx context.Context, tx *store.Tx, job uuid.UUID, back []backRow) (numbers []int64, err error) {
	var often []int64
	lost := map[int64]int{}
	for _, b := range back {
		if b.State == ShardOpen && b.Lost >= MaxLost {
			often = append(often, b.Number)
			lost[b.Number] = b.Lost
		}
	}
	if len(often) == 0 {
		return nil, nil
	}
	type row struct {
		Number  int64
		Owners  int
		Working int
	}
	rows, err := store.Many[row](ctx, tx, store.LostByOwners, job, often)
	for _, r := range rows {
		if verify.LosesAgents(lost[r.Number], MaxLost, r.Owners, r.Working) {
			numbers = append(numbers, r.Number)
		}
	}
	return numbers, err
}
