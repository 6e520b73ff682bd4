package jobs

import (
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/api/rest"
	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/schedule"
	"github.com/ostraka/ostraka/functions/timetable"
)

// Schedule has a job submitted, or a workflow started, again and again.
type Schedule struct {
	ID          uuid.UUID       `json:"id"`
	Spec        ScheduleRequest `json:"spec"`
	Revision    int64           `json:"revision"`
	CreatedBy   string          `json:"created_by"`
	CreatedAt   time.Time       `json:"created_at"`
	UpdatedAt   time.Time       `json:"updated_at"`
	PauseReason string          `json:"pause_reason,omitempty" doc:"Why it is paused: somebody did it, or too many times in a row failed."`
	NextAt      *time.Time      `json:"next_at,omitempty" doc:"When it is due next, jitter included; left out where no time comes."`
	Waits       bool            `json:"waits,omitempty" doc:"A time has come, and waits for the job or the run of an earlier one to end."`
	Failures    int             `json:"failures" doc:"How many times in a row came to nothing by a fault; at ten it is paused."`
	LastError   string          `json:"last_error,omitempty" doc:"What went wrong the last time."`
}

// ScheduleDetail is a schedule with the times to come and the outcome of the last ones.
type ScheduleDetail struct {
	Schedule
	Next    []schedule.Coming `json:"next" doc:"The next ten times."`
	Firings []schedule.Firing `json:"firings" doc:"What became of the last times, the newest first."`
}

// spec turns a request into what the domain asks for.
func (r ScheduleRequest) spec() (schedule.Spec, error) {
	s := schedule.Spec{
		Name: r.Name, Cron: r.Cron, Every: r.Every, TimeZone: r.TimeZone, Jitter: r.Jitter, Overlap: schedule.Overlap(r.Overlap),
		CatchUp: timetable.CatchUp(r.CatchUp), Starts: r.Starts, Ends: r.Ends, Paused: r.Paused,
	}
	if w := r.Workflow; w != nil {
		s.Workflow = &schedule.WorkflowUse{Name: w.Name, Version: w.Version, Parameters: w.Parameters}
	}
	var err error
	if r.Job != nil {
		s.Job, err = r.Job.job()
	}
	return s, err
}

// shownSchedule is the answer about a schedule.
func shownSchedule(d schedule.Detail, err error) (*scheduleOutput, error) {
	if err != nil {
		return nil, err
	}
	s, err := scheduleOf(d.Schedule)
	if err != nil {
		return nil, err
	}
	return &scheduleOutput{ETag: rest.RevisionTag(d.Revision), Body: ScheduleDetail{Schedule: s, Next: d.Next, Firings: d.Firings}}, nil
}

func scheduleOf(s schedule.Schedule) (Schedule, error) {
	spec := ScheduleRequest{
		Name: s.Spec.Name, Cron: s.Spec.Cron, Every: s.Spec.Every, TimeZone: s.Spec.TimeZone, Jitter: s.Spec.Jitter, Overlap: string(s.Spec.Overlap),
		CatchUp: string(s.Spec.CatchUp), Starts: s.Spec.Starts, Ends: s.Spec.Ends, Paused: s.Spec.Paused,
	}
	var err error
	if w := s.Spec.Workflow; w != nil {
		spec.Workflow = &ScheduledWorkflow{Name: w.Name, Version: w.Version, Parameters: w.Parameters}
	} else {
		spec.Job = new(JobRequest)
		*spec.Job, err = requestOf(s.Spec.Job)
	}
	return Schedule{
		ID: s.ID, Spec: spec, Revision: s.Revision, CreatedBy: s.CreatedBy, CreatedAt: s.CreatedAt, UpdatedAt: s.UpdatedAt,
		PauseReason: s.PauseReason, NextAt: s.NextAt, Waits: s.Waits, Failures: s.Failures, LastError: s.LastError,
	}, err
}

// requestOf is the request that asks for a job.
func requestOf(j functions.NewJob) (JobRequest, error) {
	r := JobRequest{Function: j.Function, Version: j.Version, Heuristics: j.Heuristics, Priority: j.Priority, Controls: j.Controls}
	var err error
	if r.Partition, err = j.Partition.MarshalJSON(); err != nil {
		return r, fmt.Errorf("writing the partition of a schedule: %w", err)
	}
	policy := PolicyRequest{
		Quorum: j.Quorum, None: j.None, TargetError: j.TargetError, AssumeHostile: j.AssumeHostile, AnswerError: j.AnswerError,
		Recheck: j.Recheck, MaxAttempts: j.MaxAttempts, Confirm: j.Confirm,
	}
	if policy != (PolicyRequest{}) {
		r.Policy = &policy
	}
	if j.Aggregator != "" {
		r.Aggregator = &AggregatorRequest{Module: j.Aggregator, Params: j.Params}
	}
	if v := j.Validator; v != nil {
		r.Validator = &ValidatorRequest{Module: v.Module, Params: v.Params, Certificate: v.Certificate}
	}
	return r, nil
}
