package functions

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions/partition"
	"github.com/ostraka/ostraka/functions/store"
)

// settlement is how Verify, Recheck and Taint write what they have decided.
type settlement struct {
	project uuid.UUID
	job     uuid.UUID
	weighed
	next     []Step     // besides those that follow
	reported bool       // every change comes with an attempt that an agent has reported
	tainted  *uuid.UUID // whose results are taken back
	reopened string     // why shards that were accepted are opened again
	why      string     // the server is to execute shards; empty: it follows from the rest
}

// settle writes what was decided about some shards of a job, which the caller has locked: evidence, audits, shards, pages, flags and
// events, and enqueues what follows. Rows are locked in one order by all steps, so that none waits for another in a circle: a lease,
// shards, agents' trust, pages, each by number or ID, the job (every event locks it), and flags last.
func (s *Service) settle(ctx context.Context, tx *store.Tx, d settlement) error {
	steps, err := s.write(ctx, tx, d)
	if err != nil {
		return err
	}
	return s.enqueue(ctx, tx, steps...)
}

// write is settle without enqueueing, which leaves the project's role: it returns the steps that follow.
func (s *Service) write(ctx context.Context, tx *store.Tx, d settlement) ([]Step, error) {
	judged, err := s.addEvidence(ctx, tx, d)
	if err != nil {
		return nil, err
	}
	if err := writeShards(ctx, tx, d.job, d.changes, d.reported); err != nil {
		return nil, err
	}
	counted, err := countPages(ctx, tx, d.project, d.job, pageDeltas(d.changes, d.reported))
	if err != nil {
		return nil, err
	}
	refold, err := takeBackFolds(ctx, tx, d, counted)
	if err != nil {
		return nil, err
	}
	folds, err := scoreFirst(ctx, tx, d.job, append(counted.settled, refold...))
	if err != nil {
		return nil, err
	}
	steps := slices.Concat(d.next, folds, judged.steps)
	if counted.drained || len(refold) > 0 || d.changesDrain() {
		if err := placeJob(ctx, tx, d.job); err != nil {
			return nil, err
		}
		if d.terms != nil || !d.reported { // otherwise every result is final
			more, err := drain(ctx, tx, d.project, d.job)
			if err != nil {
				return nil, err
			}
			steps = append(steps, more...)
		}
	}
	if err := reportUnusual(ctx, tx, d.job, d.weighed); err != nil {
		return nil, err
	}
	for _, c := range judged.caught {
		if err := reportCaught(ctx, tx, d.job, c); err != nil {
			return nil, err
		}
	}
	if wantsMore(d.changes) {
		if err := notify(ctx, tx, channelWork, d.project); err != nil {
			return nil, err
		}
	}
	more, err := askRechecks(ctx, tx, d)
	return append(steps, more...), err
}

// changesDrain reports whether the change could complete a job whose results await audits: its shards are all accepted, and not all
// of them are final.
func (d settlement) changesDrain() bool {
	return !d.reported && slices.ContainsFunc(d.changes, func(c shardChange) bool { return c.unfinal || c.was == ShardOpen })
}

func writeShards(ctx context.Context, tx *store.Tx, job uuid.UUID, changes []shardChange, reported bool) error {
	if len(changes) == 0 {
		return nil
	}
	n := len(changes)
	numbers, states, wanted := make([]int64, n), make([]string, n), make([]int32, n)
	agents, reasons, awaits, support := make([]*uuid.UUID, n), make([]*string, n), make([]*int64, n), make([]int32, n)
	for i, c := range changes {
		numbers[i], states[i], wanted[i], agents[i] = c.number, string(c.state), int32(c.wanted), c.agent
		awaits[i], support[i] = c.awaits, int32(c.support)
		if len(c.reasons) > 0 {
			text, err := json.Marshal(c.reasons)
			if err != nil {
				return fmt.Errorf("encoding the reasons of shard %d: %w", c.number, err)
			}
			reasons[i] = new(string)
			*reasons[i] = string(text)
		}
	}
	back := 0
	if reported {
		back = 1
	}
	_, err := store.Exec(ctx, tx, store.SettleShards, job, numbers, states, wanted, agents, reasons, awaits, back, support)
	return err
}

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

// placeJob moves a job that waits for nothing but people to the state that says for what, and back.
func placeJob(ctx context.Context, tx *store.Tx, job uuid.UUID) error {
	if _, _, err := store.Value[JobState](ctx, tx, store.LockJob, job); err != nil {
		return err
	}
	state, changed, err := store.Value[JobState](ctx, tx, store.PlaceJob, job)
	if err != nil || !changed {
		return err
	}
	switch state {
	case JobReview:
		return addEvent(ctx, tx, job, EventReview, map[string]any{"job": "waits for people: see its shards in review"})
	case JobHeld:
		return addEvent(ctx, tx, job, EventHeld, map[string]any{"job": "waits for an aggregator that works: aggregate it again"})
	default:
		return nil
	}
}

func reportCaught(ctx context.Context, tx *store.Tx, job uuid.UUID, c caughtAgent) error {
	detail := map[string]any{"agent": c.AgentID, "passed": c.Passed, "failed": c.Failed, "reason": c.reason}
	if err := addFlag(ctx, tx, job, nil, &c.AgentID, FlagCaught, EventAgentCaught, detail); err != nil {
		return err
	}
	return audit(ctx, tx, "server", "agent.catch", c.AgentID.String(), detail)
}

func wantsMore(changes []shardChange) bool {
	return slices.ContainsFunc(changes, func(c shardChange) bool { return c.wanted > 0 })
}
