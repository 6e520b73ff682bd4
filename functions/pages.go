package functions

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions/partition"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/functions/verify"
)

// pageDelta is how the counts of a page change.
type pageDelta struct {
	counts      map[ShardState]int
	attempts    int
	provisional int
}

// pageDeltas counts changes by page. Every change of a submission is also one attempt.
func pageDeltas(changes []shardChange, attempts bool) map[int64]pageDelta {
	deltas := map[int64]pageDelta{}
	for _, c := range changes {
		page := partition.PageOf(c.number)
		d, found := deltas[page]
		if !found {
			d.counts = map[ShardState]int{}
		}
		d.counts[c.was]--
		d.counts[c.state]++
		if c.unfinal {
			d.provisional--
		}
		if c.provisional {
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

// settled says whether all that is left to do for the page is to fold it.
func (r pageRow) settled() bool { return r.Open == 0 && r.Review == 0 }

// counted is what followed from the counts of pages.
type counted struct {
	settled []Step // that fold the pages which are settled by it
	drained bool   // some page has no open shard any more
	rows    map[int64]pageRow
}

// countPages moves the counts of pages, in the order of their numbers.
func countPages(ctx context.Context, tx *store.Tx, project, job uuid.UUID, deltas map[int64]pageDelta) (c counted, err error) {
	c.rows = make(map[int64]pageRow, len(deltas))
	for _, page := range slices.Sorted(maps.Keys(deltas)) {
		d := deltas[page]
		row, found, err := store.One[pageRow](ctx, tx, store.CountPage, job, page, d.counts[ShardOpen], d.counts[ShardAccepted],
			d.counts[ShardReview], d.counts[ShardFailed], d.counts[ShardCancelled], d.attempts, d.provisional)
		if err != nil {
			return c, err
		}
		if !found {
			return c, fmt.Errorf("job %s has shards but no page %d", job, page)
		}
		c.rows[page] = row
		if d.counts[ShardOpen] == 0 && d.counts[ShardReview] == 0 {
			continue
		}
		c.drained = c.drained || row.Open == 0
		if row.settled() {
			c.settled = append(c.settled, AggregateArgs{Project: project, Job: job, Page: page})
		}
	}
	return c, nil
}

// shardChange is how a verdict, a person or a cancellation changes a shard.
type shardChange struct {
	number      int64
	was         ShardState
	state       ShardState
	wanted      int
	support     int
	agent       *uuid.UUID
	agentWas    *uuid.UUID
	reasons     []verify.Reason
	verdict     verify.Decision
	unfinal     bool   // it was accepted provisionally
	provisional bool   // it is
	gathered    bool   // into its agent's window, whose number is not known yet
	awaits      *int64 // of one that is provisional: its window

	disagree []uuid.UUID // agents with another answer than the accepted one
}

// refolds says whether what was folded of the shard does not hold any more.
func (c shardChange) refolds() bool {
	return c.was == ShardAccepted && (c.state != ShardAccepted || c.agentWas != nil && c.agent != nil && *c.agentWas != *c.agent)
}
