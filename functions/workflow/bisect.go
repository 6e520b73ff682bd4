package workflow

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/partition"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/functions/trust"
	"github.com/ostraka/ostraka/functions/workflow/graph"
	"github.com/ostraka/ostraka/functions/workflow/sql"
	"github.com/ostraka/ostraka/wasm"
)

// bisectionRow is a search as it stands in its table.
type bisectionRow struct {
	Number int
	Side   int
	Low    int64
	High   int64
	Middle int64
	Phase  graph.BisectPhase
	Jobs   int64
}

func (r bisectionRow) at() graph.Bisection {
	return graph.Bisection{Side: r.Side, Low: r.Low, High: r.High, Middle: r.Middle, Phase: r.Phase}
}

// wrongRow is a shard whose result was found wrong.
type wrongRow struct {
	Number  int
	Step    int
	JobID   *uuid.UUID
	Shard   int64
	First   string
	Last    string
	Was     []byte
	Instead []byte
	Agents  []trust.Hand
	Jobs    int64
	FoundAt time.Time
}

// bisections are the searches of a run, by the numbers of their checks, and what they have found.
type bisections struct {
	at    map[int]bisectionRow
	wrong []wrongRow
}

func readBisections(ctx context.Context, tx *store.Tx, run uuid.UUID, d *graph.Definition) (b bisections, err error) {
	some := false
	for _, step := range d.Steps {
		some = some || step.Check.Identity != nil
	}
	if !some {
		return b, nil
	}
	rows, err := store.Many[bisectionRow](ctx, tx, sql.ListBisections, run)
	if err != nil {
		return b, err
	}
	b.at = map[int]bisectionRow{}
	for _, row := range rows {
		b.at[row.Number] = row
	}
	b.wrong, err = store.Many[wrongRow](ctx, tx, sql.ListWrongShards, run)
	return b, err
}

// instead are the outputs that take the place of wrong ones in a step's job.
func (b bisections) instead(step int) map[int64][]byte {
	var outputs map[int64][]byte
	for _, w := range b.wrong {
		if w.Step == step && w.Instead != nil {
			if outputs == nil {
				outputs = map[int64][]byte{}
			}
			outputs[w.Shard] = w.Instead
		}
	}
	return outputs
}

// searches tells whether a check continues with its search, and does not wait for its run to be resumed.
func (v view) searches(number int) bool {
	_, searching := v.bisections.at[number]
	return searching && v.State == graph.RunRunning && v.goesOn()
}

// bisect goes on with the search of a check: it submits the next job, or hears what the last one says.
func (s *Service) bisect(ctx context.Context, project uuid.UUID, v view, number int) error {
	row := v.steps[number]
	var err error
	switch {
	case row.JobID == nil:
		err = s.compareNext(ctx, project, v, number)
	case row.JobState == nil || *row.JobState != functions.JobFinished:
		_, why := settled(row)
		return s.settle(ctx, project, v, number, graph.StepFailed, "the search for the wrong shard ended: "+why)
	case v.bisections.at[number].Phase == graph.BisectConfirm:
		err = s.confirmWrong(ctx, project, v, number)
	default:
		err = s.compareHalf(ctx, project, v, number)
	}
	var refused *functions.Error
	var module *wasm.Error
	switch {
	case errors.As(err, &module) && !module.Operational():
		return s.settle(ctx, project, v, number, graph.StepFailed, "the search for the wrong shard ended: the aggregator failed: "+err.Error())
	case !errors.As(err, &refused) || refused.Kind == functions.KindUnavailable:
		return err
	case refused.Kind == functions.KindExhausted:
		return s.wait(ctx, project, v, number, sql.SayWaiting, refused)
	default:
		return s.settle(ctx, project, v, number, graph.StepFailed, "the search for the wrong shard ended: "+refused.Code+": "+refused.Message)
	}
}

// side is one side of a check's identity, with its step's job.
type side struct {
	graph.Side
	number int
	step   graph.Step
	job    uuid.UUID
	spec   partition.Range
	shards int64
}

func (v view) side(number, which int, values graph.Values) (e side, err error) {
	e.Side = v.definition.Steps[number].Check.Identity.Of(which)
	e.number = v.definition.Number(e.Step)
	e.step = v.definition.Steps[e.number]
	if v.steps[e.number].JobID == nil {
		return e, functions.NotFound("job of step", e.Step)
	}
	e.job = *v.steps[e.number].JobID
	j, err := e.step.Job(values)
	if err != nil {
		return e, badWorkflow(err)
	}
	e.spec, e.shards = j.Partition.Range, j.Partition.Range.Count()
	return e, nil
}

// stretch are the integers of shards [low, high) of a side.
func (e side) stretch(low, high int64) partition.Range {
	from, _ := e.spec.Bounds(low)
	_, to := e.spec.Bounds(high - 1)
	return partition.Range{From: from, To: to, Size: e.spec.Size}
}

// beginSearch has a check that does not hold look for the shard that is at fault.
func (s *Service) beginSearch(ctx context.Context, project uuid.UUID, v view, number int, b graph.Bisection) error {
	return s.revise(ctx, project, v, func(tx *store.Tx) error {
		if _, err := store.Exec(ctx, tx, sql.BeginStep, v.ID, number, nil); err != nil {
			return err
		}
		return s.putBisection(ctx, tx, v, number, b)
	})
}

// putBisection writes where a search is. Its last job has said what it had to.
func (s *Service) putBisection(ctx context.Context, tx *store.Tx, v view, number int, b graph.Bisection) error {
	if _, err := store.Exec(ctx, tx, sql.PutBisection, v.ID, number, b.Side, b.Low, b.High, b.Middle, b.Phase); err != nil {
		return err
	}
	_, err := store.Exec(ctx, tx, sql.SetStepJob, v.ID, number, nil)
	return err
}

// compareNext submits the next job of a search: the other side over a part of the range, or the suspect over the one shard that is left.
func (s *Service) compareNext(ctx context.Context, project uuid.UUID, v view, number int) error {
	values, err := v.definition.Values(v.Parameters)
	if err != nil {
		return badWorkflow(err)
	}
	b := v.bisections.at[number].at()
	suspect, err := v.side(number, b.Side, values)
	if err != nil {
		return err
	}
	runs := suspect
	if b.Phase != graph.BisectConfirm {
		if runs, err = v.side(number, 1-b.Side, values); err != nil {
			return err
		}
	}
	want, err := v.job(runs.step, values)
	if err != nil {
		return err
	}
	stretch := suspect.stretch(b.Low, b.Middle)
	if b.Phase == graph.BisectConfirm {
		want = confirming(want, v.definition.Steps[number].Check.Identity.Policy)
		want.RerunOf = &suspect.job
	} else {
		stretch.Size = runs.spec.Size
	}
	want.Partition = partition.OfRange(stretch)
	return s.submitJob(ctx, project, v, want, func(tx *store.Tx, job uuid.UUID) error {
		if _, err := store.Exec(ctx, tx, sql.SetStepJob, v.ID, number, job); err != nil {
			return err
		}
		_, err := store.Exec(ctx, tx, sql.CountBisectionJob, v.ID, number)
		return err
	})
}

// confirming is the job that executes one shard again. The owners that gave the wrong result must not be enough to give it again.
func confirming(want functions.NewJob, p graph.Policy) functions.NewJob {
	if p.Quorum == 0 && p.TargetError == 0 && p.AnswerError == 0 { // what the function says may be one voice
		p.Quorum = 2
	}
	setPolicy(&want, p)
	return want
}

// compareHalf compares what the last job of a search came to with the suspect's results over the same integers.
func (s *Service) compareHalf(ctx context.Context, project uuid.UUID, v view, number int) error {
	values, err := v.definition.Values(v.Parameters)
	if err != nil {
		return badWorkflow(err)
	}
	b := v.bisections.at[number].at()
	suspect, err := v.side(number, b.Side, values)
	if err != nil {
		return err
	}
	other, err := v.side(number, 1-b.Side, values)
	if err != nil {
		return err
	}
	job, err := s.jobs.GetJob(ctx, project, *v.steps[number].JobID)
	if err != nil {
		return err
	}
	theirs, err := s.answer(ctx, project, job.ID, job.Aggregate)
	if err != nil {
		return err
	}
	ours, err := s.aggregation.AnswerOver(ctx, project, suspect.job, b.Low, b.Middle, v.bisections.instead(suspect.number))
	if err != nil {
		return err
	}
	left, leftIs := suspect.ValueAt(ours)
	right, rightIs := other.ValueAt(theirs)
	if !leftIs || !rightIs {
		return functions.Invalid("not_folded", fmt.Sprintf("over a part of the range %s or %s has no value", suspect.Side, other.Side), "let the aggregator give it always")
	}
	return s.narrow(ctx, project, v, number, b.After(graph.SameValue(left, right)))
}

// narrow goes on with a search by what a comparison has said. Where the suspect is sound the other side becomes one.
func (s *Service) narrow(ctx context.Context, project uuid.UUID, v view, number int, b graph.Bisection) error {
	if b.Phase != graph.BisectClean {
		return s.revise(ctx, project, v, func(tx *store.Tx) error { return s.putBisection(ctx, tx, v, number, b) })
	}
	if b.Side == 1 {
		return s.settle(ctx, project, v, number, graph.StepFailed, "the identity does not hold, and no shard is at fault: over each part of the range both sides agree when one of them is run again")
	}
	values, err := v.definition.Values(v.Parameters)
	if err != nil {
		return badWorkflow(err)
	}
	other, err := v.side(number, 1, values)
	if err != nil {
		return err
	}
	return s.revise(ctx, project, v, func(tx *store.Tx) error {
		return s.putBisection(ctx, tx, v, number, graph.Bisect(1, other.shards))
	})
}

// shownValue keeps a value in a message readable.
func shownValue(raw json.RawMessage) string {
	const most = 120
	if len(raw) > most {
		return string(raw[:most]) + "…"
	}
	return string(raw)
}
