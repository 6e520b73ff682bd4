package workflow

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/functions/trust"
	"github.com/ostraka/ostraka/functions/workflow/graph"
	"github.com/ostraka/ostraka/functions/workflow/sql"
)

// decideIdentity settles a check that is an identity, or begins to look for the shard with which it does not hold.
func (s *Service) decideIdentity(ctx context.Context, project uuid.UUID, v view, number int, values graph.Values) error {
	step := v.definition.Steps[number]
	var found [2]json.RawMessage
	for i := range found {
		side := step.Check.Identity.Of(i)
		r, err := s.result(ctx, project, v, side.Step, false)
		if missing(err) {
			return s.settle(ctx, project, v, number, graph.StepFailed, fmt.Sprintf("the job of step %s was deleted before the check", side.Step))
		}
		if err != nil {
			return err
		}
		value, is := side.ValueAt(r.Answer)
		if !is {
			return s.settle(ctx, project, v, number, graph.StepFailed, fmt.Sprintf("there is no %s", side))
		}
		found[i] = value
	}
	if graph.SameValue(found[0], found[1]) {
		return s.settle(ctx, project, v, number, graph.StepFinished, "")
	}
	wrong := 0
	for _, w := range v.bisections.wrong {
		if w.Number == number {
			wrong++
		}
	}
	if wrong >= graph.MaxWrongShards {
		return s.settle(ctx, project, v, number, graph.StepFailed, fmt.Sprintf("%s is %s and %s is %s, after %d wrong shards were found", step.Check.Identity.Left, shownValue(found[0]), step.Check.Identity.Right, shownValue(found[1]), wrong))
	}
	left, err := v.side(number, 0, values)
	if err != nil {
		return s.settle(ctx, project, v, number, graph.StepFailed, err.Error())
	}
	return s.beginSearch(ctx, project, v, number, graph.Bisect(0, left.shards))
}

// corrected is the answer of a step in which wrong shards were found.
func (s *Service) corrected(ctx context.Context, project uuid.UUID, job functions.Job, instead map[int64][]byte) (json.RawMessage, error) {
	return s.aggregation.AnswerOver(ctx, project, job.ID, 0, job.Shards.Total, instead)
}

// confirmWrong compares what a shard gives when it is executed again with what it was accepted with. Where that is one answer, as its job
// sees it, no agent is at fault: the functions differ. Otherwise the result was wrong: it is held against those who gave it, and the answer is
// made without it, unless it could be that the other one is wrong.
func (s *Service) confirmWrong(ctx context.Context, project uuid.UUID, v view, number int) error {
	values, err := v.definition.Values(v.Parameters)
	if err != nil {
		return badWorkflow(err)
	}
	b := v.bisections.at[number]
	suspect, err := v.side(number, b.Side, values)
	if err != nil {
		return err
	}
	was, instead, err := s.bothResults(ctx, project, suspect.job, b.Low, *v.steps[number].JobID)
	if err != nil {
		return err
	}
	same := v.bisections.instead(suspect.number)[b.Low] != nil || was.OutputDigest == instead.OutputDigest
	if !same && (was.Output == nil || instead.Output == nil) {
		return functions.Invalid("not_folded", fmt.Sprintf("shard %d of job %s has an output that is stored as an object", b.Low, suspect.job), "give less")
	}
	if !same {
		if same, err = s.trust.OneAnswer(ctx, project, suspect.job, b.Low, was, instead); err != nil {
			return err
		}
	}
	if same {
		return s.functionsDiffer(ctx, project, v, number, suspect, b)
	}
	if doubt := was.Doubt(instead); doubt != "" {
		return s.settle(ctx, project, v, number, graph.StepFailed, fmt.Sprintf(
			"shard %d of job %s, of step %s, gives another answer when it is executed once more, and it could not be told which is wrong: %s; nobody is charged",
			b.Low, suspect.job, suspect.Step, doubt))
	}
	return s.keepWrong(ctx, project, v, number, suspect, was, instead)
}

// functionsDiffer ends a search whose last shard gives the same answer when it is executed again.
func (s *Service) functionsDiffer(ctx context.Context, project uuid.UUID, v view, number int, suspect side, b bisectionRow) error {
	other := v.definition.Steps[number].Check.Identity.Of(1 - b.Side)
	stretch := suspect.stretch(b.Low, b.High)
	return s.settle(ctx, project, v, number, graph.StepFailed, fmt.Sprintf(
		"over [%s, %s), shard %d of job %s, the steps %s and %s differ, and %s gives the same when it is executed once more: no agent is at fault, the functions differ",
		stretch.From, stretch.To, b.Low, suspect.job, suspect.Step, other.Step, suspect.Step))
}

// keepWrong keeps what a search has found, holds it against those who gave it, and has the check decided again.
func (s *Service) keepWrong(ctx context.Context, project uuid.UUID, v view, number int, suspect side, was, instead trust.Given) error {
	agents, err := json.Marshal(was.Hands)
	if err != nil {
		return fmt.Errorf("encoding the agents: %w", err)
	}
	b := v.bisections.at[number]
	stretch := suspect.stretch(b.Low, b.High)
	return s.revise(ctx, project, v, func(tx *store.Tx) error {
		if _, err := store.Exec(ctx, tx, sql.AddWrongShard, v.ID, number, suspect.number, suspect.job, b.Low, stretch.From.String(), stretch.To.String(),
			was.Output, instead.Output, agents, b.Jobs); err != nil {
			return err
		}
		if _, err := store.Exec(ctx, tx, sql.EndBisection, v.ID, number); err != nil {
			return err
		}
		if _, err := store.Exec(ctx, tx, sql.DecideAgain, v.ID, number); err != nil {
			return err
		}
		detail := map[string]any{"run": v.ID, "step": suspect.Step, "job": suspect.job, "shard": b.Low, "agents": was.Hands, "confirmed_by": v.steps[number].JobID}
		if err := base.Audit(ctx, tx, v.actor(), "workflow.wrong_shard", v.ID.String(), detail); err != nil {
			return err
		}
		return s.trust.Refute(ctx, tx, project, suspect.job, b.Low, was.Hands)
	})
}

// bothResults are the accepted result of a shard, and that of the only shard of the job that executed it again.
func (s *Service) bothResults(ctx context.Context, project, job uuid.UUID, number int64, again uuid.UUID) (was, instead trust.Given, err error) {
	err = s.env.Project(ctx, project, func(tx *store.Tx) error {
		if err := base.NotArchived(ctx, tx, job); err != nil {
			return err
		}
		if was, err = trust.Accepted(ctx, tx, job, number); err != nil {
			return err
		}
		instead, err = trust.Accepted(ctx, tx, again, 0)
		return err
	})
	return was, instead, err
}

// Bisection is the search of a check for the shard with which its identity does not hold.
type Bisection struct {
	Step string `json:"step,omitempty" doc:"Whose job is the suspect now; left out where the search is over."`
	From string `json:"from,omitempty" doc:"The sides differ over [from, to)."`
	To   string `json:"to,omitempty"`
	Jobs int64  `json:"jobs,omitempty" doc:"Jobs that this search has made."`
	// Found has each wrong shard.
	Found []WrongShard `json:"found" doc:"Shards whose accepted results were wrong; the answer is made with what they gave when they were executed once more."`
}

// WrongShard is a shard whose accepted result was wrong.
type WrongShard struct {
	Step    string          `json:"step"`
	JobID   *uuid.UUID      `json:"job,omitempty" doc:"Unless it was deleted."`
	Shard   int64           `json:"shard"`
	From    string          `json:"from"`
	To      string          `json:"to"`
	Was     json.RawMessage `json:"was,omitempty" doc:"What it was accepted with."`
	Instead json.RawMessage `json:"instead,omitempty" doc:"What it gave when it was executed once more."`
	Agents  []trust.Hand    `json:"agents" doc:"Who gave the wrong result."`
	Jobs    int64           `json:"jobs" doc:"How many jobs it took to find it."`
	FoundAt time.Time       `json:"found_at"`
}

// bisection is what people see of a check's search; nil: it has had nothing to look for.
func (v view) bisection(number int) *Bisection {
	b := &Bisection{Found: []WrongShard{}}
	for _, w := range v.bisections.wrong {
		if w.Number == number {
			b.Found = append(b.Found, WrongShard{
				Step: v.steps[w.Step].Name, JobID: w.JobID, Shard: w.Shard, From: w.First, To: w.Last, Was: w.Was, Instead: w.Instead, Agents: w.Agents, Jobs: w.Jobs, FoundAt: w.FoundAt,
			})
		}
	}
	row, searching := v.bisections.at[number]
	if !searching {
		if len(b.Found) == 0 {
			return nil
		}
		return b
	}
	b.Step, b.Jobs = v.definition.Steps[number].Check.Identity.Of(row.Side).Step, row.Jobs
	values, err := v.definition.Values(v.Parameters)
	if err != nil {
		return b
	}
	if suspect, err := v.side(number, row.Side, values); err == nil {
		stretch := suspect.stretch(row.Low, row.High)
		b.From, b.To = stretch.From.String(), stretch.To.String()
	}
	return b
}
