package jobs

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/api/rest"
	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/schedule"
)

// Schedules is what the API asks of the domain about jobs that are submitted later.
type Schedules interface {
	CreateSchedule(ctx context.Context, by functions.Principal, project uuid.UUID, spec schedule.Spec, idem functions.Idempotency) (d schedule.Detail, replayed bool, err error)
	ListSchedules(ctx context.Context, project uuid.UUID, page functions.ListPage) ([]schedule.Schedule, error)
	GetSchedule(ctx context.Context, project, id uuid.UUID) (schedule.Detail, error)
	UpdateSchedule(ctx context.Context, by functions.Principal, project, id uuid.UUID, spec schedule.Spec, revision int64) (schedule.Detail, error)
	PauseSchedule(ctx context.Context, by functions.Principal, project, id uuid.UUID) (schedule.Detail, error)  // pausing twice is harmless
	ResumeSchedule(ctx context.Context, by functions.Principal, project, id uuid.UUID) (schedule.Detail, error) // so is resuming
	DeleteSchedule(ctx context.Context, by functions.Principal, project, id uuid.UUID, revision int64) error
	RunSchedule(ctx context.Context, by functions.Principal, project, id uuid.UUID, idem functions.Idempotency) (j functions.Job, replayed bool, err error)
}

// CreateScheduleInput is a new schedule.
type CreateScheduleInput struct {
	rest.InProject
	Body ScheduleRequest
}

// SchedulePath names a schedule of a project.
type SchedulePath struct {
	rest.InProject
	Schedule rest.PathID `path:"schedule"`
}

func (p SchedulePath) ids() (project, schedule uuid.UUID, err error) {
	return p.And("schedule", p.Schedule)
}

// ReplaceScheduleInput replaces a schedule.
type ReplaceScheduleInput struct {
	SchedulePath
	rest.Conditional
	Body ScheduleRequest
}

// DeleteScheduleInput deletes a schedule.
type DeleteScheduleInput struct {
	SchedulePath
	rest.Conditional
}

type createdScheduleOutput struct {
	rest.Replayed
	Location string `header:"Location"`
	ETag     string `header:"ETag"`
	Body     ScheduleDetail
}

type scheduleOutput struct {
	ETag string `header:"ETag"`
	Body ScheduleDetail
}

func (s *server) scheduleOperations() {
	const path = "/v1/projects/{project}/schedules"
	const one = path + "/{schedule}"
	owners := rest.Roles(functions.RoleOwner)
	rest.Register(s.Server, rest.Operation{
		ID: "createSchedule", Method: http.MethodPost, Path: path, Tag: "schedules", Summary: "Have a job submitted, or a workflow started, later, again and again",
		About: "The job is checked as if it were submitted now, and a workflow as if it were started.", Access: owners, Status: http.StatusCreated, Body: rest.Body{Limit: MaxJobBody}, Retry: rest.RetryWithKey,
	}, s.createSchedule)
	rest.Register(s.Server, rest.Operation{
		ID: "listSchedules", Method: http.MethodGet, Path: path, Tag: "schedules", Summary: "List schedules", Access: rest.Readers(),
	}, s.listSchedules)
	rest.Register(s.Server, rest.Operation{
		ID: "getSchedule", Method: http.MethodGet, Path: one, Tag: "schedules", Summary: "Get a schedule, the times to come and what became of the last ones",
		About: "The ETag is of what people write; times that come do not change it.", Access: rest.Readers(),
	}, s.getSchedule)
	rest.Register(s.Server, rest.Operation{
		ID: "replaceSchedule", Method: http.MethodPut, Path: one, Tag: "schedules", Summary: "Replace a schedule", About: "Its times count from now on.",
		Access: owners, Body: rest.Body{Limit: MaxJobBody},
	}, s.replaceSchedule)
	rest.Register(s.Server, rest.Operation{
		ID: "pauseSchedule", Method: http.MethodPost, Path: one + "/pause", Tag: "schedules", Summary: "Pause a schedule", About: "No time of it comes until it is resumed.", Access: owners,
	}, s.pauseSchedule)
	rest.Register(s.Server, rest.Operation{
		ID: "resumeSchedule", Method: http.MethodPost, Path: one + "/resume", Tag: "schedules", Summary: "Resume a schedule", About: "Its times count from now on.", Access: owners,
	}, s.resumeSchedule)
	rest.Register(s.Server, rest.Operation{
		ID: "runSchedule", Method: http.MethodPost, Path: one + "/run", Tag: "schedules", Summary: "Submit the job of a schedule now",
		About: "Paused or not, and beside whatever else of it runs. Its times stay as they are. One that starts a workflow submits no job.", Access: rest.Runners(), Status: http.StatusCreated, Retry: rest.RetryWithKey,
	}, s.runSchedule)
	rest.Register(s.Server, rest.Operation{
		ID: "deleteSchedule", Method: http.MethodDelete, Path: one, Tag: "schedules", Summary: "Delete a schedule", About: "Jobs and runs that it made stay.",
		Access: owners, Status: http.StatusNoContent,
	}, s.deleteSchedule)
}

func (s *server) createSchedule(ctx context.Context, c *rest.Call, in *CreateScheduleInput) (*createdScheduleOutput, error) {
	project, err := in.ID()
	if err != nil {
		return nil, err
	}
	spec, err := in.Body.spec()
	if err != nil {
		return nil, err
	}
	d, again, err := s.service.CreateSchedule(ctx, c.Principal, project, spec, c.Idem)
	if err != nil {
		return nil, err
	}
	out, err := shownSchedule(d, nil)
	if err != nil {
		return nil, err
	}
	return &createdScheduleOutput{Replayed: rest.ReplayedAs(again), Location: "/v1/projects/" + string(in.Project) + "/schedules/" + d.ID.String(), ETag: out.ETag, Body: out.Body}, nil
}

func (s *server) listSchedules(ctx context.Context, c *rest.Call, in *rest.ListInProject) (*rest.Listed[Schedule], error) {
	list := func(ctx context.Context, project uuid.UUID, page functions.ListPage) ([]Schedule, error) {
		rows, err := s.service.ListSchedules(ctx, project, page)
		list := make([]Schedule, len(rows))
		for i, r := range rows {
			if list[i], err = scheduleOf(r); err != nil {
				return nil, err
			}
		}
		return list, err
	}
	return rest.AnswerListOfProject(ctx, c, in, rest.CursorOfID, list, func(r Schedule) string { return r.ID.String() })
}

func (s *server) getSchedule(ctx context.Context, _ *rest.Call, in *SchedulePath) (*scheduleOutput, error) {
	project, id, err := in.ids()
	if err != nil {
		return nil, err
	}
	return shownSchedule(s.service.GetSchedule(ctx, project, id))
}

func (s *server) replaceSchedule(ctx context.Context, c *rest.Call, in *ReplaceScheduleInput) (*scheduleOutput, error) {
	project, id, err := in.ids()
	if err != nil {
		return nil, err
	}
	revision, err := in.Revision()
	if err != nil {
		return nil, err
	}
	spec, err := in.Body.spec()
	if err != nil {
		return nil, err
	}
	return shownSchedule(s.service.UpdateSchedule(ctx, c.Principal, project, id, spec, revision))
}

func (s *server) pauseSchedule(ctx context.Context, c *rest.Call, in *SchedulePath) (*scheduleOutput, error) {
	project, id, err := in.ids()
	if err != nil {
		return nil, err
	}
	return shownSchedule(s.service.PauseSchedule(ctx, c.Principal, project, id))
}

func (s *server) resumeSchedule(ctx context.Context, c *rest.Call, in *SchedulePath) (*scheduleOutput, error) {
	project, id, err := in.ids()
	if err != nil {
		return nil, err
	}
	return shownSchedule(s.service.ResumeSchedule(ctx, c.Principal, project, id))
}

func (s *server) runSchedule(ctx context.Context, c *rest.Call, in *SchedulePath) (*submittedJobOutput, error) {
	project, id, err := in.ids()
	if err != nil {
		return nil, err
	}
	j, again, err := s.service.RunSchedule(ctx, c.Principal, project, id, c.Idem)
	if err != nil {
		return nil, err
	}
	return &submittedJobOutput{Replayed: rest.ReplayedAs(again), Location: "/v1/projects/" + string(in.Project) + "/jobs/" + j.ID.String(), Body: j}, nil
}

func (s *server) deleteSchedule(ctx context.Context, c *rest.Call, in *DeleteScheduleInput) (*rest.Nothing, error) {
	project, id, err := in.ids()
	if err != nil {
		return nil, err
	}
	revision, err := in.Revision()
	if err != nil {
		return nil, err
	}
	return nil, s.service.DeleteSchedule(ctx, c.Principal, project, id, revision)
}

// ScheduleRequest is a schedule as people write it.
type ScheduleRequest struct {
	Name     string     `json:"name" minLength:"1" maxLength:"63" doc:"Lower-case letters, digits and hyphens, starting with a letter." example:"nightly"`
	Cron     string     `json:"cron,omitempty" maxLength:"300" doc:"When: minute, hour, day of the month, month and day of the week. Either this or every." example:"0 3 * * *"`
	Every    string     `json:"every,omitempty" maxLength:"40" doc:"When: after so long again, a minute at least." example:"6h"`
	TimeZone string     `json:"time_zone,omitempty" maxLength:"64" doc:"Whose clock cron means, by its IANA name; UTC when left out." example:"Europe/Berlin"`
	Jitter   string     `json:"jitter,omitempty" maxLength:"40" doc:"By how much each time may be late on purpose, an hour at most: always the same for the same time." example:"5m"`
	Overlap  string     `json:"overlap,omitempty" enum:"skip,queue,cancel-other" doc:"What becomes of a time that comes while the job of an earlier one has not ended; skip when left out."`
	CatchUp  string     `json:"catch_up,omitempty" enum:"none,one,all" doc:"What becomes of times that were missed: none of them comes, the newest stands for all, or all come, ten at most; none when left out."`
	Starts   *time.Time `json:"starts,omitempty" doc:"No time is before; with every it is the first."`
	Ends     *time.Time `json:"ends,omitempty" doc:"No time is after."`
	Paused   bool       `json:"paused,omitempty" doc:"No time comes until it is resumed."`

	Job      *JobRequest        `json:"job,omitempty" doc:"What is submitted; without rerun_of. Either this or workflow."`
	Workflow *ScheduledWorkflow `json:"workflow,omitempty" doc:"Instead of a job: the workflow of which a run is started."`
}

// ScheduledWorkflow is the workflow that a schedule starts.
type ScheduledWorkflow struct {
	Name       string                     `json:"name" minLength:"1" maxLength:"63" example:"bpsw"`
	Version    int                        `json:"version,omitempty" minimum:"0" doc:"Left out: the newest at each time."`
	Parameters map[string]json.RawMessage `json:"parameters,omitempty" doc:"By name. What is left out has the default that the workflow has when the schedule is made; an answer shows all."`
}
