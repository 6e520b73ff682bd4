package dispatch

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/dispatch/sql"
	"github.com/ostraka/ostraka/functions/owner"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/functions/verify"
	"github.com/ostraka/ostraka/wasm"
)

// loanRow is what an agent and the others of its owner have of a job.
type loanRow struct {
	Agents int64
	Credit int64
	Held   int64
	Leases int
	Paused bool
	Given  int64    // results that its owner's agents have brought
	Capped *float64 // seconds since its owner got no more leases while others were there
	Shards int64    // of the job
	// Unconfirmed are the attempts of its owner's agents that ended without an answer where others gave one.
	Unconfirmed int64
}

const (
	// DefaultShareWait is how long an owner that has leased the stated share of a job waits for idle others: agents that
	// wait for work take it within a second, and one that does not must not hold up a job.
	DefaultShareWait = 5 * time.Second
	// shareLift is how long it may take what it can get after that.
	shareLift = time.Minute
	// handsSeen is how long ago an agent was heard of at most to be there: a poll stays open for a minute.
	handsSeen = 65 * time.Second
	// drawnFrom is how many shards an agent's lease is drawn from, where several owners must answer each: more would take long.
	drawnFrom = 4096
)

// mayHold is how many further shards of a job the agent may be lent: what its owner's agents have brought back decides. It is 0 also where
// the agent has as many leases as it can work on, or has let too many end without a result.
func (s *Service) mayHold(ctx context.Context, tx *store.Tx, by openJob, agent uuid.UUID, policy verify.Policy) (int64, error) {
	row, _, err := store.One[loanRow](ctx, tx, sql.GetLoan, by.JobID, agent, by.lender.owner)
	if err != nil || row.Paused || verify.Unconfirmed(row.Unconfirmed, row.Given) || row.Leases >= verify.OpenLeases(by.lender.cores) {
		return 0, err
	}
	free := verify.Loan{First: s.firstLoan, Agents: row.Agents, Held: row.Held, Credit: row.Credit}.Free()
	if s.shareWait < 0 || policy.None || free == 0 {
		return free, nil
	}
	return s.withinShare(ctx, tx, by, agent, policy, row, free)
}

// withinShare is how many of so many shards the agent may be lent without its owner having more than the stated share of the job, while agents
// of others have nothing to do. After a wait it may have all: they do not want the job.
func (s *Service) withinShare(ctx context.Context, tx *store.Tx, by openJob, agent uuid.UUID, policy verify.Policy, row loanRow, free int64) (int64, error) {
	attempts := row.Shards * int64(policy.Initial())
	has := row.Given + row.Held
	if has+free <= verify.ShareCap(policy.Stated(), attempts, 0) { // whichever other owners there are
		return free, nil
	}
	waited := time.Duration(-1)
	if row.Capped != nil {
		waited = time.Duration(*row.Capped * float64(time.Second))
	}
	if waited >= s.shareWait && waited < s.shareWait+shareLift {
		return free, nil
	}
	hands, err := s.freeHands(ctx, tx, by, agent)
	if err != nil || !hands.Free {
		return free, err
	}
	if free = min(free, verify.ShareCap(policy.Stated(), attempts, hands.Owners)-has); free > 0 {
		return free, nil
	}
	if waited < 0 || waited >= s.shareWait {
		_, err = store.Exec(ctx, tx, sql.CapOwner, by.JobID, agent, by.lender.owner)
		s.undrawn.changed(by.JobID)
	}
	return 0, err
}

type freeHands struct {
	Owners int
	Free   bool // somebody of another owner has nothing to do
}

// freeHands looks for agents of other owners. Those of owners that have as much of the job already are none.
func (s *Service) freeHands(ctx context.Context, tx *store.Tx, by openJob, agent uuid.UUID) (hands freeHands, err error) {
	full, caught, err := s.notFree(ctx, tx, by.JobID)
	if err != nil {
		return hands, err
	}
	server, err := tx.AsServer(ctx)
	if err != nil {
		return hands, err
	}
	own := by.lender.owner
	if own == "" {
		own = agent.String()
	}
	if hands, _, err = store.One[freeHands](ctx, server, sql.FreeHands, by.ProjectID, by.JobID, own, handsSeen, full, caught, by.owners, wasm.Meter); err != nil {
		return hands, err
	}
	return hands, tx.AsProject(ctx)
}

// notFree are the owners that have as much of a job as one may lease, or are caught, and the caught agents.
func (s *Service) notFree(ctx context.Context, tx *store.Tx, job uuid.UUID) (owners []string, agents []uuid.UUID, err error) {
	if owners, err = store.Values[string](ctx, tx, sql.CappedOwners, job, s.shareWait+shareLift); err != nil {
		return nil, nil, err
	}
	if agents, err = store.Values[uuid.UUID](ctx, tx, store.CaughtAgents); err != nil {
		return nil, nil, err
	}
	caught, err := owner.ListCaught(ctx, tx)
	return append(owners, caught...), agents, err
}

// drawsAmong is how many shards an agent's lease is drawn from, see borrower: where several owners must answer each, two of them
// who ask one after the other would be lent the same ones otherwise.
func (s *Service) drawsAmong(p verify.Policy) int {
	if s.shareWait < 0 || p.Initial() == 1 {
		return 0
	}
	return drawnFrom
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
	_, err = store.Exec(ctx, tx, sql.SetCredit, l.JobID, l.AgentID, c.Credit, c.Idle, verify.Pause(c.Idle))
	return err
}

// countReturn notes that the agent gave a lease back without a result.
func countReturn(ctx context.Context, tx *store.Tx, l leaseIndexRow) error {
	returned, found, err := store.Value[int](ctx, tx, sql.CountReturn, l.JobID, l.AgentID)
	if err != nil || !found {
		return err
	}
	pause := verify.ReturnPause(returned)
	if pause == 0 {
		return nil
	}
	_, err = store.Exec(ctx, tx, sql.PauseAgent, l.JobID, l.AgentID, pause)
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
		if b.State == functions.ShardOpen && b.Lost >= MaxLost {
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
	rows, err := store.Many[row](ctx, tx, sql.LostByOwners, job, often)
	for _, r := range rows {
		if verify.LosesAgents(lost[r.Number], MaxLost, r.Owners, r.Working) {
			numbers = append(numbers, r.Number)
		}
	}
	return numbers, err
}
