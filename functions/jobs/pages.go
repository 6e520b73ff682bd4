package jobs

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/jobs/sql"
	"github.com/ostraka/ostraka/functions/partition"
	"github.com/ostraka/ostraka/functions/stepargs"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/functions/verify"
)

// PageDelta is how the counts of a page change.
type PageDelta struct {
	counts      map[functions.ShardState]int
	attempts    int
	provisional int
}

// PageDeltas counts changes by page. Every change of a submission is also one attempt.
func PageDeltas(changes []ShardChange, attempts bool) map[int64]PageDelta {
	deltas := map[int64]PageDelta{}
	for _, c := range changes {
		page := partition.PageOf(c.Number)
		d, found := deltas[page]
		if !found {
			d.counts = map[functions.ShardState]int{}
		}
		d.counts[c.Was]--
		d.counts[c.State]++
		if c.Unfinal {
			d.provisional--
		}
		if c.Provisional {
			d.provisional++
		}
		if attempts {
			d.attempts++
		}
		deltas[page] = d
	}
	return deltas
}

type pageRow struct {
	Number      int64
	Open        int
	Review      int
	Provisional int
}

// Settled says whether all that is left to do for the page is to fold it.
func (r pageRow) Settled() bool { return r.Open == 0 && r.Review == 0 }

// PageCounts is what followed from the counts of pages.
type PageCounts struct {
	Settled []functions.Step // that fold the pages which are settled by it
	Drained bool             // some page has no open shard any more
	Rows    map[int64]pageRow
}

// CountPages moves the counts of pages, in the order of their numbers.
func CountPages(ctx context.Context, tx *store.Tx, project, job uuid.UUID, deltas map[int64]PageDelta) (c PageCounts, err error) {
	c.Rows = make(map[int64]pageRow, len(deltas))
	for _, page := range slices.Sorted(maps.Keys(deltas)) {
		d := deltas[page]
		row, found, err := store.One[pageRow](ctx, tx, sql.CountPage, job, page, d.counts[functions.ShardOpen], d.counts[functions.ShardAccepted],
			d.counts[functions.ShardReview], d.counts[functions.ShardFailed], d.counts[functions.ShardCancelled], d.attempts, d.provisional)
		if err != nil {
			return c, err
		}
		if !found {
			return c, fmt.Errorf("job %s has shards but no page %d", job, page)
		}
		c.Rows[page] = row
		if d.counts[functions.ShardOpen] == 0 && d.counts[functions.ShardReview] == 0 {
			continue
		}
		c.Drained = c.Drained || row.Open == 0
		if row.Settled() {
			c.Settled = append(c.Settled, stepargs.AggregateArgs{Project: project, Job: job, Page: page})
		}
	}
	return c, nil
}

// ShardChange is how a verdict, a person or a cancellation changes a shard.
type ShardChange struct {
	Number      int64
	Was         functions.ShardState
	State       functions.ShardState
	Wanted      int
	Support     int
	Agent       *uuid.UUID
	AgentWas    *uuid.UUID
	Reasons     []verify.Reason
	Verdict     verify.Decision
	Unfinal     bool   // it was accepted provisionally
	Provisional bool   // it is
	Gathered    bool   // into its agent's window, whose number is not known yet
	Awaits      *int64 // of one that is provisional: its window
	// Rate is the one with which it was drawn whether the result is audited at once. Nil leaves it as it is, and 0 takes it away.
	Rate *verify.Rate

	Disagree []uuid.UUID // agents with another answer than the accepted one
}

// Refolds says whether what was folded of the shard does not hold any more.
func (c ShardChange) Refolds() bool {
	return c.Was == functions.ShardAccepted && (c.State != functions.ShardAccepted || c.AgentWas != nil && c.Agent != nil && *c.AgentWas != *c.Agent)
}
