package submit

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/partition"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/guardian"
)

// Prepared is a job that was checked, for a schedule, and can be made in a transaction of the schedule's.
type Prepared struct {
	plan plannedJob
}

// Prepare checks a job as SubmitJob does, and makes nothing.
func (s *Service) Prepare(ctx context.Context, project uuid.UUID, want functions.NewJob) (*Prepared, error) {
	plan, err := s.planJob(ctx, project, want)
	if err != nil {
		return nil, err
	}
	if err := s.storeOutputs(ctx, project, &plan); err != nil {
		return nil, err
	}
	plan.root, plan.priority = plan.id, want.Priority
	return &Prepared{plan: plan}, nil
}

// ID is what the job has, once it is made.
func (p *Prepared) ID() uuid.UUID { return p.plan.id }

// Partition is the job's, with nothing inline.
func (p *Prepared) Partition() partition.Spec { return p.plan.partition }

// Shards is how many the job has.
func (p *Prepared) Shards() int64 { return p.plan.shards }

// AskSchedule asks the guardian whether such a job may be submitted again and again, from a moment on. No job has an ID yet, so that the
// request that was approved is known when it is sent again.
func (s *Service) AskSchedule(ctx context.Context, tx *store.Tx, i base.Intent, p *Prepared, from *time.Time) error {
	known, _, err := store.One[codeFacts](ctx, tx, store.CodeFacts, p.plan.function, p.plan.version, guardian.CodeModule)
	if err != nil {
		return err
	}
	facts := p.plan.facts(known)
	if facts.Job.ID = ""; from != nil {
		facts.At = from.UTC()
	}
	i.Kind, i.Facts = guardian.JobSchedule, facts
	return s.env.Ask(ctx, tx, i)
}

// Submitter is who submits a job for somebody.
type Submitter struct {
	Actor    string // as the log names it
	WantedBy string // whose job it is, who approves none of it where four eyes are wanted
}

// Make makes the job, after the guardian was asked: by the project's role. Open must follow in the same transaction.
func (s *Service) Make(ctx context.Context, tx *store.Tx, i base.Intent, p *Prepared, by Submitter) error {
	p.plan.createdBy, p.plan.submittedBy = by.WantedBy, by.Actor
	i.Kind = guardian.JobSubmit
	if err := s.decide(ctx, tx, i, &p.plan); err != nil {
		return err
	}
	return s.insertJob(ctx, tx, i.Project, &p.plan)
}

// Open makes the job known to dispatch and has it split: by the server's role.
func (s *Service) Open(ctx context.Context, server pgx.Tx, project uuid.UUID, p *Prepared) error {
	return s.openJob(ctx, server, project, p.plan)
}
