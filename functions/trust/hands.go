package trust

import (
	"cmp"
	"context"
	"slices"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions/owner"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/functions/trust/sql"
	"github.com/ostraka/ostraka/functions/verify"
)

// hand is who is behind an agent that has worked for the job.
func (b bench) hand(agent uuid.UUID) string { return owner.Hand(b.lenders[agent].Owner, agent) }

// readLenders reads what the agents are, the evidence about them, and who of them lie together.
func (b *bench) readLenders(ctx context.Context, tx *store.Tx, agents map[uuid.UUID]bool) error {
	lenders, err := store.Many[lenderRow](ctx, tx, sql.LendersOfJob, b.job, InOrder(agents))
	if err != nil {
		return err
	}
	pairs, err := store.Many[verify.Alike](ctx, tx, sql.WrongAlike, verify.ClusterAt, uuid.Nil)
	if err != nil {
		return err
	}
	owners := make([]string, len(lenders))
	for i, l := range lenders {
		owners[i] = l.Owner
	}
	kin, err := owner.ReadKin(ctx, tx, owners...)
	if err != nil {
		return err
	}
	clusters := verify.Clusters(pairs)
	b.evidence = make(map[string]verify.Evidence, len(lenders))
	for _, l := range lenders {
		b.lenders[l.AgentID] = l
		e := l.evidence(b.policy.Audited())
		e.Vouched = l.Vouched
		e = e.Among(kin[l.Owner].Evidence())
		e.Cluster = clusters[b.hand(l.AgentID)]
		b.evidence[l.AgentID.String()] = e
	}
	return nil
}

// alikeRow is two hands that gave the same wrong answer to a shard.
type alikeRow struct {
	one, other string
	shard      int64
}

// wrongAlike is who was wrong alike, by the verdict that proved it. Agents of one owner are one hand already.
func (b bench) wrongAlike(shard ShardRow, v verify.Verdict) (rows []alikeRow) {
	if len(v.Disagree) == 0 {
		return nil
	}
	for _, pair := range v.WrongAlike(b.inputs(shard.Number)) {
		one, other := b.hand(uuid.MustParse(pair.A)), b.hand(uuid.MustParse(pair.B))
		if one != other {
			rows = append(rows, alikeRow{one: min(one, other), other: max(one, other), shard: shard.Number})
		}
	}
	return rows
}

// addWrongAlike counts a pair once for each shard, however often the shard is judged.
func (d Settlement) addWrongAlike(ctx context.Context, tx *store.Tx) error {
	if len(d.alike) == 0 {
		return nil
	}
	slices.SortFunc(d.alike, func(a, b alikeRow) int { // all steps write in one order, so that none waits for another in a circle
		return cmp.Or(cmp.Compare(a.one, b.one), cmp.Compare(a.other, b.other), cmp.Compare(a.shard, b.shard))
	})
	ones, others, shards := make([]string, len(d.alike)), make([]string, len(d.alike)), make([]int64, len(d.alike))
	for i, r := range d.alike {
		ones[i], others[i], shards[i] = r.one, r.other, r.shard
	}
	_, err := store.Exec(ctx, tx, sql.AddWrongAlike, d.Job, ones, others, shards)
	return err
}
