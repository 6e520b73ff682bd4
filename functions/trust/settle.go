package trust

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/aggregation"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/flag"
	"github.com/ostraka/ostraka/functions/jobs"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/functions/trust/sql"
)

// Settlement is how Verify, Recheck and Taint write what they have decided.
type Settlement struct {
	Project uuid.UUID
	Job     uuid.UUID
	Weighed
	next     []functions.Step // besides those that follow
	reported bool             // every change comes with an attempt that an agent has reported
	tainted  *uuid.UUID       // whose results are taken back
	Reopened string           // why shards that were accepted are opened again
	Why      string           // the server is to execute shards; empty: it follows from the rest
}

// settle writes what was decided about some shards of a job, which the caller has locked: evidence, audits, shards, pages, flags and
// events, and enqueues what follows. Rows are locked in one order by all steps, so that none waits for another in a circle: a lease,
// shards, agents' trust, pages, each by number or ID, the job (every event locks it), and flags last.
func (s *Service) settle(ctx context.Context, tx *store.Tx, d Settlement) error {
	steps, err := s.Write(ctx, tx, d)
	if err != nil {
		return err
	}
	return s.env.Enqueue(ctx, tx, steps...)
}

// Write is settle without enqueueing, which leaves the project's role: it returns the steps that follow.
func (s *Service) Write(ctx context.Context, tx *store.Tx, d Settlement) ([]functions.Step, error) {
	judged, err := s.AddEvidence(ctx, tx, d)
	if err != nil {
		return nil, err
	}
	if err := writeShards(ctx, tx, d.Job, d.Changes, d.reported); err != nil {
		return nil, err
	}
	counted, err := jobs.CountPages(ctx, tx, d.Project, d.Job, jobs.PageDeltas(d.Changes, d.reported))
	if err != nil {
		return nil, err
	}
	refold, err := aggregation.TakeBack(ctx, tx, d.TakenBack(), counted)
	if err != nil {
		return nil, err
	}
	folds, err := jobs.ScoreFirst(ctx, tx, d.Job, append(counted.Settled, refold...))
	if err != nil {
		return nil, err
	}
	steps := slices.Concat(d.next, folds, judged.Steps)
	if counted.Drained || len(refold) > 0 || d.changesDrain() {
		if err := jobs.Place(ctx, tx, d.Job); err != nil {
			return nil, err
		}
		if d.Terms != nil || !d.reported { // otherwise every result is final
			more, err := jobs.Drain(ctx, tx, d.Project, d.Job)
			if err != nil {
				return nil, err
			}
			steps = append(steps, more...)
		}
	}
	if err := reportUnusual(ctx, tx, d.Job, d.Weighed); err != nil {
		return nil, err
	}
	for _, c := range judged.Caught {
		if err := ReportCaught(ctx, tx, d.Job, c); err != nil {
			return nil, err
		}
	}
	if wantsMore(d.Changes) {
		if err := base.Notify(ctx, tx, base.ChannelWork, d.Project); err != nil {
			return nil, err
		}
	}
	more, err := askRechecks(ctx, tx, d)
	return append(steps, more...), err
}

// changesDrain reports whether the change could complete a job whose results await audits: its shards are all accepted, and not all
// of them are final.
func (d Settlement) changesDrain() bool {
	return !d.reported && slices.ContainsFunc(d.Changes, func(c jobs.ShardChange) bool { return c.Unfinal || c.Was == functions.ShardOpen })
}

func writeShards(ctx context.Context, tx *store.Tx, job uuid.UUID, changes []jobs.ShardChange, reported bool) error {
	if len(changes) == 0 {
		return nil
	}
	n := len(changes)
	numbers, states, wanted := make([]int64, n), make([]string, n), make([]int32, n)
	agents, reasons, awaits, support := make([]*uuid.UUID, n), make([]*string, n), make([]*int64, n), make([]int32, n)
	rates := make([]*int16, n)
	for i, c := range changes {
		numbers[i], states[i], wanted[i], agents[i] = c.Number, string(c.State), int32(c.Wanted), c.Agent
		awaits[i], support[i], rates[i] = c.Awaits, int32(c.Support), (*int16)(c.Rate)
		if len(c.Reasons) > 0 {
			text, err := json.Marshal(c.Reasons)
			if err != nil {
				return fmt.Errorf("encoding the reasons of shard %d: %w", c.Number, err)
			}
			reasons[i] = new(string)
			*reasons[i] = string(text)
		}
	}
	back := 0
	if reported {
		back = 1
	}
	_, err := store.Exec(ctx, tx, sql.SettleShards, job, numbers, states, wanted, agents, reasons, awaits, back, support, rates)
	return err
}

// ReportCaught tells of an agent whom the evidence has just spoken against.
func ReportCaught(ctx context.Context, tx *store.Tx, job uuid.UUID, c CaughtAgent) error {
	detail := map[string]any{"agent": c.AgentID, "passed": c.Passed, "failed": c.Failed, "reason": c.reason}
	if err := flag.Add(ctx, tx, job, nil, &c.AgentID, flag.FlagCaught, base.EventAgentCaught, detail); err != nil {
		return err
	}
	return base.Audit(ctx, tx, "server", "agent.catch", c.AgentID.String(), detail)
}

func wantsMore(changes []jobs.ShardChange) bool {
	return slices.ContainsFunc(changes, func(c jobs.ShardChange) bool { return c.Wanted > 0 })
}

// TakenBack are its changes as those who fold results need them.
func (d Settlement) TakenBack() aggregation.TakenBack {
	return aggregation.TakenBack{Project: d.Project, Job: d.Job, Changes: d.Changes, Reason: d.Reopened, Tainted: d.tainted}
}
