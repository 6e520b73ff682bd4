package schedule

import (
	"encoding/json"
	"time"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/timetable"
)

// The limits of schedules.
const (
	// MaxSchedules is how many schedules a project has: each may submit a job every minute.
	MaxSchedules = 100
	// MaxSpecBytes is the largest schedule as it is kept, in bytes of JSON; a list shows hundreds of them. Items that are written into the
	// request are kept as an object, and do not count.
	MaxSpecBytes = 64 << 10
	// MaxFailures is how many times in a row may fail before the schedule is paused: nobody seems to look.
	MaxFailures = 10
	// KeptFirings is how many of its last times a schedule remembers, besides those whose job has not ended.
	KeptFirings = 100
	// ShownFirings is how many of them are shown.
	ShownFirings = 20
	// ShownTimes is how many of the coming times are shown.
	ShownTimes = 10
	// JobsPerFiring is how many jobs one time of a schedule makes.
	JobsPerFiring = 1
)

// Overlap says what becomes of a time that comes while a job of an earlier one has not ended.
type Overlap string

// The ways to overlap.
const (
	OverlapSkip   Overlap = "skip"         // the time is passed over
	OverlapQueue  Overlap = "queue"        // it waits for the job to end
	OverlapCancel Overlap = "cancel-other" // the job is cancelled
)

// Spec is a schedule as people write it.
type Spec struct {
	Name     string            `json:"-"`
	Cron     string            `json:"cron,omitempty"`
	Every    string            `json:"every,omitempty"` // as Go writes durations: 6h, 90m
	TimeZone string            `json:"time_zone,omitempty"`
	Jitter   string            `json:"jitter,omitempty"`
	Overlap  Overlap           `json:"overlap"`
	CatchUp  timetable.CatchUp `json:"catch_up"`
	Starts   *time.Time        `json:"starts,omitempty"`
	Ends     *time.Time        `json:"ends,omitempty"`
	Paused   bool              `json:"-"`
	// What each time makes: a job, or a run of a workflow.
	Job      functions.NewJob `json:"job,omitzero"`
	Workflow *WorkflowUse     `json:"workflow,omitempty"`
}

// WorkflowUse says which workflow is started, and with which parameters: those that it was made with, defaults included.
type WorkflowUse struct {
	Name       string                     `json:"name"`
	Version    int                        `json:"version,omitempty"` // 0: the newest at each time
	Parameters map[string]json.RawMessage `json:"parameters"`
}

// Schedule is a schedule of a project.
type Schedule struct {
	ID          uuid.UUID
	Spec        Spec
	Revision    int64
	CreatedBy   string
	CreatedAt   time.Time
	UpdatedAt   time.Time
	PauseReason string
	NextAt      *time.Time // when it is due next, jitter included; nil: it is paused, or no time comes any more
	Waits       bool       // for the job or the run of an earlier time to end
	Failures    int
	LastError   string
}

// Coming is a time to come.
type Coming struct {
	At  time.Time `json:"at" doc:"The time by the timetable."`
	Due time.Time `json:"due" doc:"When the job is submitted at the earliest: later by the jitter."`
}

// Outcome is the outcome of a time.
type Outcome string

// The outcomes.
const (
	Submitted Outcome = "submitted" // or started
	Skipped   Outcome = "skipped"   // what an earlier time made had not ended
	Missed    Outcome = "missed"    // it had passed when it was looked at
	Failed    Outcome = "failed"
)

// Firing is the outcome of a time.
type Firing struct {
	At      time.Time  `json:"at" doc:"The time by the timetable, or the moment of a run by hand."`
	Outcome Outcome    `json:"outcome" enum:"submitted,skipped,missed,failed"`
	ByHand  bool       `json:"by_hand,omitempty" doc:"Somebody ran it, and the timetable had no part in it."`
	JobID   *uuid.UUID `json:"job,omitempty" doc:"The job that was submitted, unless it was deleted."`
	RunID   *uuid.UUID `json:"run,omitempty" doc:"The run of a workflow that was started, unless it was deleted."`
	Detail  string     `json:"detail,omitempty" doc:"Why there is no job."`
	FiredAt time.Time  `json:"fired_at"`
}

// Detail is a schedule with what comes and what was.
type Detail struct {
	Schedule
	Next    []Coming
	Firings []Firing // the newest first
}

type row struct {
	ID          uuid.UUID
	Name        string
	Spec        Spec
	Revision    int64
	CreatedBy   string
	WantedBy    string // who made, replaced or resumed it last
	CreatedAt   time.Time
	UpdatedAt   time.Time
	Paused      bool
	PauseReason string
	NextAt      *time.Time
	Waits       bool
	Failures    int
	LastError   string
	WorkflowID  *uuid.UUID // in whose folder the schedule stands; nil: in none
	Now         time.Time  // of Postgres' clock
}

func (r row) schedule() (Schedule, error) {
	s := Schedule{
		ID: r.ID, Spec: r.spec(), Revision: r.Revision, CreatedBy: r.CreatedBy, CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt,
		PauseReason: r.PauseReason, Waits: r.Waits, Failures: r.Failures, LastError: r.LastError,
	}
	times, err := r.times()
	if err == nil {
		s.NextAt = r.due(times)
	}
	return s, err
}

func (r row) spec() Spec {
	spec := r.Spec
	spec.Name, spec.Paused = r.Name, r.Paused
	return spec
}

func (r row) times() (*timetable.Timetable, error) { return timesOf(r.Spec, r.CreatedAt, r.ID) }

// due is when the schedule is to be looked at next; nil: nothing is to come.
func (r row) due(times *timetable.Timetable) *time.Time {
	if r.Paused || r.NextAt == nil {
		return nil
	}
	return new(times.Due(*r.NextAt))
}
