package workflow

import (
	"encoding/json"
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/workflow/graph"
)

// The limits of workflows; those of one workflow.toml are in package graph.
const (
	// MaxWorkflows is how many workflows a project has.
	MaxWorkflows = 200
	// MaxOpenRuns is how many runs of a project have not ended: each may have as many jobs under way as it has steps.
	MaxOpenRuns = 100
	// MaxKeptRuns is how many runs of a project that have ended are kept: when another one starts, the oldest are forgotten.
	MaxKeptRuns = 10_000
	// forgottenAtOnce is how many runs are forgotten at most when one starts.
	forgottenAtOnce = 100
	// MaxParametersBytes is how large the parameters of a run are together, in bytes of JSON.
	MaxParametersBytes = 64 << 10
	// KeptVersions is how many of its newest versions a workflow keeps, besides those that runs keep to.
	KeptVersions = 100
	// DecideTime is how long the condition of a check may take.
	DecideTime = 2 * time.Second
)

// PinnedFunction is a function of a workflow: what a name of its definition stands for.
type PinnedFunction struct {
	Name     string `json:"name" doc:"As steps name it."`
	Function string `json:"function"`
	Version  int    `json:"version"`
	Digest   string `json:"digest" doc:"SHA-256 of the bundle."`
}

// Workflow is a version of a workflow.
type Workflow struct {
	Name       string
	Newest     int
	Version    int
	Digest     string
	Text       string // workflow.toml
	Definition *graph.Definition
	Functions  []PinnedFunction
	Modules    functions.ModulePins
	Files      []PinnedFile
	PushedBy   string
	PushedAt   time.Time
	CreatedAt  time.Time
	OpenRuns   int64

	id uuid.UUID
}

// Run is a run of a workflow.
type Run struct {
	ID         uuid.UUID
	Workflow   string
	Version    int
	Digest     string
	Functions  []PinnedFunction
	Modules    functions.ModulePins
	Files      []PinnedFile
	Parameters map[string]json.RawMessage
	State      graph.RunState
	Error      string
	Revision   int64
	StartedBy  string
	StartedAt  time.Time
	EndedAt    *time.Time
}

// RunDetail is a run with its steps.
type RunDetail struct {
	Run
	Steps []RunStep
}

// RunStep is a step of a run.
type RunStep struct {
	Name      string                 `json:"name"`
	Type      graph.StepType         `json:"type" enum:"map,check,fold,prove,report"`
	Needs     []string               `json:"needs" doc:"Steps that must have finished before."`
	Function  string                 `json:"function,omitempty" doc:"What its job runs, as the definition names it."`
	State     graph.StepState        `json:"state" enum:"waiting,running,finished,failed,skipped,cancelled"`
	Error     string                 `json:"error,omitempty" doc:"Why it failed; of a step that waits for room in a quota, which one."`
	JobID     *uuid.UUID             `json:"job,omitempty" doc:"Its job, unless that was deleted."`
	JobState  functions.JobState     `json:"job_state,omitempty"`
	Shards    *functions.ShardCounts `json:"shards,omitempty"`
	Fold      *int                   `json:"aggregation,omitempty" doc:"Of a fold: which of the aggregations of its job is its own."`
	Document  *ReportDocument        `json:"document,omitempty" doc:"Of a report that has finished."`
	Approval  *functions.JobApproval `json:"approval,omitempty" doc:"What its job waits for before any of it is lent."`
	Rolling   *RollingProgress       `json:"rolling,omitempty" doc:"How far a rolling step has come, once it has begun."`
	Bisection *Bisection             `json:"bisection,omitempty" doc:"Of a check that is an identity and does not hold, or did not: the search for the wrong shard."`
	StartedAt *time.Time             `json:"started_at,omitempty"`
	EndedAt   *time.Time             `json:"ended_at,omitempty"`
}

type workflowRow struct {
	ID         uuid.UUID
	Name       string
	Newest     int
	CreatedAt  time.Time
	Version    int
	Digest     string
	Definition string
	Functions  []PinnedFunction
	Modules    functions.ModulePins
	Files      []PinnedFile
	PushedBy   string
	PushedAt   time.Time
	OpenRuns   int64
}

func (r workflowRow) workflow() (Workflow, error) {
	d, err := readPinned(r.Definition, r.Files)
	return Workflow{
		Name: r.Name, Newest: r.Newest, Version: r.Version, Digest: r.Digest, Text: r.Definition, Definition: d, Functions: r.Functions,
		Modules: r.Modules, Files: r.Files, PushedBy: r.PushedBy, PushedAt: r.PushedAt, CreatedAt: r.CreatedAt, OpenRuns: r.OpenRuns, id: r.ID,
	}, err
}

type runRow struct {
	ID         uuid.UUID
	Workflow   string
	Version    int
	Digest     string
	Definition string
	Functions  []PinnedFunction
	Modules    functions.ModulePins
	Files      []PinnedFile
	Parameters map[string]json.RawMessage
	State      graph.RunState
	Error      string
	Revision   int64
	StartedBy  string
	StartedAt  time.Time
	EndedAt    *time.Time
}

func (r runRow) run() Run {
	return Run{
		ID: r.ID, Workflow: r.Workflow, Version: r.Version, Digest: r.Digest, Functions: r.Functions, Modules: r.Modules, Files: r.Files,
		Parameters: r.Parameters, State: r.State, Error: r.Error, Revision: r.Revision, StartedBy: r.StartedBy, StartedAt: r.StartedAt, EndedAt: r.EndedAt,
	}
}

type stepRow struct {
	Number    int
	Name      string
	State     graph.StepState
	JobID     *uuid.UUID
	Error     string
	StartedAt *time.Time
	EndedAt   *time.Time
	JobState  *functions.JobState
	JobError  *string

	Fold      *int // which of its job's aggregations the step made
	FoldState *functions.AggregationState
	FoldError *string
	Document  *ReportDocument
	Tries     int
}

// progress is where the step stands, for the decision what comes next.
func (r stepRow) progress() graph.Progress {
	ended := r.JobState == nil || r.JobState.Ended() || *r.JobState == functions.JobDeleting
	if ended && r.Fold != nil && r.FoldState != nil && *r.JobState != functions.JobDeleting {
		ended = *r.FoldState != functions.AggregationFolding
	}
	return graph.Progress{State: r.State, Ended: ended}
}

// badWorkflow turns a mistake in a workflow into an error for its author.
func badWorkflow(err error) error {
	var wrong *graph.Error
	if errors.As(err, &wrong) {
		return functions.Invalid("bad_workflow", wrong.Field+": "+wrong.Detail, wrong.Hint)
	}
	return err
}
