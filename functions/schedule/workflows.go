package schedule

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/functions/submit"
	"github.com/ostraka/ostraka/functions/workflow"
	"github.com/ostraka/ostraka/guardian"
)

// openTarget is what a time has made that has not ended: a job, or a run of a workflow.
type openTarget struct {
	ID  uuid.UUID
	Run bool
}

func (o openTarget) String() string {
	if o.Run {
		return "run " + o.ID.String()
	}
	return "job " + o.ID.String()
}

// logged is what the audit log says of a schedule.
func (s Spec) logged() map[string]any {
	if s.Workflow != nil {
		return map[string]any{"name": s.Name, "workflow": s.Workflow.Name}
	}
	return map[string]any{"name": s.Name, "function": s.Job.Function}
}

func (s Spec) start() workflow.Start {
	return workflow.Start{Workflow: s.Workflow.Name, Version: s.Workflow.Version, Parameters: s.Workflow.Parameters}
}

// target checks what a schedule makes; of a workflow it writes the parameters into spec, defaults included, and there is no job.
func (s *Service) target(ctx context.Context, by functions.Principal, project uuid.UUID, spec *Spec) (*submit.Prepared, error) {
	if spec.Workflow == nil {
		asked := spec.Job
		asked.Unmeasured = true
		return s.submit.Prepare(ctx, project, asked)
	}
	parameters, err := s.workflows.CheckStart(ctx, by, project, spec.start())
	if err != nil {
		return nil, err
	}
	use := *spec.Workflow
	use.Parameters = nil
	if err := json.Unmarshal(parameters, &use.Parameters); err != nil {
		return nil, fmt.Errorf("reading the parameters of workflow %s: %w", use.Name, err)
	}
	spec.Workflow = &use
	return nil, nil
}

// ask asks the guardian whether what a schedule makes may be made again and again.
func (s *Service) ask(ctx context.Context, tx *store.Tx, by functions.Principal, project uuid.UUID, spec Spec, job *submit.Prepared) error {
	i := base.Intent{By: by, Project: project, Subject: spec.Name}
	if job != nil {
		return s.submit.AskSchedule(ctx, tx, i, job, spec.Starts)
	}
	facts := guardian.JobFacts{}
	if spec.Starts != nil {
		facts.At = spec.Starts.UTC()
	}
	i.Kind, i.Facts, i.Asked = guardian.JobSchedule, facts, spec
	return s.env.Ask(ctx, tx, i)
}

// choose checks what a time is to make.
func (s *Service) choose(ctx context.Context, f *firing) (err error) {
	if f.Spec.Workflow != nil {
		f.run = new(base.NewID())
		_, err = s.workflows.CheckStart(ctx, functions.Principal{}, f.project, f.Spec.start())
		return err
	}
	f.job, err = s.submit.Prepare(ctx, f.project, f.Spec.Job)
	return err
}

// make makes the job or the run of a time. It belongs to who wants the schedule.
func (s *Service) make(ctx context.Context, tx *store.Tx, f *firing) error {
	by := submit.Submitter{Actor: f.actor(), WantedBy: f.WantedBy}
	if f.run != nil {
		return s.workflows.StartRun(ctx, tx, f.step(), *f.run, f.Spec.start(), by)
	}
	return s.submit.Make(ctx, tx, f.step(), f.job, by)
}
