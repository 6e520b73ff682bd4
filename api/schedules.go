package api

import (
	"context"
	"net/http"
	"time"

	"github.com/google/uuid"

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
	InProject
	Body ScheduleRequest
}

// SchedulePath names a schedule of a project.
type SchedulePath struct {
	InProject
	Schedule PathID `path:"schedule"`
}

func (p SchedulePath) ids() (project, schedule uuid.UUID, err error) {
	return p.and("schedule", p.Schedule)
}

// ReplaceScheduleInput replaces a schedule.
type ReplaceScheduleInput struct {
	SchedulePath
	Conditional
	Body ScheduleRequest
}

// DeleteScheduleInput deletes a schedule.
type DeleteScheduleInput struct {
	SchedulePath
	Conditional
}

type createdScheduleOutput struct {
	Replayed
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
	owners := roles(functions.RoleOwner)
	register(s, operation{
		id: "createSchedule", method: http.MethodPost, path: path, tag: "schedules", summary: "Have a job submitted later, again and again",
		about: "The job is checked as if it were submitted now.", access: owners, status: http.StatusCreated, body: body{limit: MaxJobBody}, retry: retryWithKey,
	}, s.createSchedule)
	register(s, operation{
		id: "listSchedules", method: http.MethodGet, path: path, tag: "schedules", summary: "List schedules", access: readers(),
	}, s.listSchedules)
	register(s, operation{
		id: "getSchedule", method: http.MethodGet, path: one, tag: "schedules", summary: "Get a schedule, the times to come and what became of the last ones",
		about: "The ETag is of what people write; times that come do not change it.", access: readers(),
	}, s.getSchedule)
	register(s, operation{
		id: "replaceSchedule", method: http.MethodPut, path: one, tag: "schedules", summary: "Replace a schedule", about: "Its times count from now on.",
		access: owners, body: body{limit: MaxJobBody},
	}, s.replaceSchedule)
	register(s, operation{
		id: "pauseSchedule", method: http.MethodPost, path: one + "/pause", tag: "schedules", summary: "Pause a schedule", about: "No time of it comes until it is resumed.", access: owners,
	}, s.pauseSchedule)
	register(s, operation{
		id: "resumeSchedule", method: http.MethodPost, path: one + "/resume", tag: "schedules", summary: "Resume a schedule", about: "Its times count from now on.", access: owners,
	}, s.resumeSchedule)
	register(s, operation{
		id: "runSchedule", method: http.MethodPost, path: one + "/run", tag: "schedules", summary: "Submit the job of a schedule now",
		about: "Paused or not, and beside whatever else of it runs. Its times stay as they are.", access: runners(), status: http.StatusCreated, retry: retryWithKey,
	}, s.runSchedule)
	register(s, operation{
		id: "deleteSchedule", method: http.MethodDelete, path: one, tag: "schedules", summary: "Delete a schedule", about: "Jobs that it made stay.",
		access: owners, status: http.StatusNoContent,
	}, s.deleteSchedule)
}

func (s *server) createSchedule(ctx context.Context, c *call, in *CreateScheduleInput) (*createdScheduleOutput, error) {
	project, err := in.id()
	if err != nil {
		return nil, err
	}
	spec, err := in.Body.spec()
	if err != nil {
		return nil, err
	}
	d, again, err := s.service.CreateSchedule(ctx, c.principal, project, spec, c.idem)
	if err != nil {
		return nil, err
	}
	out, err := shownSchedule(d, nil)
	if err != nil {
		return nil, err
	}
	return &createdScheduleOutput{Replayed: replayed(again), Location: "/v1/projects/" + string(in.Project) + "/schedules/" + d.ID.String(), ETag: out.ETag, Body: out.Body}, nil
}

func (s *server) listSchedules(ctx context.Context, c *call, in *ListInProject) (*Listed[Schedule], error) {
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
	return listOfProject(ctx, c, in, cursorOfID, list, func(r Schedule) string { return r.ID.String() })
}

func (s *server) getSchedule(ctx context.Context, _ *call, in *SchedulePath) (*scheduleOutput, error) {
	project, id, err := in.ids()
	if err != nil {
		return nil, err
	}
	return shownSchedule(s.service.GetSchedule(ctx, project, id))
}

func (s *server) replaceSchedule(ctx context.Context, c *call, in *ReplaceScheduleInput) (*scheduleOutput, error) {
	project, id, err := in.ids()
	if err != nil {
		return nil, err
	}
	revision, err := in.revision()
	if err != nil {
		return nil, err
	}
	spec, err := in.Body.spec()
	if err != nil {
		return nil, err
	}
	return shownSchedule(s.service.UpdateSchedule(ctx, c.principal, project, id, spec, revision))
}

func (s *server) pauseSchedule(ctx context.Context, c *call, in *SchedulePath) (*scheduleOutput, error) {
	project, id, err := in.ids()
	if err != nil {
		return nil, err
	}
	return shownSchedule(s.service.PauseSchedule(ctx, c.principal, project, id))
}

func (s *server) resumeSchedule(ctx context.Context, c *call, in *SchedulePath) (*scheduleOutput, error) {
	project, id, err := in.ids()
	if err != nil {
		return nil, err
	}
	return shownSchedule(s.service.ResumeSchedule(ctx, c.principal, project, id))
}

func (s *server) runSchedule(ctx context.Context, c *call, in *SchedulePath) (*submittedJobOutput, error) {
	project, id, err := in.ids()
	if err != nil {
		return nil, err
	}
	j, again, err := s.service.RunSchedule(ctx, c.principal, project, id, c.idem)
	if err != nil {
		return nil, err
	}
	return &submittedJobOutput{Replayed: replayed(again), Location: "/v1/projects/" + string(in.Project) + "/jobs/" + j.ID.String(), Body: j}, nil
}

func (s *server) deleteSchedule(ctx context.Context, c *call, in *DeleteScheduleInput) (*nothing, error) {
	project, id, err := in.ids()
	if err != nil {
		return nil, err
	}
	revision, err := in.revision()
	if err != nil {
		return nil, err
	}
	return nil, s.service.DeleteSchedule(ctx, c.principal, project, id, revision)
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
	Job      JobRequest `json:"job" doc:"What is submitted; without rerun_of."`
}
