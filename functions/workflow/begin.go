package workflow

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/planner"
	"github.com/ostraka/ostraka/functions/stepargs"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/functions/submit"
	"github.com/ostraka/ostraka/functions/turns"
	"github.com/ostraka/ostraka/functions/workflow/graph"
	"github.com/ostraka/ostraka/functions/workflow/sql"
)

// begin submits the job of a step, or decides its check. What makes that impossible is the fault of the workflow or its project, and fails
// the step; where a limit of the project is reached, the step waits until there is room.
func (s *Service) begin(ctx context.Context, project uuid.UUID, v view, number int) error {
	step := v.definition.Steps[number]
	values, err := v.definition.Values(v.Parameters)
	if err != nil {
		return s.settle(ctx, project, v, number, graph.StepFailed, err.Error())
	}
	switch {
	case step.Type == graph.StepCheck:
		return s.decide(ctx, project, v, number, values)
	case step.Rolling():
		return s.beginRolling(ctx, project, v, number, values)
	case step.Type == graph.StepFold:
		err = s.beginFold(ctx, project, v, number, values)
	case step.Report.Module != "":
		err = s.makeReport(ctx, project, v, number, values)
	default:
		err = s.submitStep(ctx, project, v, number, values)
	}
	var wrong *functions.Error
	switch {
	case !errors.As(err, &wrong) || wrong.Kind == functions.KindUnavailable:
		return err
	case wrong.Kind == functions.KindExhausted:
		return s.wait(ctx, project, v, number, sql.SayWaiting, wrong)
	default:
		return s.settle(ctx, project, v, number, graph.StepFailed, wrong.Code+": "+wrong.Message)
	}
}

// errWaits says that nothing can be done for a run until there is room in a quota.
var errWaits = errors.New("the run waits for room in a quota")

// wait shows people what a step waits for, in the words that say writes, and has a step of the queue go on with the run later, unless one is to
// do so already: each time that somebody resumes the run would otherwise leave one more. Both are one transaction, so that a run that is said
// to be waited for is.
func (s *Service) wait(ctx context.Context, project uuid.UUID, v view, number int, say store.Query, full *functions.Error) error {
	err := s.env.Project(ctx, project, func(tx *store.Tx) error {
		if _, err := store.Exec(ctx, tx, say, v.ID, number, kept(full.Code+": "+full.Message)); err != nil {
			return err
		}
		after, first, err := store.Value[time.Time](ctx, tx, sql.Wait, v.ID, min(full.Quota.Again, functions.LongestSnooze))
		if err != nil || !first {
			return err
		}
		return s.env.Enqueue(ctx, tx, stepargs.AdvanceRunArgs{Project: project, Run: v.ID, After: after})
	})
	if err != nil {
		return err
	}
	return errWaits
}

// wake says that the step of the queue for which a run waits has come. It says so before it looks at the run: a caller that finds the run waited
// for until then knows that it will be looked at again.
func (s *Service) wake(ctx context.Context, args stepargs.AdvanceRunArgs) error {
	if args.After.IsZero() {
		return nil
	}
	return s.env.Project(ctx, args.Project, func(tx *store.Tx) error {
		_, err := store.Exec(ctx, tx, sql.Wake, args.Run, args.After)
		return err
	})
}

// submitStep submits the job of a step, as a person would: checked, decided about by the guardian, within the project's quotas. The step has
// it from the same transaction on, so that it is made once.
func (s *Service) submitStep(ctx context.Context, project uuid.UUID, v view, number int, values graph.Values) error {
	want, nothing, err := s.wanted(ctx, project, v, v.definition.Steps[number], values)
	if err != nil {
		return err
	}
	if nothing {
		return s.settle(ctx, project, v, number, graph.StepFinished, "")
	}
	return s.submitJob(ctx, project, v, want, func(tx *store.Tx, job uuid.UUID) error {
		_, err := store.Exec(ctx, tx, sql.BeginStep, v.ID, number, job)
		return err
	})
}

// submitJob submits a job of the run, after note has written in the same transaction what it is for.
func (s *Service) submitJob(ctx context.Context, project uuid.UUID, v view, want functions.NewJob, note func(tx *store.Tx, job uuid.UUID) error) error {
	job, err := s.submit.Prepare(ctx, project, want)
	if err != nil {
		return err
	}
	return s.submitPrepared(ctx, project, v, job, func(tx *store.Tx) error { return note(tx, job.ID()) })
}

func (s *Service) submitPrepared(ctx context.Context, project uuid.UUID, v view, job *submit.Prepared, note func(tx *store.Tx) error) error {
	return s.revise(ctx, project, v, func(tx *store.Tx) error {
		if err := note(tx); err != nil {
			return err
		}
		intent := base.Intent{Step: stepargs.AdvanceRunArgs{}.Kind(), Project: project}
		if err := s.submit.Make(ctx, tx, intent, job, submit.Submitter{Actor: v.actor(), WantedBy: v.StartedBy}); err != nil {
			return err
		}
		server, err := tx.AsServer(ctx)
		if err != nil {
			return err
		}
		return s.submit.Open(ctx, server, project, job)
	})
}

// wanted is what a step asks for; nothing: the step that its items come from has found none.
func (s *Service) wanted(ctx context.Context, project uuid.UUID, v view, step graph.Step, values graph.Values) (want functions.NewJob, nothing bool, err error) {
	if step.Type == graph.StepReport {
		want, err = s.reportJob(ctx, project, v, step)
		return want, false, err
	}
	j, err := step.Job(values)
	if err != nil {
		return want, false, badWorkflow(err)
	}
	if j.Calibrate != nil {
		if err := s.calibrate(ctx, project, v, *j.Calibrate, &j.Partition.Range); err != nil {
			return want, false, err
		}
	}
	if want, err = v.request(j); err != nil || step.Map.Source == nil {
		return want, false, err
	}
	from, err := s.result(ctx, project, v, step.Map.Source.Step, false)
	if err != nil {
		return want, false, err
	}
	if len(from.Answer) > planner.MaxAggregateBytes {
		return want, false, tooLong(step.Map.Source.Step)
	}
	lines, n, err := step.Items(from.Answer)
	if err != nil {
		return want, false, badWorkflow(err)
	}
	want.Items = lines
	return want, n == 0, nil
}

// job is the job of a step, but for what is known only when it begins: items that come from another one, and a size that is measured.
func (v view) job(step graph.Step, values graph.Values) (want functions.NewJob, err error) {
	j, err := step.Job(values)
	if err != nil {
		return want, badWorkflow(err)
	}
	return v.request(j)
}

// request is what a step asks for, of the version that the run keeps to.
func (v view) request(j graph.Job) (want functions.NewJob, err error) {
	i := slices.IndexFunc(v.Functions, func(f PinnedFunction) bool { return f.Name == j.Function })
	if i < 0 {
		return want, functions.NotFound("function of the workflow", j.Function)
	}
	want = functions.NewJob{
		Function: v.Functions[i].Function, Version: v.Functions[i].Version, Partition: j.Partition,
		Aggregator: j.Aggregator, Params: j.Params, Priority: cmp.Or(j.Priority, turns.DefaultPriority), // the starter of the run may have it
		Modules: v.Modules,
	}
	setPolicy(&want, j.Policy)
	if j.Proves {
		want.Quorum = 1 // a result that proves itself is not asked for twice
	}
	if j.Validator != "" {
		want.Validator = &functions.ValidatorUse{Module: j.Validator, Params: j.ValidatorParams, Certificate: true}
	}
	return want, nil
}

// setPolicy has a job be verified by a policy of the workflow.
func setPolicy(want *functions.NewJob, p graph.Policy) {
	want.Quorum, want.None, want.TargetError, want.AssumeHostile = p.Quorum, p.None, p.TargetError, p.AssumeHostile
	want.AnswerError, want.Recheck, want.MaxAttempts, want.Confirm = p.AnswerError, p.Recheck, p.MaxAttempts, p.Confirm
}

// decide settles a step of the type check.
func (s *Service) decide(ctx context.Context, project uuid.UUID, v view, number int, values graph.Values) error {
	if v.definition.Steps[number].Check.Identity != nil {
		return s.decideIdentity(ctx, project, v, number, values)
	}
	outcome, err := s.outcome(ctx, project, v, v.definition.Steps[number], values)
	switch {
	case err != nil:
		return err
	case outcome.Holds:
		return s.settle(ctx, project, v, number, graph.StepFinished, "")
	default:
		return s.settle(ctx, project, v, number, graph.StepFailed, outcome.Why)
	}
}

// outcome is what a check comes to. What makes it impossible to tell is a reason why it does not hold, but for faults of the server.
func (s *Service) outcome(ctx context.Context, project uuid.UUID, v view, step graph.Step, values graph.Values) (o graph.Outcome, err error) {
	check, err := v.definition.Compile(step)
	if err != nil {
		return graph.Outcome{Why: err.Error()}, nil
	}
	results := map[string]planner.StepResult{}
	for _, name := range check.Steps() {
		if results[name], err = s.result(ctx, project, v, name, check.Metrics()); missing(err) {
			return graph.Outcome{Why: fmt.Sprintf("the job of step %s was deleted before the check", name)}, nil
		}
		if err != nil {
			return o, err
		}
	}
	deciding, cancel := context.WithTimeout(ctx, DecideTime)
	defer cancel()
	o = step.Decide(deciding, check, results, values)
	return o, ctx.Err() // the server stops: nothing is decided
}

// result is what a step that is a job came to.
func (s *Service) result(ctx context.Context, project uuid.UUID, v view, name string, measure bool) (r planner.StepResult, err error) {
	if rolled := v.rolling[v.definition.Number(name)]; rolled != nil {
		return planner.StepResult{Answer: rolled.Answer}, nil
	}
	row := v.steps[v.definition.Number(name)]
	if row.JobID == nil && v.definition.Step(name).Map.Source != nil {
		return r, nil // it had nothing to do
	}
	if row.JobID == nil {
		return r, functions.NotFound("job of step", name)
	}
	job, err := s.jobs.GetJob(ctx, project, *row.JobID)
	if err != nil {
		return r, err
	}
	if measure {
		if r.Metrics, err = s.jobs.Measure(ctx, project, job); err != nil {
			return r, err
		}
	}
	if instead := v.bisections.instead(v.definition.Number(name)); instead != nil {
		r.Answer, err = s.corrected(ctx, project, job, instead)
		return r, err
	}
	answer := job.Aggregate
	if row.Fold != nil {
		folded, err := s.foldAnswer(ctx, project, row)
		if err != nil {
			return r, err
		}
		answer = &folded
	}
	r.Answer, err = s.answer(ctx, project, job.ID, answer)
	return r, err
}

func (s *Service) answer(ctx context.Context, project, job uuid.UUID, answer *functions.Aggregate) (json.RawMessage, error) {
	if answer == nil || answer.Object == "" {
		if answer == nil {
			return nil, nil
		}
		return answer.Value, nil
	}
	r, _, err := s.env.Blobs.Open(ctx, project, answer.Object)
	if err != nil {
		return nil, fmt.Errorf("opening the answer of job %s: %w", job, err)
	}
	defer func() { _ = r.Close() }()
	// One byte more than a check may see: it is refused with the reason that people are told.
	value, err := io.ReadAll(io.LimitReader(r, planner.MaxAggregateBytes+1))
	if err != nil {
		return nil, fmt.Errorf("reading the answer of job %s: %w", job, err)
	}
	return value, nil
}
