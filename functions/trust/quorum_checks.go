package trust

import (
	"context"
	"slices"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/jobs"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/functions/trust/sql"
	"github.com/ostraka/ostraka/functions/verify"
)

// DefaultQuorumAudits is the share of the shards accepted by a quorum that a server executes as well, where one can. It holds no bound: owners who
// agree on lies are found out by it before they have told a few hundred, and what they tell later does not count.
const DefaultQuorumAudits = 0.01

// spotChecks draw shards that a quorum has accepted, for the server. Nil: none are drawn.
type spotChecks struct {
	secret []byte
	rate   verify.Rate
}

// spotChecks reads what they are drawn with.
func (s *Service) spotChecks(ctx context.Context, tx *store.Tx, project, job uuid.UUID, p verify.Policy) (*spotChecks, error) {
	if p.Quorum < 2 || s.quorumAudits <= 0 {
		return nil, nil //nolint:nilnil // there are none, as said
	}
	server, err := s.AuditTerms(ctx, tx, project, job, verify.Policy{Recheck: verify.RecheckAll})
	if err != nil || !server.Rechecks {
		return nil, err
	}
	return &spotChecks{secret: server.secret, rate: verify.RateOf(s.quorumAudits)}, nil
}

// drawn says whether the server is to execute a shard of the job. It is decided by the job's secret, so that no agent knows.
func (c *spotChecks) drawn(job uuid.UUID, shard int64) bool {
	return c != nil && verify.Draw(c.secret, job.String(), shard, verify.QuorumAgent, c.rate)
}

// spotCheck has the server execute a shard that agents have just agreed on, if it is drawn. The job waits for that, and so does the evidence: no
// attempt is evidence twice.
func (w *Weighed) spotCheck(b bench, shard ShardRow, c *jobs.ShardChange) bool {
	if b.spot == nil || c.State != functions.ShardAccepted || shard.State != functions.ShardOpen || b.executed(shard) {
		return false
	}
	c.Rate = &b.spot.rate
	if !b.spot.drawn(b.job, shard.Number) {
		return false
	}
	c.Provisional, c.Awaits = true, new(int64)
	w.Rechecks = append(w.Rechecks, shard.Number)
	return true
}

// stands is an accepted shard that the server was to execute, and did not: what the quorum said is the result.
func (w *Weighed) stands(shard ShardRow) {
	c := shard.Unchanged()
	c.Awaits, c.Provisional, c.Rate = nil, false, new(verify.Rate)
	w.Changes = append(w.Changes, c)
}

// letQuorumStand gives up waiting for the server in a job with a quorum: the agents' agreement is what its policy asks for.
func (s *Service) letQuorumStand(ctx context.Context, tx *store.Tx, project, job uuid.UUID, numbers []int64) error {
	rows, err := store.Many[ShardRow](ctx, tx, store.LockShards, job, numbers)
	if err != nil {
		return err
	}
	w := Weighed{Counts: map[uuid.UUID]*Count{}}
	var accepted []int64
	for _, shard := range rows {
		if shard.State == functions.ShardAccepted {
			accepted = append(accepted, shard.Number)
		}
	}
	dropped, err := store.Values[int64](ctx, tx, sql.DropRechecks, job, accepted)
	if err != nil || len(dropped) == 0 {
		return err
	}
	for _, shard := range rows {
		if slices.Contains(dropped, shard.Number) && shard.Awaits != nil {
			w.stands(shard)
		}
	}
	return s.settle(ctx, tx, Settlement{Project: project, Job: job, Weighed: w})
}
