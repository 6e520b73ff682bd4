package trust

import (
	"context"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/functions/trust/sql"
	"github.com/ostraka/ostraka/functions/verify"
)

// staleRechecks is how many shards of a job that no server executes are given to agents at a time.
const staleRechecks = 1024

// reasonNoRechecker stands beside the reasons of package verify: it does not come from results.
const reasonNoRechecker verify.ReasonCode = "no_rechecker"

// askAgentsInstead gives up waiting for the server where none that can execute shards was seen for RecheckerGone, or where those that there
// are had no results for this project for as long: audits and doubts that were its to settle go to further agents, as many as make an answer credible without it. What a quorum has accepted stands. A policy that wants every shard executed by
// the server keeps waiting, which job explain says.
func (s *Service) askAgentsInstead(ctx context.Context, project, job uuid.UUID) error {
	return s.env.Project(ctx, project, func(tx *store.Tx) error {
		j, found, err := store.One[recheckJob](ctx, tx, sql.RecheckJob, job)
		if err != nil || !found || j.State.Ended() || j.Policy.TargetError == 0 && j.Policy.Quorum == 0 {
			return err
		}
		quorum := j.Policy.Quorum > 0
		asked := j.Policy
		if quorum {
			asked = verify.Policy{Recheck: verify.RecheckAll}
		}
		terms, err := s.AuditTerms(ctx, tx, project, job, asked)
		if err != nil || terms == nil {
			return err
		}
		why := noRechecker()
		if terms.Rechecks {
			stuck, _, err := store.Value[bool](ctx, tx, sql.RechecksStuck, job, functions.RecheckerGone)
			if err != nil || !stuck {
				return err
			}
			why = noTurnFor()
		}
		numbers, err := store.Values[int64](ctx, tx, sql.StaleRechecks, job, functions.RecheckerGone, staleRechecks, !terms.Rechecks)
		if err != nil || len(numbers) == 0 {
			return err
		}
		if quorum {
			return s.letQuorumStand(ctx, tx, project, job, numbers)
		}
		b, err := readBench(ctx, tx, SubmissionRow{JobID: job, Shards: numbers, Policy: j.Policy, Validator: j.Validator}, uuid.Nil, terms)
		if err != nil {
			return err
		}
		dropped, err := store.Values[int64](ctx, tx, sql.DropRechecks, job, numbers)
		if err != nil || len(dropped) == 0 { // a server has come back, and was quicker
			return err
		}
		w := Weighed{Counts: map[uuid.UUID]*Count{}, Terms: terms}
		for _, shard := range b.shards {
			if slices.Contains(dropped, shard.Number) {
				w.unrechecked(b, shard, why)
			}
		}
		return s.settle(ctx, tx, Settlement{Project: project, Job: job, Weighed: w, Reopened: why})
	})
}

func noRechecker() string {
	return fmt.Sprintf("no server that can execute shards was seen for %v: further agents are asked in its place", functions.RecheckerGone)
}

func noTurnFor() string {
	return fmt.Sprintf("the servers that execute shards had no results for this project in %v: further agents are asked in their place", functions.RecheckerGone)
}

// unrechecked is a shard that the server was to execute, and no server does. Its audits go on, and agents end them: one that fails counts
// as if the server had found it out.
func (w *Weighed) unrechecked(b bench, shard ShardRow, why string) {
	if shard.State != functions.ShardOpen && shard.State != functions.ShardAccepted {
		w.endVoid(b, shard, why)
		return
	}
	w.replicate(shard, verify.Reason{Code: reasonNoRechecker, Text: why}, why)
	w.Changes[len(w.Changes)-1].Support = max(shard.Support, b.terms.Bound.Voices)
}
