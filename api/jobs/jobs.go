package jobs

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/api/rest"
	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/jobs"
	"github.com/ostraka/ostraka/functions/submit"
)

// Jobs is what the API asks of the domain about jobs.
type Jobs interface {
	SubmitJob(ctx context.Context, by functions.Principal, project uuid.UUID, job functions.NewJob, idem functions.Idempotency) (j functions.Job, replayed bool, err error)
	GetJob(ctx context.Context, project, id uuid.UUID) (functions.Job, error)
	// WaitJob returns when the job has ended, is in review, or has waited that long.
	WaitJob(ctx context.Context, project, id uuid.UUID, wait time.Duration) (functions.Job, error)
	ListJobs(ctx context.Context, project uuid.UUID, filter jobs.JobFilter, page functions.ListPage) ([]functions.Job, error) // newest first
	CancelJob(ctx context.Context, by functions.Principal, project, id uuid.UUID) (functions.Job, error)                      // cancelling twice is harmless
	DeleteJob(ctx context.Context, by functions.Principal, project, id uuid.UUID) (functions.Job, error)                      // deleting twice is harmless
	SetPriority(ctx context.Context, by functions.Principal, project, id uuid.UUID, priority int) (functions.Job, error)
	Explain(ctx context.Context, project, id uuid.UUID) (functions.Explanation, error)
	PlanJob(ctx context.Context, project uuid.UUID, job functions.NewJob) (submit.JobPlan, error)
}

// MaxJobBody is the largest request for a job, in bytes: MaxInlineBytes of items and as much again for what stands around them.
const MaxJobBody = MaxInlineBytes + rest.MaxJSONBody

// JobRequest asks for a job.
type JobRequest struct {
	Function   string             `json:"function" minLength:"1" maxLength:"63" doc:"The function's name." example:"bpsw"`
	Version    int                `json:"version,omitempty" minimum:"1" maximum:"2147483647" doc:"The function's version; the newest when left out."`
	Partition  rest.PartitionText `json:"partition" doc:"How the input is cut into shards."`
	Policy     *PolicyRequest     `json:"policy,omitempty" doc:"How much agreement a result needs; what the function says when left out."`
	Validator  *ValidatorRequest  `json:"validator,omitempty" doc:"What decides whether answers that differ are one answer; what the function says when left out."`
	Aggregator *AggregatorRequest `json:"aggregator,omitempty" doc:"What folds the results; what the function says, or else sum, when left out."`
	// Heuristics cannot take away what the project's policy says.
	Heuristics *functions.HeuristicsPolicy `json:"heuristics,omitempty" doc:"What looks at the results, besides what the project's policy says; what the function says when left out."`
	Priority   int                         `json:"priority,omitempty" minimum:"1" maximum:"9" doc:"How large the job's share of its project's turns is: each step doubles it; 5 when left out. A submitter's jobs have 5 at most."`
	Controls   []functions.Control         `json:"controls,omitempty" maxItems:"1000" doc:"Shards with known answers, to find out who lies: they are lent among the job's own, where no agent can tell them from these, and count for nothing else."`
	RerunOf    *uuid.UUID                  `json:"rerun_of,omitempty" doc:"The job that this one runs again: agents with incidents in it, and other agents of their owners, have no part in this one."`
}

// PolicyRequest says how much agreement a shard's result needs.
type PolicyRequest struct {
	Quorum        int     `json:"quorum,omitempty" minimum:"1" maximum:"16" doc:"How many different agents must give the same answer."`
	None          bool    `json:"none,omitempty" doc:"Believe the first answer."`
	TargetError   float64 `json:"target_error,omitempty" minimum:"0.000001" maximum:"0.5" doc:"The share of accepted results that may be wrong: results are audited until it holds." example:"0.001"`
	AssumeHostile float64 `json:"assume_hostile,omitempty" minimum:"0.001" maximum:"0.49" doc:"Beside target_error: the share of agents that are taken for hostile; 0.1 when left out."`
	AnswerError   float64 `json:"answer_error,omitempty" minimum:"0.000001" maximum:"0.5" doc:"The largest probability with which any result of the job may be wrong: the server chooses the cheapest way to it."`
	Exact         bool    `json:"exact,omitempty" doc:"The same as an answer_error of 0.000001."`
	Recheck       string  `json:"recheck,omitempty" enum:"all" doc:"Have the server execute every shard as well."`
	MaxAttempts   int     `json:"max_attempts,omitempty" minimum:"1" maximum:"32" doc:"How many attempts a shard gets before a person is asked."`
	Confirm       string  `json:"confirm,omitempty" maxLength:"4096" doc:"A condition over the output, in CEL: results that fulfil it are executed once more before they count, by the server or by other owners. Beside target_error, answer_error, exact or recheck, or alone: with what the function says." example:"output.longest > 500"`
}

// AggregatorRequest names what folds a job's results.
type AggregatorRequest struct {
	Module string          `json:"module" minLength:"1" maxLength:"63" doc:"A module of the project or a built-in one: sum, count, min, max, concat, merge; none folds nothing." example:"sum"`
	Params json.RawMessage `json:"params,omitempty" doc:"Parameters of the module, a JSON object."`
}

// ValidatorRequest names what compares a job's results.
type ValidatorRequest struct {
	Module      string          `json:"module" minLength:"1" maxLength:"63" doc:"A module of the project or the built-in one, tolerant; none compares byte by byte." example:"tolerant"`
	Params      json.RawMessage `json:"params,omitempty" doc:"Parameters of the module, a JSON object."`
	Certificate bool            `json:"certificate,omitempty" doc:"Have it judge each result alone: a result proves itself, or does not count."`
}

// SubmitJobInput asks for a job.
type SubmitJobInput struct {
	rest.InProject
	Body JobRequest
}

type submittedJobOutput struct {
	rest.Replayed
	Location string `header:"Location"`
	Body     functions.Job
}

type jobOutput struct {
	Body functions.Job
}

// GetJobInput asks for a job, now or when it has ended.
type GetJobInput struct {
	rest.JobPath
	rest.Waiting
	IfNoneMatch string `header:"If-None-Match" doc:"The ETag of the last answer: 304 when the job is still the same."`
}

type conditionalJobOutput struct {
	Status int
	ETag   string `header:"ETag"`
	Body   *functions.Job
}

// ListJobsInput asks for jobs.
type ListJobsInput struct {
	rest.ListInProject
	State    functions.JobState `query:"state"`
	Function string             `query:"function" maxLength:"63"`
	Root     rest.PathID        `query:"root" doc:"Only the job of this ID and the follow-ups that descend from it."`
}

// SetPriorityInput changes a job's priority.
type SetPriorityInput struct {
	rest.JobPath
	Body struct {
		Priority int `json:"priority" minimum:"1" maximum:"9" doc:"Each step doubles the job's share of its project's turns; 5 is usual."`
	} `nameHint:"JobPriority"`
}

type explanationOutput struct {
	Body functions.Explanation
}

func (s *server) jobOperations() {
	rest.Register(s.Server, rest.Operation{
		ID: "submitJob", Method: http.MethodPost, Path: rest.JobsPath, Tag: "jobs", Summary: "Run a function over a partitioned input",
		Access: rest.Runners(), Status: http.StatusCreated, Body: rest.Body{Limit: MaxJobBody}, Retry: rest.RetryWithKey,
	}, s.submitJob)
	rest.Register(s.Server, rest.Operation{
		ID: "listJobs", Method: http.MethodGet, Path: rest.JobsPath, Tag: "jobs", Summary: "List jobs, newest first", Access: rest.Readers(),
	}, s.listJobs)
	rest.Register(s.Server, rest.Operation{
		ID: "getJob", Method: http.MethodGet, Path: rest.JobsPath + "/{job}", Tag: "jobs", Summary: "Get a job, or wait for it",
		About: "With `wait` the answer comes when the job has ended, needs a review, or that long has passed.", Access: rest.Readers(),
		Answers: rest.NotModified(),
	}, s.getJob)
	rest.Register(s.Server, rest.Operation{
		ID: "cancelJob", Method: http.MethodPost, Path: rest.JobsPath + "/{job}/cancel", Tag: "jobs", Summary: "Cancel a job",
		About: "Accepted results stay readable.", Access: rest.Runners(), Ends: true,
	}, s.cancelJob)
	rest.Register(s.Server, rest.Operation{
		ID: "deleteJob", Method: http.MethodDelete, Path: rest.JobsPath + "/{job}", Tag: "jobs", Summary: "Delete a job that has ended",
		About: "With its shards, results, evidence, events and flags. Nothing of it can be read from then on, while its rows are removed page by page; " +
			"its objects go a day or more after nothing refers to them any more. What agents have earned stays, and that the job was deleted.",
		Access: rest.Roles(functions.RoleOwner), Status: http.StatusAccepted,
	}, s.deleteJob)
	rest.Register(s.Server, rest.Operation{
		ID: "setJobPriority", Method: http.MethodPut, Path: rest.JobsPath + "/{job}/priority", Tag: "jobs", Summary: "Change a job's share of its project's turns",
		About:  "It counts from the next lease on. More than 5 takes an owner's key.",
		Access: rest.Runners(), Body: rest.Body{Limit: rest.MaxJSONBody},
	}, s.setJobPriority)
	rest.Register(s.Server, rest.Operation{
		ID: "explainJob", Method: http.MethodGet, Path: rest.JobsPath + "/{job}/explain", Tag: "jobs", Summary: "Say why a job is not done", Access: rest.Readers(),
	}, s.explainJob)
}

func (s *server) submitJob(ctx context.Context, c *rest.Call, in *SubmitJobInput) (*submittedJobOutput, error) {
	project, err := in.ID()
	if err != nil {
		return nil, err
	}
	job, err := in.Body.job()
	if err != nil {
		return nil, err
	}
	j, again, err := s.service.SubmitJob(ctx, c.Principal, project, job, c.Idem)
	if err != nil {
		return nil, err
	}
	return &submittedJobOutput{Replayed: rest.ReplayedAs(again), Location: "/v1/projects/" + string(in.Project) + "/jobs/" + j.ID.String(), Body: j}, nil
}

func (s *server) listJobs(ctx context.Context, c *rest.Call, in *ListJobsInput) (*rest.Listed[functions.Job], error) {
	project, page, err := in.Read(rest.CursorOfID)
	if err != nil {
		return nil, err
	}
	filter := jobs.JobFilter{State: in.State, Function: in.Function}
	if in.Root != "" {
		if filter.Root, err = rest.ReadID("job", in.Root); err != nil {
			return nil, err
		}
	}
	items, err := s.service.ListJobs(ctx, project, filter, page)
	if err != nil {
		return nil, err
	}
	return rest.AnswerList(c, page, items, rest.CursorOfID, func(j functions.Job) string { return j.ID.String() }), nil
}

func (s *server) getJob(ctx context.Context, c *rest.Call, in *GetJobInput) (*conditionalJobOutput, error) {
	project, id, err := in.IDs()
	if err != nil {
		return nil, err
	}
	wait, err := in.WaitTime(c)
	if err != nil {
		return nil, err
	}
	var j functions.Job
	if wait > 0 {
		waiting, done := s.UntilStopping(ctx)
		defer done()
		j, err = s.service.WaitJob(waiting, project, id, wait)
	} else {
		j, err = s.service.GetJob(ctx, project, id)
	}
	if err != nil {
		return nil, err
	}
	tag, err := rest.ContentTag(j)
	if err != nil {
		return nil, err
	}
	if rest.TagMatches(in.IfNoneMatch, tag) {
		return &conditionalJobOutput{Status: http.StatusNotModified, ETag: tag}, nil
	}
	return &conditionalJobOutput{Status: http.StatusOK, ETag: tag, Body: &j}, nil
}

func (s *server) cancelJob(ctx context.Context, c *rest.Call, in *rest.JobPath) (*jobOutput, error) {
	project, id, err := in.IDs()
	if err != nil {
		return nil, err
	}
	j, err := s.service.CancelJob(ctx, c.Principal, project, id)
	if err != nil {
		return nil, err
	}
	return &jobOutput{Body: j}, nil
}

func (s *server) deleteJob(ctx context.Context, c *rest.Call, in *rest.JobPath) (*jobOutput, error) {
	project, id, err := in.IDs()
	if err != nil {
		return nil, err
	}
	j, err := s.service.DeleteJob(ctx, c.Principal, project, id)
	if err != nil {
		return nil, err
	}
	return &jobOutput{Body: j}, nil
}

func (s *server) setJobPriority(ctx context.Context, c *rest.Call, in *SetPriorityInput) (*jobOutput, error) {
	project, id, err := in.IDs()
	if err != nil {
		return nil, err
	}
	j, err := s.service.SetPriority(ctx, c.Principal, project, id, in.Body.Priority)
	if err != nil {
		return nil, err
	}
	return &jobOutput{Body: j}, nil
}

func (s *server) explainJob(ctx context.Context, _ *rest.Call, in *rest.JobPath) (*explanationOutput, error) {
	project, id, err := in.IDs()
	if err != nil {
		return nil, err
	}
	e, err := s.service.Explain(ctx, project, id)
	if err != nil {
		return nil, err
	}
	if e.Reasons == nil {
		e.Reasons = []functions.Reason{}
	}
	return &explanationOutput{Body: e}, nil
}
