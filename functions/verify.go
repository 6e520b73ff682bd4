package functions

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/functions/verify"
)

// VerifyArgs is the step that weighs the results of one submission.
type VerifyArgs struct {
	Project    uuid.UUID `json:"project"`
	Submission uuid.UUID `json:"submission"`
}

// Kind names the step.
func (VerifyArgs) Kind() string { return "verify" }

type submissionRow struct {
	JobID   uuid.UUID
	AgentID uuid.UUID
	Shards  []int64
	Policy  verify.Policy
	State   JobState
	// Validator compares answers that differ, see compare.go.
	Validator *ValidatorRef
}

type shardRow struct {
	Number  int64
	State   ShardState
	Lent    int
	AgentID *uuid.UUID
}

type attemptRow struct {
	Shard   int64
	AgentID uuid.UUID
	Status  verify.Status
	Outcome []byte
	Founder bool `db:"-"` // the others of its class were compared with this one
}

type trustRow struct {
	AgentID uuid.UUID
	Passed  int64
	Failed  int64
	Caught  bool
}

// Verify decides what becomes of the shards of a submission. The shards' rows are locked in the order of their numbers, so that two
// submissions with a shard in common are weighed one after the other; a submission that was weighed already is left alone.
func (s *Service) Verify(ctx context.Context, args VerifyArgs) error {
	var w weighed
	err := s.project(ctx, args.Project, func(tx *store.Tx) error {
		w = weighed{}
		sub, found, err := store.One[submissionRow](ctx, tx, store.TakeSubmission, args.Submission)
		if err != nil || !found {
			return err
		}
		if w, err = weigh(ctx, tx, args.Submission, sub); err != nil {
			return err
		}
		if err := w.tellExceptions(ctx, tx, sub.JobID); err != nil {
			return err
		}
		return s.settle(ctx, tx, args.Project, sub, w)
	})
	if errors.Is(err, errCompareFirst) {
		return s.compareFirst(ctx, args)
	}
	if err != nil {
		return fmt.Errorf("verifying submission %s: %w", args.Submission, err)
	}
	for _, c := range w.changes {
		if c.verdict != "" {
			s.observe.Verdicts(string(c.verdict), 1)
		}
	}
	return nil
}

// weighed is what Verify has decided: pure data, so that writing it is one place.
type weighed struct {
	changes []shardChange
	deltas  map[uuid.UUID]verify.Delta
	late    []attemptRow // results that contradict what was accepted before they came

	agent    uuid.UUID // whose submission it is
	attempts map[int64][]attemptRow
}

type shardChange struct {
	number  int64
	was     ShardState
	state   ShardState
	wanted  int
	agent   *uuid.UUID
	reasons []verify.Reason
	verdict verify.Decision

	disagree []uuid.UUID // agents with another answer than the accepted one
}

func weigh(ctx context.Context, tx *store.Tx, submission uuid.UUID, sub submissionRow) (weighed, error) {
	shards, err := store.Many[shardRow](ctx, tx, store.LockShards, sub.JobID, sub.Shards)
	if err != nil {
		return weighed{}, err
	}
	attempts, err := store.Many[attemptRow](ctx, tx, store.WeighableAttempts, sub.JobID, sub.Shards, submission)
	if err != nil {
		return weighed{}, err
	}
	classes, err := loadClasses(ctx, tx, sub)
	if err != nil {
		return weighed{}, err
	}
	if err := classes.apply(attempts); err != nil {
		return weighed{}, err
	}
	byShard := map[int64][]attemptRow{}
	agents := map[uuid.UUID]bool{}
	for _, a := range attempts {
		byShard[a.Shard] = append(byShard[a.Shard], a)
		agents[a.AgentID] = true
	}
	evidence, err := loadEvidence(ctx, tx, agents)
	if err != nil {
		return weighed{}, err
	}
	w := weighed{deltas: map[uuid.UUID]verify.Delta{}, agent: sub.AgentID, attempts: byShard}
	for _, shard := range shards {
		if shard.State == ShardOpen {
			w.decide(sub.Policy, shard, byShard[shard.Number], evidence)
		} else {
			w.judgeLate(sub, shard, byShard[shard.Number], evidence)
		}
	}
	classes.review(w.changes)
	return w, nil
}

func loadEvidence(ctx context.Context, tx *store.Tx, agents map[uuid.UUID]bool) (map[string]verify.Evidence, error) {
	ids := make([]uuid.UUID, 0, len(agents))
	for id := range agents {
		ids = append(ids, id)
	}
	rows, err := store.Many[trustRow](ctx, tx, store.GetTrust, ids)
	if err != nil {
		return nil, err
	}
	evidence := make(map[string]verify.Evidence, len(rows))
	for _, r := range rows {
		evidence[r.AgentID.String()] = verify.Evidence{Passed: r.Passed, Failed: r.Failed, Caught: r.Caught}
	}
	return evidence, nil
}

// decide asks the verdict engine. lent counts the attempts that are out and those in submissions that are not weighed yet; this
// submission's own is in attempts by now.
func (w *weighed) decide(policy verify.Policy, shard shardRow, attempts []attemptRow, evidence map[string]verify.Evidence) {
	inputs := make([]verify.Attempt, 0, len(attempts)+shard.Lent)
	agents := make(map[string]uuid.UUID, len(attempts))
	for _, a := range attempts {
		inputs = append(inputs, a.input())
		agents[a.AgentID.String()] = a.AgentID
	}
	for i := range max(shard.Lent-1, 0) {
		inputs = append(inputs, verify.Attempt{ID: fmt.Sprintf("out-%d", i), State: verify.Leased})
	}
	verdict := verify.Decide(policy, inputs, evidence, verify.Means{})
	change := shardChange{number: shard.Number, was: ShardOpen, state: ShardOpen, wanted: verdict.Wanted, verdict: verdict.Decision}
	switch verdict.Decision {
	case verify.Accept:
		agent := canonicalAgent(verdict, attempts, agents)
		change.state, change.agent = ShardAccepted, &agent
	case verify.Review:
		change.state, change.reasons = ShardReview, verdict.Reasons
	case verify.Fail:
		change.state, change.reasons = ShardFailed, verdict.Reasons
	default:
		change.reasons = verdict.Reasons
	}
	if verdict.Decision == verify.Accept && len(verdict.Disagree) > 0 {
		change.reasons = verdict.Reasons
		for _, vote := range verdict.Disagree {
			change.disagree = append(change.disagree, agents[vote.Agent])
		}
	}
	w.changes = append(w.changes, change)
	for _, d := range verdict.Deltas() {
		w.add(agents[d.Agent], d)
	}
}

func (a attemptRow) input() verify.Attempt {
	return verify.Attempt{
		// An agent has one attempt of a shard, so that its ID names the attempt as well.
		ID: a.AgentID.String(), Agent: a.AgentID.String(),
		State: verify.Reported, Status: a.Status, Digest: hex.EncodeToString(a.Outcome),
	}
}

func (w *weighed) add(agent uuid.UUID, d verify.Delta) {
	sum := w.deltas[agent]
	sum.Passed += d.Passed
	sum.Failed += d.Failed
	w.deltas[agent] = sum
}

// judgeLate draws evidence from a result that came after its shard was settled. The support of caught agents counts for nothing.
func (w *weighed) judgeLate(sub submissionRow, shard shardRow, attempts []attemptRow, evidence map[string]verify.Evidence) {
	w.changes = append(w.changes, shardChange{number: shard.Number, was: shard.State, state: shard.State, agent: shard.AgentID})
	if shard.State != ShardAccepted || shard.AgentID == nil {
		return
	}
	var accepted verify.Accepted
	var own *attemptRow
	for i, a := range attempts {
		if a.AgentID == *shard.AgentID {
			accepted.Digest = hex.EncodeToString(a.Outcome)
		}
		if a.AgentID == sub.AgentID {
			own = &attempts[i]
		}
	}
	for _, a := range attempts {
		standing, _ := verify.StandingOf(evidence[a.AgentID.String()])
		if a.AgentID != sub.AgentID && standing != verify.Caught && a.Status == verify.OK && hex.EncodeToString(a.Outcome) == accepted.Digest {
			accepted.Support++
		}
	}
	if own == nil || own.AgentID == *shard.AgentID {
		return
	}
	delta, contradiction := verify.Late(accepted, own.input())
	if delta.Passed != 0 || delta.Failed != 0 {
		w.add(own.AgentID, delta)
	}
	if contradiction {
		w.late = append(w.late, *own)
	}
}
