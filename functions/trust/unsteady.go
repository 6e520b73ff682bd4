package trust

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/owner"
	"github.com/ostraka/ostraka/functions/stepargs"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/functions/trust/sql"
	"github.com/ostraka/ostraka/functions/verify"
)

// DoubtTime is how long the server executes one shard again at most before it accuses somebody. For functions that take longer a shard it
// is less sure, but nobody holds its sandbox for hours with a wrong answer.
const DoubtTime = 10 * time.Minute

// steadiness is what is known about whether a version of a function gives one answer.
type steadiness struct {
	Unsteady  int64 // shards to which the server gave two answers
	InJob     int64 // charges that came from one job
	InVersion int64 // and from all of the version, where some shard is unsteady
}

func readSteadiness(ctx context.Context, tx *store.Tx, job uuid.UUID) (steadiness, error) {
	s, _, err := store.One[steadiness](ctx, tx, sql.Steadiness, job)
	return s, err
}

// runs is how often the server may execute a shard before it accuses somebody, given what came of it so far. Runs without an answer say
// nothing, and are not made up for.
func (s steadiness) runs(runs []ServerRun) int {
	most, answered := verify.RunsFor(s.Unsteady, s.InJob), 0
	for _, r := range runs {
		if r.answered() {
			answered++
		}
		if r.WallMicros > 0 {
			most = min(most, int(DoubtTime/(time.Duration(r.WallMicros)*time.Microsecond)))
		}
	}
	if len(runs) >= most {
		most = answered
	}
	return max(most, verify.ServerRuns)
}

// limitRuns says how often the server may execute each shard before it accuses somebody: one shard of each agent that it accuses here until
// chance does not explain it, the others until it has given its answer twice.
func (b bench) limitRuns(runs map[int64][]ServerRun, known steadiness) {
	tried := map[uuid.UUID]bool{}
	for _, shard := range b.shards {
		of := runs[shard.Number]
		b.runs[shard.Number] = verify.ServerRuns
		for _, a := range b.attempts[shard.Number] {
			if !tried[a.AgentID] && b.opposes(a, of) {
				tried[a.AgentID] = true
				b.runs[shard.Number] = known.runs(of)
			}
		}
	}
}

// opposes says whether an agent's answer is another one than the server's first.
func (b bench) opposes(a attemptRow, runs []ServerRun) bool {
	i := slices.IndexFunc(runs, ServerRun.answered)
	if i < 0 || a.AgentID == functions.ServerAgent || a.Void || a.Status != verify.OK && a.Status != verify.Error {
		return false
	}
	own := runs[i].row()
	b.classes.replace(&own)
	return a.Status != own.Status || !bytes.Equal(a.Outcome, own.Outcome)
}

// forgive drops the charges of a settlement that may be the chance of a function which is not deterministic. What its results are worth is
// another matter: they are taken back all the same.
func (d Settlement) forgive(ctx context.Context, tx *store.Tx) (Settlement, error) {
	var charges int64
	for _, c := range d.Counts {
		charges += c.Failed
	}
	if charges == 0 {
		return d, nil
	}
	s, err := readSteadiness(ctx, tx, d.Job)
	if err != nil {
		return d, err
	}
	if found := int64(len(d.unsteady)); s.Unsteady == 0 && found > 0 { // right now
		s.Unsteady, s.InVersion = found, s.InJob
	}
	if !verify.Chance(s.Unsteady, s.InVersion+charges) {
		return d, nil
	}
	for _, c := range d.Counts {
		c.Failed, c.AuditsFailed = 0, 0
	}
	d.alike = nil
	return d, nil
}

// excusePage is how many charges one transaction takes back.
const excusePage = 200

// reasonUnsteady is why they are taken back.
const reasonUnsteady = "the function does not give one answer: the server itself got two"

// noteUnsteady notes shards to which the server gave two answers.
func (d Settlement) noteUnsteady(ctx context.Context, tx *store.Tx) ([]functions.Step, error) {
	if len(d.unsteady) == 0 {
		return nil, nil
	}
	if _, err := store.Exec(ctx, tx, sql.AddUnsteady, d.Job, d.unsteady); err != nil {
		return nil, err
	}
	return []functions.Step{stepargs.ExcuseUnsteadyArgs{Project: d.Project, Job: d.Job}}, nil
}

type chargedRow struct {
	JobID   uuid.UUID
	AgentID uuid.UUID
	Owner   string
}

// ExcuseUnsteady voids charges as long as chance explains them: where liars were caught in plenty, a shard that is not steady excuses none.
func (s *Service) ExcuseUnsteady(ctx context.Context, args stepargs.ExcuseUnsteadyArgs) error {
	for more := true; more; {
		err := s.env.Project(ctx, args.Project, func(tx *store.Tx) error {
			more = false
			known, err := readSteadiness(ctx, tx, args.Job)
			if err != nil || !verify.Chance(known.Unsteady, known.InVersion) {
				return err
			}
			rows, err := store.Many[chargedRow](ctx, tx, sql.ChargedByVersion, args.Job, excusePage)
			if err != nil || len(rows) == 0 {
				return err
			}
			more = len(rows) == excusePage
			return excuseUnsteady(ctx, tx, args, rows)
		})
		if err != nil {
			return fmt.Errorf("excusing the agents of job %s: %w", args.Job, err)
		}
	}
	return nil
}

func excuseUnsteady(ctx context.Context, tx *store.Tx, args stepargs.ExcuseUnsteadyArgs, rows []chargedRow) error {
	agents := map[uuid.UUID]bool{}
	hands := map[uuid.UUID][]string{}
	for _, r := range rows {
		agents[r.AgentID] = true
		hands[r.JobID] = append(hands[r.JobID], owner.Hand(r.Owner, r.AgentID))
	}
	if _, err := store.Values[uuid.UUID](ctx, tx, store.LockTrust, InOrder(agents)); err != nil {
		return err
	}
	for _, job := range InOrder(hands) {
		if _, err := store.Exec(ctx, tx, sql.ForgetWrongAlike, job, hands[job]); err != nil {
			return err
		}
	}
	released := map[uuid.UUID]bool{}
	for _, r := range rows {
		row, found, err := store.One[trustRow](ctx, tx, sql.VoidCharges, r.JobID, r.AgentID)
		if err != nil {
			return err
		}
		if !found {
			continue
		}
		free, err := release(ctx, tx, row)
		if err != nil {
			return err
		}
		released[r.AgentID] = released[r.AgentID] || free
		detail := map[string]any{"job": r.JobID, "reason": reasonUnsteady, "released": free}
		if err := base.Audit(ctx, tx, "server", "agent.excuse", r.AgentID.String(), detail); err != nil {
			return err
		}
	}
	return tellReleased(ctx, tx, args.Project, args.Job, released, reasonUnsteady)
}

// release lets a caught agent go where nothing speaks against it any more. Its trust is locked.
func release(ctx context.Context, tx *store.Tx, row trustRow) (bool, error) {
	if !row.Caught {
		return false, nil
	}
	known := row.evidence(false)
	known.Caught = false
	if standing, _ := verify.StandingOf(known); standing != verify.Active {
		return false, nil
	}
	_, err := store.Exec(ctx, tx, sql.ReleaseAgent, row.AgentID)
	return true, err
}

// tellReleased settles the flags on agents that were let go, and wakes those of them that wait for work. The job is locked before flags.
func tellReleased(ctx context.Context, tx *store.Tx, project, job uuid.UUID, released map[uuid.UUID]bool, why string) error {
	if _, _, err := store.Value[functions.JobState](ctx, tx, store.LockJob, job); err != nil {
		return err
	}
	for _, agent := range InOrder(released) {
		if !released[agent] {
			continue
		}
		if _, err := store.Exec(ctx, tx, store.DismissCaughtFlags, agent, why, "server", uuid.Nil); err != nil {
			return err
		}
		if err := base.AddEvent(ctx, tx, job, base.EventAgentReleased, map[string]any{"agent": agent, "reason": why}); err != nil {
			return err
		}
	}
	return base.Notify(ctx, tx, base.ChannelWork, project)
}
