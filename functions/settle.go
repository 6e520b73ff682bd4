package functions

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions/partition"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/functions/verify"
)

// settle writes what was decided about a submission: shards, pages, evidence, flags and events, and enqueues what follows. Rows are
// locked in one order by all steps, so that none waits for another in a circle: a lease, shards, pages, agents' trust, each by number
// or ID, and the job last (every event locks it).
func (s *Service) settle(ctx context.Context, tx *store.Tx, project uuid.UUID, sub submissionRow, w weighed) error {
	if err := writeShards(ctx, tx, sub.JobID, w.changes); err != nil {
		return err
	}
	counted, err := countPages(ctx, tx, project, sub.JobID, pageDeltas(w.changes, true))
	if err != nil {
		return err
	}
	caught, err := addEvidence(ctx, tx, w.deltas)
	if err != nil {
		return err
	}
	if err := reportUnusual(ctx, tx, sub.JobID, w); err != nil {
		return err
	}
	steps := counted.settled
	for _, c := range caught {
		if err := reportCaught(ctx, tx, sub.JobID, c); err != nil {
			return err
		}
		steps = append(steps, RevokeArgs{Project: project, Agent: c.AgentID})
	}
	if counted.drained {
		if err := placeJob(ctx, tx, sub.JobID); err != nil {
			return err
		}
	}
	if wantsMore(w.changes) {
		if err := notify(ctx, tx, channelWork, project); err != nil {
			return err
		}
	}
	return s.enqueue(ctx, tx, steps...)
}

func writeShards(ctx context.Context, tx *store.Tx, job uuid.UUID, changes []shardChange) error {
	n := len(changes)
	numbers, states, wanted := make([]int64, n), make([]string, n), make([]int32, n)
	agents, reasons := make([]*uuid.UUID, n), make([]*string, n)
	for i, c := range changes {
		numbers[i], states[i], wanted[i], agents[i] = c.number, string(c.state), int32(c.wanted), c.agent
		if len(c.reasons) > 0 {
			text, err := json.Marshal(c.reasons)
			if err != nil {
				return fmt.Errorf("encoding the reasons of shard %d: %w", c.number, err)
			}
			reasons[i] = new(string)
			*reasons[i] = string(text)
		}
	}
	_, err := store.Exec(ctx, tx, store.SettleShards, job, numbers, states, wanted, agents, reasons)
	return err
}

// pageDelta is how the counts of a page change.
type pageDelta struct {
	counts   map[ShardState]int
	attempts int
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
		if attempts {
			d.attempts++
		}
		deltas[page] = d
	}
	return deltas
}

type pageRow struct {
	Number int64
	Open   int
	Review int
}

// counted is what followed from the counts of pages.
type counted struct {
	settled []Step // that fold the pages which are settled by it
	drained bool   // some page has no open shard any more
}

// countPages moves the counts of pages, in the order of their numbers.
func countPages(ctx context.Context, tx *store.Tx, project, job uuid.UUID, deltas map[int64]pageDelta) (c counted, err error) {
	for _, page := range slices.Sorted(maps.Keys(deltas)) {
		d := deltas[page]
		row, found, err := store.One[pageRow](ctx, tx, store.CountPage, job, page, d.counts[ShardOpen], d.counts[ShardAccepted],
			d.counts[ShardReview], d.counts[ShardFailed], d.counts[ShardCancelled], d.attempts)
		if err != nil {
			return c, err
		}
		if !found {
			return c, fmt.Errorf("job %s has shards but no page %d", job, page)
		}
		if d.counts[ShardOpen] == 0 && d.counts[ShardReview] == 0 {
			continue
		}
		c.drained = c.drained || row.Open == 0
		if row.Open == 0 && row.Review == 0 {
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

// caughtAgent is an agent whom the evidence has just spoken against.
type caughtAgent struct {
	trustRow
	reason string
}

// addEvidence adds to the agents' evidence, in the order of their IDs, and marks those whom it speaks against: they are lent nothing
// any more. Their leases are taken back by the revoke step.
func addEvidence(ctx context.Context, tx *store.Tx, deltas map[uuid.UUID]verify.Delta) (caught []caughtAgent, err error) {
	agents := slices.SortedFunc(maps.Keys(deltas), func(a, b uuid.UUID) int { return bytes.Compare(a[:], b[:]) })
	for _, agent := range agents {
		row, _, err := store.One[trustRow](ctx, tx, store.AddEvidence, agent, deltas[agent].Passed, deltas[agent].Failed)
		if err != nil {
			return nil, err
		}
		standing, reason := verify.StandingOf(verify.Evidence{Passed: row.Passed, Failed: row.Failed})
		if row.Caught || standing != verify.Caught {
			continue
		}
		if _, err := store.Exec(ctx, tx, store.CatchAgent, agent, reason); err != nil {
			return nil, err
		}
		caught = append(caught, caughtAgent{trustRow: row, reason: reason})
	}
	return caught, nil
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
