package workflow

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/partition"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/functions/workflow/graph"
	"github.com/ostraka/ostraka/functions/workflow/sql"
)

// rollingRow is a rolling step as it stands in its table. Integers of any size are decimal texts.
type rollingRow struct {
	Number      int
	First       string
	Until       string
	Size        string
	Shards      int64
	Ahead       int64
	Next        string
	Aggregator  *functions.AggregatorRef
	Answer      []byte
	AnswerCount int64
	Folded      int64
	Lost        int64
	Marks       []graph.Mark
	Waits       string
}

type partRow struct {
	Number   int
	First    string
	Last     string
	State    graph.PartState
	JobID    *uuid.UUID
	Shards   int64
	Count    int64
	Error    string
	Items    string // the object with those that have flowed to it; "": none have
	JobState *functions.JobState
	JobError *string
}

// rolling is a rolling step of a run that has begun.
type rolling struct {
	rollingRow
	parts []partRow
	at    graph.Progression
}

// readRolling reads the rolling steps of a run, by their numbers.
func readRolling(ctx context.Context, tx *store.Tx, run uuid.UUID, d *graph.Definition) (map[int]*rolling, error) {
	rows, err := store.Many[rollingRow](ctx, tx, sql.ListRolling, run)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	parts, err := store.Many[partRow](ctx, tx, sql.ListParts, run)
	if err != nil {
		return nil, err
	}
	all := map[int]*rolling{}
	for _, row := range rows {
		plan := graph.Plan{From: integer(row.First), To: integer(row.Until), Size: integer(row.Size), Shards: row.Shards, Ahead: row.Ahead, Follows: d.Steps[row.Number].Flows()}
		all[row.Number] = &rolling{rollingRow: row, at: graph.Progression{Plan: plan, Next: integer(row.Next)}}
	}
	for _, p := range parts {
		r := all[p.Number]
		r.parts = append(r.parts, p)
		ended := p.JobState == nil || p.JobState.Ended()
		r.at.Parts = append(r.at.Parts, graph.Part{
			First: integer(p.First), Last: integer(p.Last), State: p.State, Shards: p.Shards,
			Ended: ended, Finished: ended && p.JobState != nil && *p.JobState == functions.JobFinished,
		})
	}
	return all, nil
}

// integer reads what Postgres has kept as an integer.
func integer(text string) *big.Int {
	x, ok := new(big.Int).SetString(text, 10)
	if !ok {
		panic(fmt.Sprintf("workflow: %.40q is kept as an integer", text))
	}
	return x
}

// goesOn tells whether steps of the run may still begin jobs, now or when it is resumed.
func (v view) goesOn() bool {
	for _, row := range v.steps {
		if row.State == graph.StepFailed {
			return false
		}
	}
	return !v.State.Ended()
}

// progress is where a step stands, for the decision what comes next.
func (v view) progress(number int) graph.Progress {
	if r := v.rolling[number]; r != nil {
		return graph.Progress{State: v.steps[number].State, Ended: r.at.Over(v.goesOn())}
	}
	p := v.steps[number].progress()
	if _, searching := v.bisections.at[number]; searching && v.State == graph.RunPaused {
		p.Ended = false // its next job waits until the run is resumed
	}
	return p
}

// settled is the outcome of a rolling step that is over.
func (r *rolling) settled() (graph.StepState, string) {
	if r.at.Whole() {
		return graph.StepFinished, ""
	}
	return graph.StepFailed, fmt.Sprintf("it was stopped, with all below %s verified", r.at.Front())
}

// part is something to do for a rolling step.
type part struct {
	number int // of the step
	graph.PartAction
}

// clear is what is to be done about jobs of rolling steps that have ended, or are to end.
func (v view) clear() (part, bool) {
	for number := range v.steps {
		if r := v.rolling[number]; r != nil && v.steps[number].State == graph.StepRunning {
			if a := r.at.Clear(v.State); a.Kind != graph.PartNothing {
				return part{number, a}, true
			}
		}
	}
	return part{}, false
}

// further is the next job of a rolling step.
func (v view) further() (part, bool) {
	if v.State != graph.RunRunning || !v.goesOn() {
		return part{}, false
	}
	for number := range v.steps {
		if r := v.rolling[number]; r != nil && v.steps[number].State == graph.StepRunning {
			if a := r.at.Begin(); a.Kind == graph.PartBegin {
				return part{number, a}, true
			}
		}
	}
	return part{}, false
}

// actOn does what is to be done for a rolling step: one transaction, as all that a run does.
func (s *Service) actOn(ctx context.Context, project uuid.UUID, v view, p part) error {
	r := v.rolling[p.number]
	switch p.Kind {
	case graph.PartFold:
		return s.foldPart(ctx, project, v, r, p.Part)
	case graph.PartLose:
		return s.losePart(ctx, project, v, r.parts[p.Part], lostWhy(r.parts[p.Part]))
	case graph.PartStop:
		return s.stopJob(ctx, project, v, *r.parts[p.Part].JobID)
	default:
		return s.beginPart(ctx, project, v, r, p.First)
	}
}

// beginRolling begins a rolling step. Its jobs come one by one.
func (s *Service) beginRolling(ctx context.Context, project uuid.UUID, v view, number int, values graph.Values) error {
	p, err := v.definition.Steps[number].Plan(values)
	if err != nil {
		return s.settle(ctx, project, v, number, graph.StepFailed, err.Error())
	}
	marks, err := json.Marshal([]graph.Mark{{At: s.env.Now().UTC(), Done: new(big.Int)}})
	if err != nil {
		return fmt.Errorf("encoding the pace: %w", err)
	}
	return s.revise(ctx, project, v, func(tx *store.Tx) error {
		if _, err := store.Exec(ctx, tx, sql.AddRolling, v.ID, number, p.From.String(), p.To.String(), p.Size.String(), p.Shards, p.Ahead, marks); err != nil {
			return err
		}
		_, err := store.Exec(ctx, tx, sql.BeginStep, v.ID, number, nil)
		return err
	})
}

// beginPart submits the job of a stretch. Where a quota leaves no room the step waits for it; one that cannot be submitted otherwise is a
// hole.
func (s *Service) beginPart(ctx context.Context, project uuid.UUID, v view, r *rolling, first *big.Int) error {
	stretch, shards := r.at.Job(first)
	items := ""
	for _, p := range r.parts { // one that is made again keeps its end and its items, whatever comes after it by now
		if p.First == first.String() {
			stretch.To, shards, items = integer(p.Last), p.Shards, p.Items
		}
	}
	err := s.submitPart(ctx, project, v, r.Number, stretch, items)
	var wrong *functions.Error
	switch {
	case !errors.As(err, &wrong) || wrong.Kind == functions.KindUnavailable:
		return err
	case wrong.Kind == functions.KindExhausted:
		return s.wait(ctx, project, v, r.Number, sql.SayRollingWaits, wrong)
	default:
		return s.revise(ctx, project, v, func(tx *store.Tx) error {
			return s.putPart(ctx, tx, v, r.Number, stretch, shards, items, graph.PartHole, nil, kept(wrong.Code+": "+wrong.Message))
		})
	}
}

func (s *Service) submitPart(ctx context.Context, project uuid.UUID, v view, number int, stretch partition.Range, items string) error {
	step := v.definition.Steps[number]
	values, err := v.definition.Values(v.Parameters)
	if err != nil {
		return badWorkflow(err)
	}
	want, err := v.job(step, values)
	if err != nil {
		return err
	}
	if want.Partition = partition.OfRange(stretch); items != "" {
		want.Partition = partition.Spec{Kind: partition.KindItems, Object: items}
	}
	job, err := s.submit.Prepare(ctx, project, want)
	if err != nil {
		return err
	}
	return s.submitPrepared(ctx, project, v, job, func(tx *store.Tx) error {
		return s.putPart(ctx, tx, v, number, stretch, job.Shards(), items, graph.PartOpen, new(job.ID()), "")
	})
}

// putPart writes what a stretch has come to, and how far the step has come by it.
func (s *Service) putPart(ctx context.Context, tx *store.Tx, v view, number int, stretch partition.Range, shards int64, items string, state graph.PartState, job *uuid.UUID, why string) error {
	if _, err := store.Exec(ctx, tx, sql.PutPart, v.ID, number, stretch.From.String(), stretch.To.String(), state, job, shards, why, items); err != nil {
		return err
	}
	_, err := store.Exec(ctx, tx, sql.MoveNext, v.ID, number, stretch.To.String())
	return err
}

// losePart writes that the job of a stretch has come to nothing.
func (s *Service) losePart(ctx context.Context, project uuid.UUID, v view, p partRow, why string) error {
	return s.revise(ctx, project, v, func(tx *store.Tx) error {
		if _, err := store.Exec(ctx, tx, sql.LosePart, v.ID, p.Number, p.First, kept(why)); err != nil {
			return err
		}
		return base.Audit(ctx, tx, v.actor(), "workflow.hole", v.ID.String(), map[string]any{"step": v.steps[p.Number].Name, "from": p.First, "to": p.Last, "why": kept(why)})
	})
}

func lostWhy(p partRow) string {
	_, why := settled(stepRow{JobID: p.JobID, JobState: p.JobState, JobError: p.JobError})
	return why
}
