package dispatch

import (
	"context"
	"slices"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions/dispatch/sql"
	"github.com/ostraka/ostraka/functions/jobs"
	"github.com/ostraka/ostraka/functions/partition"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/functions/verify"
)

// borrower is who takes shards of a job.
type borrower struct {
	job, agent uuid.UUID
	hand       string  // who is behind the agent
	kin        string  // the owner whose other agents' shards it is not lent; empty: nobody's
	among      int     // of how many shards those that it is lent are drawn; 0: it is lent the first ones
	lots       *lots   // which of them are for its owner; nil: all
	without    []int64 // those that it is not lent for now
	room       int     // bytes of inputs
}

// kinOf is the owner whose agents together have one voice about a shard, where the policy asks for independent ones.
func kinOf(l lender, p verify.Policy) string {
	if !p.Independent() {
		return ""
	}
	return l.owner
}

// pickShards takes shards from where the agent's last search ended, and then from the start for those that were opened again. It says where the
// next search begins.
func pickShards(ctx context.Context, tx *store.Tx, by borrower, next int64, most int) (picked []jobs.PickedShard, then int64, err error) {
	picked, then, err = by.pick(ctx, tx, next, partition.MaxShards, most)
	if err != nil || len(picked) > 0 || next == 0 {
		return picked, then, err
	}
	return by.pick(ctx, tx, 0, next, most)
}

// pick takes shards of a part of the job. Two agents of the same owner may lease the same shard
// concurrently. A second statement, which sees both leases, returns the duplicates.
func (by borrower) pick(ctx context.Context, tx *store.Tx, from, to int64, most int) (picked []jobs.PickedShard, next int64, err error) {
	mine, err := by.drawn(ctx, tx, from, to, most)
	if err != nil || mine.none() {
		return nil, 0, err
	}
	query, values := sql.LendShards, []any{by.job, by.agent, from, mine.to, most, by.room, by.kin}
	if by.among > 0 {
		query, values = sql.DrawShards, append(values, max(by.among, most), mine.only, by.without)
	} else {
		values = append(values, append(mine.not, by.without...))
	}
	picked, first, err := by.lend(ctx, tx, query, values...)
	if first < 0 {
		return picked, 0, err
	}
	return picked, mine.first(first), err
}

// lend takes shards with one of the two queries that do, and says where the next search begins; -1: there were none.
func (by borrower) lend(ctx context.Context, tx *store.Tx, query store.Query, values ...any) (picked []jobs.PickedShard, first int64, err error) {
	type row struct {
		jobs.PickedShard
		Shared bool
		First  int64
	}
	rows, err := store.Many[row](ctx, tx, query, values...)
	if err != nil {
		return nil, -1, err
	}
	first = -1
	var shared []int64
	picked = make([]jobs.PickedShard, len(rows))
	for i, r := range rows {
		first = r.First
		if picked[i] = r.PickedShard; r.Shared && by.kin != "" {
			shared = append(shared, r.Number)
		}
	}
	if len(shared) == 0 {
		return picked, first, nil
	}
	back, err := store.Values[int64](ctx, tx, sql.PutBackShards, by.job, by.agent, shared, by.kin)
	return slices.DeleteFunc(picked, func(p jobs.PickedShard) bool { return slices.Contains(back, p.Number) }), first, err
}
