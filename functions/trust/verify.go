package trust

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/flag"
	"github.com/ostraka/ostraka/functions/jobs"
	"github.com/ostraka/ostraka/functions/stepargs"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/functions/trust/sql"
	"github.com/ostraka/ostraka/functions/verify"
)

// SubmissionRow is what a submission is weighed by.
type SubmissionRow struct {
	JobID   uuid.UUID
	AgentID uuid.UUID
	Shards  []int64
	Policy  verify.Policy
	State   functions.JobState
	// Validator compares answers that differ, see compare.go.
	Validator *functions.ValidatorRef
}

// ShardRow is a shard that is decided about, with its row locked.
type ShardRow struct {
	Number  int64
	State   functions.ShardState
	Lent    int
	Wanted  int
	AgentID *uuid.UUID
	Awaits  *int64 // of a result that is not final: its window
	Support int
}

type attemptRow struct {
	Shard   int64
	AgentID uuid.UUID
	Status  verify.Status
	Outcome []byte
	Founder bool `db:"-"` // the others of its class were compared with this one
	Void    bool // it was taken back
	Matters bool // by the job's condition over outputs
	output  []byte
	// unjudged is why the condition could not be asked, of a result that matters for that.
	unjudged string
}

type trustRow struct {
	AgentID      uuid.UUID
	Passed       int64
	Failed       int64
	Caught       bool
	AuditsPassed int64
	AuditsFailed int64
	SinceFailure int64
	// What it had passed when it was last excused for its platform.
	ExcusedPassed int64
	ExcusedAudits int64
}

// evidence is what the row says about the agent. Where results are audited nothing but audits make a record: what agents confirm of one
// another they may have agreed upon.
func (r trustRow) evidence(audited bool) verify.Evidence {
	record := r.Passed - r.ExcusedPassed
	if audited {
		record = r.AuditsPassed - r.ExcusedAudits
	}
	return verify.Evidence{Passed: r.Passed, Failed: r.Failed, Caught: r.Caught, SinceFailure: r.SinceFailure, Record: max(0, record)}
}

// Unchanged leaves the shard as it is.
func (r ShardRow) Unchanged() jobs.ShardChange {
	return jobs.ShardChange{
		Number: r.Number, Was: r.State, State: r.State, Wanted: r.Wanted, Agent: r.AgentID, AgentWas: r.AgentID,
		Awaits: r.Awaits, Unfinal: r.Awaits != nil, Provisional: r.Awaits != nil, Support: r.Support,
	}
}

// Verify decides what becomes of the shards of a submission. The shards' rows are locked in the order of their numbers, so that two
// submissions with a shard in common are weighed one after the other; a submission that was weighed already is left alone.
func (s *Service) Verify(ctx context.Context, args stepargs.VerifyArgs) error {
	var w Weighed
	judged, err := s.judgeOutputs(ctx, args)
	if err != nil {
		return err
	}
	weigh := func(tx *store.Tx) error {
		w = Weighed{}
		sub, found, err := store.One[SubmissionRow](ctx, tx, sql.TakeSubmission, args.Submission)
		if err != nil || !found {
			return err
		}
		terms, err := s.AuditTerms(ctx, tx, args.Project, sub.JobID, sub.Policy)
		if err != nil {
			return err
		}
		if sub.Policy.Confirm != "" && judged == nil {
			return errUnjudged
		}
		spot, err := s.spotChecks(ctx, tx, args.Project, sub.JobID, sub.Policy)
		if err != nil {
			return err
		}
		if w, err = weighSubmission(ctx, tx, args.Submission, sub, terms, spot, judged); err != nil {
			return err
		}
		if err := w.tellExceptions(ctx, tx, sub.JobID); err != nil {
			return err
		}
		return s.settle(ctx, tx, Settlement{Project: args.Project, Job: sub.JobID, Weighed: w, reported: true})
	}
	err = s.env.Project(ctx, args.Project, weigh)
	if errors.Is(err, errCaughtMeanwhile) { // which its evidence says now
		err = s.env.Project(ctx, args.Project, weigh)
	}
	if errors.Is(err, errCompareFirst) {
		return s.compareFirst(ctx, args)
	}
	if err != nil {
		return fmt.Errorf("verifying submission %s: %w", args.Submission, err)
	}
	s.observe(w)
	return nil
}

// observe counts what was decided, once it is written.
func (s *Service) observe(w Weighed) {
	for _, c := range w.Changes {
		if c.Verdict != "" {
			s.env.Observe.Verdicts(string(c.Verdict), 1)
		}
	}
	for _, a := range w.Verdicts {
		s.env.Observe.Audits(a.State, 1)
	}
}

// Weighed is what a step has decided about shards: pure data, so that writing it is one place.
type Weighed struct {
	Changes  []jobs.ShardChange
	Counts   map[uuid.UUID]*Count
	late     []attemptRow   // results that contradict what was accepted before they came
	draws    []OpenAudit    // results that are audited
	Verdicts []AuditVerdict // audits that have ended
	Rechecks []int64        // shards that the server is to execute
	Marks    []flag.Mark    // flags besides those that follow from the changes
	alike    []alikeRow     // who was wrong alike
	excused  []uuid.UUID    // agents that disagree since their platform does
	unsteady []int64        // shards to which the server gave two answers
	claims   []claim        // attempts that ended without an answer, at shards that are decided
	// platforms says that agents of a platform other than the server's were contradicted: the job's platforms are to be compared.
	platforms bool
	Terms     *AuditTerms // nil: the policy has no bound

	agent    uuid.UUID // whose submission it is
	attempts map[int64][]attemptRow
}

func weighSubmission(ctx context.Context, tx *store.Tx, submission uuid.UUID, sub SubmissionRow, terms *AuditTerms, spot *spotChecks, judged matters) (Weighed, error) {
	b, err := readBench(ctx, tx, sub, submission, terms)
	b.spot = spot
	if err != nil {
		return Weighed{}, err
	}
	if b.uncompared {
		return Weighed{}, errCompareFirst
	}
	if err := judged.note(ctx, tx, sub, b); err != nil {
		return Weighed{}, err
	}
	w := Weighed{Counts: map[uuid.UUID]*Count{}, Terms: terms, agent: sub.AgentID, attempts: b.attempts}
	for _, shard := range b.shards {
		if shard.State == functions.ShardOpen {
			shard.Lent-- // this submission's own is in attempts by now
			w.decide(b, shard)
		} else {
			w.judgeLate(sub, shard, b)
		}
	}
	b.classes.review(w.Changes)
	return w, nil
}

// bench is all that shards of a job are judged by. Their rows are locked.
type bench struct {
	job      uuid.UUID
	policy   verify.Policy
	terms    *AuditTerms
	spot     *spotChecks
	shards   []ShardRow
	attempts map[int64][]attemptRow
	audits   map[int64][]OpenAudit
	evidence map[string]verify.Evidence
	lenders  map[uuid.UUID]lenderRow
	raises   raises
	classes  *classes
	runs     map[int64]int // how often the server may execute a shard before it accuses somebody, of those that it has executed now
	// uncompared says that some answers have no class yet, which the job's validator is to give them.
	uncompared bool
}

// lenderRow is the kind of an agent's machine when it leased shards of the job, and the evidence about it. The server is one, too.
type lenderRow struct {
	trustRow
	Owner   string
	Block   string
	Class   string
	Vouched int64 // audits that it passed before the server, or before owners with a record
}

func readBench(ctx context.Context, tx *store.Tx, sub SubmissionRow, submission uuid.UUID, terms *AuditTerms) (b bench, err error) {
	b = bench{job: sub.JobID, policy: sub.Policy, terms: terms, attempts: map[int64][]attemptRow{}, audits: map[int64][]OpenAudit{}, runs: map[int64]int{}, lenders: map[uuid.UUID]lenderRow{}}
	if b.shards, err = store.Many[ShardRow](ctx, tx, store.LockShards, sub.JobID, sub.Shards); err != nil {
		return b, err
	}
	attempts, err := store.Many[attemptRow](ctx, tx, sql.WeighableAttempts, sub.JobID, sub.Shards, submission)
	if err != nil {
		return b, err
	}
	if b.classes, err = loadClasses(ctx, tx, sub); err != nil {
		return b, err
	}
	if err := b.classes.apply(attempts); err != nil {
		b.uncompared = true
	}
	agents := map[uuid.UUID]bool{functions.ServerAgent: true}
	for _, a := range attempts {
		b.attempts[a.Shard] = append(b.attempts[a.Shard], a)
		agents[a.AgentID] = true
	}
	if err := b.readLenders(ctx, tx, agents); err != nil {
		return b, err
	}
	return b, b.readAudits(ctx, tx, sub.Shards, InOrder(agents))
}

// readAudits reads what only policies need with which the server may execute shards.
func (b *bench) readAudits(ctx context.Context, tx *store.Tx, numbers []int64, agents []uuid.UUID) error {
	if b.terms == nil {
		return nil
	}
	audits, err := store.Many[OpenAudit](ctx, tx, store.OpenAudits, b.job, numbers)
	if err != nil {
		return err
	}
	for _, a := range audits {
		b.audits[a.Shard] = append(b.audits[a.Shard], a)
	}
	b.raises, err = readRaises(ctx, tx, b.job, agents)
	return err
}

// decide asks the verdict engine about a shard that is open, or accepted and audited. lent counts the attempts that are out and those in
// submissions that are not weighed yet.
func (w *Weighed) decide(b bench, shard ShardRow) {
	verdict := b.ask(shard)
	change := jobs.ShardChange{
		Number: shard.Number, Was: shard.State, AgentWas: shard.AgentID, Unfinal: shard.Awaits != nil, State: functions.ShardOpen, Wanted: verdict.Wanted,
		Support: shard.Support, Verdict: verdict.Decision, Reasons: verdict.Reasons,
	}
	switch verdict.Decision {
	case verify.Accept:
		change.State, change.Support = functions.ShardAccepted, 0
		change.Agent = b.accepted(shard, verdict)
		if len(verdict.Disagree) == 0 {
			change.Reasons = nil
		}
		if verdict.Proven {
			change.Reasons = verdict.Reasons
		}
	case verify.Review:
		change.State = functions.ShardReview
	case verify.Fail:
		change.State = functions.ShardFailed
	case verify.Recheck:
		w.Rechecks = append(w.Rechecks, shard.Number)
	case verify.Replicate, verify.Wait: // as it was
	}
	if verdict.Decision == verify.Accept {
		for _, vote := range verdict.Disagree {
			change.Disagree = append(change.Disagree, uuid.MustParse(vote.Agent))
		}
	}
	if w.endAudits(b, shard, verdict); verdict.Provisional {
		w.provisional(b, shard, &change)
	}
	checked := w.spotCheck(b, shard, &change)
	if verdict.Divergence != "" {
		w.Marks = append(w.Marks, b.divergence(shard, verdict))
	}
	if verdict.Divergence == verify.Unstable {
		w.unsteady = append(w.unsteady, shard.Number)
	}
	for _, vote := range verdict.Excused {
		w.excused = append(w.excused, uuid.MustParse(vote.Agent))
	}
	w.Changes = append(w.Changes, change)
	for _, d := range verdict.Deltas() {
		if id := uuid.MustParse(d.Agent); id != functions.ServerAgent && !checked {
			w.add(id, d)
		}
	}
	w.weighClaims(b, shard, verdict)
	w.alike = append(w.alike, b.wrongAlike(shard, verdict)...)
	w.platforms = w.platforms || b.comparesPlatforms(verdict)
}

// ask asks the verdict engine.
func (b bench) ask(shard ShardRow) verify.Verdict {
	inputs := b.inputs(shard.Number)
	for i := range max(shard.Lent, 0) {
		inputs = append(inputs, verify.Attempt{ID: fmt.Sprintf("out-%d", i), State: verify.Leased})
	}
	means := b.terms.means(shard.Support)
	means.Runs = b.runs[shard.Number]
	return verify.Decide(b.policy, inputs, b.evidence, means)
}

func (b bench) inputs(shard int64) []verify.Attempt {
	attempts := b.attempts[shard]
	inputs := make([]verify.Attempt, 0, len(attempts))
	for i, a := range attempts {
		inputs = append(inputs, b.input(a, i))
	}
	return inputs
}

func (b bench) input(a attemptRow, nth int) verify.Attempt {
	in := a.input()
	if a.AgentID == functions.ServerAgent {
		in.ID, in.Agent, in.Server = fmt.Sprintf("%s-%d", a.AgentID, nth), "", true
	}
	if l, found := b.lenders[a.AgentID]; found {
		in.Owner, in.Block, in.Class = l.Owner, l.Block, l.Class
	}
	return in
}

// accepted is the agent whose result is taken: the one whose result was taken before, where it gave the same answer, so that nothing is
// folded again for nothing.
func (b bench) accepted(shard ShardRow, v verify.Verdict) *uuid.UUID {
	if shard.State == functions.ShardAccepted && shard.AgentID != nil {
		for _, a := range b.attempts[shard.Number] {
			if a.AgentID == *shard.AgentID && a.Status == v.Status && hex.EncodeToString(a.Outcome) == v.Digest {
				return shard.AgentID
			}
		}
	}
	agent := functions.ServerAgent
	if len(v.Agree) > 0 {
		agent = canonicalAgent(v, b.attempts[shard.Number])
	}
	return &agent
}

func (a attemptRow) input() verify.Attempt {
	return verify.Attempt{
		// An agent has one attempt of a shard, so that its ID names the attempt as well.
		ID: a.AgentID.String(), Agent: a.AgentID.String(),
		State: verify.Reported, Status: a.Status, Digest: hex.EncodeToString(a.Outcome), Void: a.Void,
	}
}

func (w *Weighed) add(agent uuid.UUID, d verify.Delta) {
	sum := w.Of(agent)
	sum.Passed += d.Passed
	sum.Failed += d.Failed
}

// Of is how the agent's row of trust changes.
func (w *Weighed) Of(agent uuid.UUID) *Count {
	if w.Counts[agent] == nil {
		w.Counts[agent] = &Count{}
	}
	return w.Counts[agent]
}

// judgeLate draws evidence from a result that came after its shard was settled. The support of caught agents counts for nothing, and that
// of several agents of one owner, or of the late one's own, for no more than one.
func (w *Weighed) judgeLate(sub SubmissionRow, shard ShardRow, b bench) {
	w.Changes = append(w.Changes, shard.Unchanged())
	if shard.State != functions.ShardAccepted || shard.AgentID == nil {
		return
	}
	inputs := b.inputs(shard.Number)
	var accepted verify.Accepted
	var own *attemptRow
	var input verify.Attempt
	for i, a := range b.attempts[shard.Number] {
		if a.AgentID == *shard.AgentID {
			accepted.Digest = hex.EncodeToString(a.Outcome)
		}
		if a.AgentID == sub.AgentID {
			own, input = &b.attempts[shard.Number][i], inputs[i]
		}
	}
	if own == nil || own.AgentID == *shard.AgentID {
		return
	}
	w.claims = append(w.claims, b.claims(shard.Number, true)...)
	var support []verify.Attempt
	for _, a := range inputs {
		standing, _ := verify.StandingOf(b.evidence[a.Agent])
		if a.ID != input.ID && standing != verify.Caught && a.Status == verify.OK && a.Digest == accepted.Digest {
			support = append(support, a)
		}
	}
	accepted.Support = verify.Voices(verify.Accusers(b.policy, support, b.evidence), b.evidence)
	delta, contradiction := verify.Late(accepted, input)
	if delta.Passed != 0 || delta.Failed != 0 {
		w.add(own.AgentID, delta)
	}
	if contradiction {
		w.late = append(w.late, *own)
	}
	if contradiction && w.Terms != nil && w.Terms.Rechecks { // the server decides
		w.Rechecks = append(w.Rechecks, shard.Number)
	}
}
