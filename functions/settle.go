package functions

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/google/uuid"

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
	refold, err := takeBackFolds(ctx, tx, d.takenBack(), counted)
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

// takenBack are its changes as those who fold results need them.
func (d settlement) takenBack() takenBack {
	return takenBack{project: d.project, job: d.job, changes: d.changes, reason: d.reopened, tainted: d.tainted}
}
