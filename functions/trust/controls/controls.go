package controls

import (
	"context"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/flag"
	"github.com/ostraka/ostraka/functions/jobs"
	"github.com/ostraka/ostraka/functions/partition"
	"github.com/ostraka/ostraka/functions/stepargs"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/functions/trust"
	"github.com/ostraka/ostraka/functions/trust/classing"
	"github.com/ostraka/ostraka/functions/trust/sql"
	"github.com/ostraka/ostraka/functions/verify"
)

// What an answer to a control is.
const (
	controlAsKnown = "right"
	controlOther   = "wrong"
	controlSilent  = "silent" // no evidence: a time-out, for example, or what the validator could not compare
)

// minDoubters is how many owners must contradict controls by chance for people to be told: one or two may be liars who have met too few controls to be
// charged, whereas a function that does not give one answer has all owners contradict controls.
const minDoubters = 3

// controlLoan is what an agent said to a control.
type controlLoan struct {
	Place        int64
	Number       int // of the control, among those that the job brought
	LeaseID      uuid.UUID
	AgentID      uuid.UUID
	Hand         string
	Class        string
	Status       verify.Status
	Output       []byte
	OutputDigest *string
	OutputBytes  int64
	WallMicros   int64 `db:"wall_us"`
	Outcome      []byte
	Verdict      *string
	Contradicted bool // it is proven wrong
	State        verify.ControlState
	Input        []byte // nil: the shard's own
	Known        []byte // the answer; nil: its digest alone is known
	Same         *bool  // it has the digest of the known answer
}

func (l controlLoan) key() controlKey { return controlKey{l.LeaseID, l.Place} }

type controlKey struct {
	lease uuid.UUID
	place int64
}

// controlVerdicts say what answers to controls are.
type controlVerdicts map[controlKey]string

// JudgeControls judges what was said to the controls of a job since it last did. The answers are compared as those to every other shard are; what
// they come to is for package verify to say. Then their shards are lent again.
func (s *Service) JudgeControls(ctx context.Context, args stepargs.JudgeControlsArgs) error {
	verdicts, err := s.compareControls(ctx, args)
	if err == nil {
		err = s.env.Project(ctx, args.Project, func(tx *store.Tx) error { return s.judgeControls(ctx, tx, args, verdicts) })
	}
	if err != nil {
		return fmt.Errorf("judging the controls of job %s: %w", args.Job, err)
	}
	return nil
}

// compareControls compares the answers that were not compared yet with the known ones. No transaction is open while a validator does.
func (s *Service) compareControls(ctx context.Context, args stepargs.JudgeControlsArgs) (controlVerdicts, error) {
	var loans []controlLoan
	var job comparedJob
	err := s.env.Project(ctx, args.Project, func(tx *store.Tx) (err error) {
		if job, _, err = store.One[comparedJob](ctx, tx, sql.ControlledJob, args.Job); err != nil {
			return err
		}
		loans, err = store.Many[controlLoan](ctx, tx, sql.ControlsToJudge, args.Job)
		return err
	})
	verdicts := controlVerdicts{}
	for _, l := range loans {
		if err != nil {
			break
		}
		if l.Verdict != nil {
			verdicts[l.key()] = *l.Verdict
			continue
		}
		verdicts[l.key()], err = s.compareControl(ctx, args, job, l)
	}
	return verdicts, err
}

// comparedJob is what answers to controls of a job are compared by.
type comparedJob struct {
	Partition partition.Spec
	Validator *functions.ValidatorRef
}

func (s *Service) compareControl(ctx context.Context, args stepargs.JudgeControlsArgs, job comparedJob, l controlLoan) (string, error) {
	switch {
	case l.Status == verify.Error: // an answer, and another one
		return controlOther, nil
	case l.Status != verify.OK:
		return controlSilent, nil
	case l.Same != nil && *l.Same:
		return controlAsKnown, nil
	case job.Validator == nil || l.Known == nil:
		return controlOther, nil
	}
	output := l.Output
	if output == nil {
		if l.OutputBytes > classing.MaxCompared {
			return controlOther, nil
		}
		var err error
		if output, err = s.env.Blobs.Get(ctx, args.Project, *l.OutputDigest, l.OutputBytes); err != nil {
			return "", fmt.Errorf("reading what was said to the control at %d: %w", l.Place, err)
		}
	}
	c := &classing.Classing{Shard: l.Place, Input: jobs.ShardInput(job.Partition, l.Place, l.Input), Queue: []*classing.ComparedAnswer{
		{Agent: functions.ServerAgent, Outcome: "known", Output: l.Known},
		{Agent: l.AgentID, Outcome: string(l.Outcome), Output: output, Wall: l.WallMicros},
	}}
	sub := trust.ToCompare{SubmissionRow: trust.SubmissionRow{JobID: args.Job, Shards: []int64{l.Place}, Validator: job.Validator}, Partition: job.Partition}
	if err := s.trust.JudgeComparisons(ctx, args.Project, sub, []*classing.Classing{c}); err != nil {
		return "", err
	}
	switch {
	case c.Failure != nil:
		return controlSilent, nil
	case c.OneClass():
		return controlAsKnown, nil
	}
	return controlOther, nil
}

// judgeControls decides about controls whose answers were compared, with their shards locked.
func (s *Service) judgeControls(ctx context.Context, tx *store.Tx, args stepargs.JudgeControlsArgs, verdicts controlVerdicts) error {
	places, err := lockControlled(ctx, tx, args.Job)
	if err != nil || len(places) == 0 {
		return err
	}
	loans, err := store.Many[controlLoan](ctx, tx, sql.ControlsToJudge, args.Job)
	if err != nil {
		return err
	}
	d := trust.Settlement{Project: args.Project, Job: args.Job, Weighed: trust.Weighed{Counts: map[uuid.UUID]*trust.Count{}}}
	var settled settledControls
	for _, of := range byPlace(loans, verdicts) {
		settled.judge(args.Job, of, verdicts)
	}
	if err := settled.write(ctx, tx, args.Job); err != nil {
		return err
	}
	if _, err := store.Exec(ctx, tx, sql.ReleaseControls, args.Job, places); err != nil {
		return err
	}
	if err := accuse(ctx, tx, &d, settled); err != nil {
		return err
	}
	return s.chargeControls(ctx, tx, d, settled)
}

// lockControlled locks the shards of all controls to which something new was said.
func lockControlled(ctx context.Context, tx *store.Tx, job uuid.UUID) (places []int64, err error) {
	loans, err := store.Many[controlLoan](ctx, tx, sql.ControlsToJudge, job)
	for _, l := range loans {
		if len(places) == 0 || places[len(places)-1] != l.Place {
			places = append(places, l.Place)
		}
	}
	if err != nil || len(places) == 0 {
		return nil, err
	}
	_, err = store.Many[trust.ShardRow](ctx, tx, store.LockShards, job, places)
	return places, err
}

// byPlace are the answers that were compared, those to one control together. What has come meanwhile has a step of its own to come.
func byPlace(loans []controlLoan, verdicts controlVerdicts) (places [][]controlLoan) {
	for _, l := range loans {
		if verdicts[l.key()] == "" {
			continue
		}
		if n := len(places); n > 0 && places[n-1][0].Place == l.Place {
			places[n-1] = append(places[n-1], l)
		} else {
			places = append(places, []controlLoan{l})
		}
	}
	return places
}

// settledControls are what is to be written about controls.
type settledControls struct {
	leases       []uuid.UUID
	at           []int64
	verdicts     []string
	contradicted []bool
	places       []int64
	states       []string
	marks        []flag.Mark
}

// judge decides about one control, and notes which answers are proven wrong by it.
func (c *settledControls) judge(job uuid.UUID, loans []controlLoan, verdicts controlVerdicts) {
	answers := make([]verify.ControlAnswer, len(loans))
	for i, l := range loans {
		a := verify.ControlAnswer{Hand: l.Hand, Class: l.Class, Known: verdicts[l.key()] == controlAsKnown}
		if verdicts[l.key()] == controlOther {
			a.Digest = string(l.Status) + " " + hex.EncodeToString(l.Outcome)
		}
		answers[i] = a
	}
	v := verify.JudgeControl(answers)
	was := loans[0].State
	if was == verify.ControlWaiting && v.State != was || was == verify.ControlRight && v.State == verify.ControlWrong { // by somebody who had it at the same time
		c.places, c.states = append(c.places, loans[0].Place), append(c.states, string(v.State))
		if v.State == verify.ControlVoided || v.State == verify.ControlUnsettled {
			c.marks = append(c.marks, doubtfulControl(job, loans, v.State))
		}
	}
	for i, l := range loans {
		proven := was != verify.ControlVoided && was != verify.ControlUnsettled && slices.Contains(v.Liars, answers[i])
		c.leases, c.at = append(c.leases, l.LeaseID), append(c.at, l.Place)
		c.verdicts, c.contradicted = append(c.verdicts, verdicts[l.key()]), append(c.contradicted, l.Contradicted || proven)
	}
}

// doubtfulControl tells people of a control that found nobody out.
func doubtfulControl(job uuid.UUID, loans []controlLoan, state verify.ControlState) flag.Mark {
	given := make([]map[string]any, 0, len(loans))
	for _, l := range loans {
		given = append(given, map[string]any{"agent": l.AgentID, "status": l.Status, "output": flag.Shown(l.Output)})
	}
	return flag.Mark{ // of no shard: what the shard of that number came to has nothing to do with it
		Kind: flag.FlagControls, Rule: string(state), Job: job, Decision: "nobody is charged",
		Detail: map[string]any{"control": loans[0].Number, "lent_as_shard": loans[0].Place, "known": flag.Shown(loans[0].Known), "given": given},
	}
}

func (c *settledControls) write(ctx context.Context, tx *store.Tx, job uuid.UUID) error {
	if _, err := store.Exec(ctx, tx, sql.NoteControlVerdicts, c.leases, c.at, c.verdicts, c.contradicted); err != nil {
		return err
	}
	_, err := store.Exec(ctx, tx, sql.SettleControls, job, c.places, c.states)
	return err
}

// accuse holds contradictions of controls against those owners who have more of them than chance explains: see verify.BeyondChance. Nothing that was
// charged elsewhere is taken back for what owners say here, as it is where the server itself gets two answers: they could have it taken back.
func accuse(ctx context.Context, tx *store.Tx, d *trust.Settlement, c settledControls) error {
	if !slices.Contains(c.contradicted, true) && !slices.Contains(c.states, string(verify.ControlRight)) {
		return nil
	}
	// The lock of audits, which comes before agents' trust: a charge breaks windows that are closed together. Of two steps that accuse, the second one
	// sees what the first one has.
	if _, _, err := store.Value[bool](ctx, tx, sql.LockAudits, d.Job); err != nil {
		return err
	}
	hands, err := store.Many[verify.ControlHand](ctx, tx, sql.ControlHands, d.Job)
	if err != nil {
		return err
	}
	beyond := verify.BeyondChance(hands)
	if len(beyond) == 0 {
		if slices.Contains(c.contradicted, true) {
			doubtFunction(d, hands)
		}
		return nil
	}
	type charge struct {
		AgentID uuid.UUID
		Place   int64
	}
	charges, err := store.Many[charge](ctx, tx, sql.ChargeControls, d.Job, beyond)
	for _, charge := range charges {
		count := d.Of(charge.AgentID)
		count.Failed++
		count.AuditsFailed++
		count.Taint = fmt.Sprintf("it gave another answer than the known one to a control of job %s, lent as shard %d, where others gave the known one, as it did more often than chance explains", d.Job, charge.Place)
	}
	return err
}

// doubtFunction tells people where several owners contradict controls, and none of them more often than chance explains.
func doubtFunction(d *trust.Settlement, hands []verify.ControlHand) {
	contradicted := 0
	for _, h := range hands {
		if h.Contradicted > 0 {
			contradicted++
		}
	}
	if contradicted < minDoubters {
		return
	}
	d.Marks = append(d.Marks, flag.Mark{
		Kind: flag.FlagUnsteady, Rule: "controls", Job: d.Job, Decision: "nobody is charged",
		Detail: map[string]any{"owners": len(hands), "contradicted": contradicted, "why": "several owners gave other answers to controls than the known ones, which others gave, and none of them so often that chance does not explain it: the function may not give one answer"},
	})
}

// chargeControls writes what is held against agents, which is what follows from an audit that they have failed. It is the last thing that a
// transaction does.
func (s *Service) chargeControls(ctx context.Context, tx *store.Tx, d trust.Settlement, c settledControls) error {
	j, err := s.trust.AddEvidence(ctx, tx, d)
	if err != nil {
		return err
	}
	for _, caught := range j.Caught {
		if err := trust.ReportCaught(ctx, tx, d.Job, caught); err != nil {
			return err
		}
	}
	if err := flag.Raise(ctx, tx, slices.Concat(c.marks, d.Marks)...); err != nil {
		return err
	}
	if err := base.Notify(ctx, tx, base.ChannelWork, d.Project); err != nil {
		return err
	}
	return s.env.Enqueue(ctx, tx, j.Steps...)
}
