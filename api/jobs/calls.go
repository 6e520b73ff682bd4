package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/api/rest"
	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/partition"
)

// Calls is what the API asks of the domain about single calls.
type Calls interface {
	// CallFunction returns when the output is there, a person is needed, or it has waited that long.
	CallFunction(ctx context.Context, by functions.Principal, project uuid.UUID, job functions.NewJob, wait time.Duration, idem functions.Idempotency) (c functions.Call, replayed bool, err error)
}

// DefaultCallWait is how long a call waits for its output where the request does not say.
const DefaultCallWait = 30 * time.Second

// CallRequest asks for one call.
type CallRequest struct {
	Input   json.RawMessage `json:"input" doc:"What the handler is given: any JSON value."`
	Version int             `json:"version,omitempty" minimum:"1" maximum:"2147483647" doc:"The function's version; the newest when left out."`
	Policy  *PolicyRequest  `json:"policy,omitempty" doc:"How the output is verified; what the function says when left out."`
}

// CallFunctionInput asks for one call.
type CallFunctionInput struct {
	rest.FunctionPath
	Wait string `query:"wait" maxLength:"20" example:"10s" doc:"How long to wait for the output: 30s when left out, 60s at most."`
	Body CallRequest
}

type callOutput struct {
	Status int
	rest.Replayed
	Location string `header:"Location" doc:"The job that the call is."`
	Body     functions.Call
}

func (s *server) callOperations() {
	answers := rest.AlsoOK(s.Server, functions.Call{}, "The output.")
	answers["202"] = rest.AlsoOK(s.Server, functions.Call{}, "")["200"]
	answers["202"].Description = "There is no output yet: the job goes on, and the same request with the same Idempotency-Key waits for it again."
	rest.Register(s.Server, rest.Operation{
		ID: "callFunction", Method: http.MethodPost, Path: "/v1/projects/{project}/functions/{name}/call", Tag: "functions", Summary: "Call a function once",
		About:  "Input in, verified output out. A call is a job of one shard, which goes on when the caller leaves or the time is up: 202 names it then.",
		Access: rest.Runners(), Status: http.StatusOK, Body: rest.Body{Limit: MaxJobBody}, Retry: rest.RetryWithKey, Waits: true, Answers: answers,
	}, s.callFunction)
}

func (s *server) callFunction(ctx context.Context, c *rest.Call, in *CallFunctionInput) (*callOutput, error) {
	project, err := in.ID()
	if err != nil {
		return nil, err
	}
	if !rest.IsName(in.Name) {
		return nil, functions.NotFound("function", in.Name)
	}
	if in.Wait == "" {
		in.Wait = DefaultCallWait.String()
	}
	wait, err := rest.Waiting{Wait: in.Wait}.WaitTime(c)
	if err != nil {
		return nil, err
	}
	job, err := in.Body.job(in.Name)
	if err != nil {
		return nil, err
	}
	if c.Idem.Key != "" { // for how long one waits says nothing of what is called
		c.Idem.RequestDigest = rest.DigestOf(c.Request.Method, c.Request.URL.Path, c.Body)
	}
	waiting, done := s.UntilStopping(ctx)
	defer done()
	made, again, err := s.service.CallFunction(waiting, c.Principal, project, job, wait, c.Idem)
	location := "/v1/projects/" + string(in.Project) + "/jobs/" + made.Job.String()
	if errors.Is(err, functions.ErrCallFailed) {
		p, _ := rest.ProblemOf(err)
		if again {
			p = p.With("Idempotency-Replayed", "true")
		}
		return nil, p.With("Location", location)
	}
	if err != nil {
		return nil, err
	}
	out := &callOutput{Status: http.StatusOK, Replayed: rest.ReplayedAs(again), Location: location, Body: made}
	if made.State != functions.JobFinished {
		out.Status = http.StatusAccepted
	}
	return out, nil
}

// job is the job that the call is.
func (r CallRequest) job(function string) (functions.NewJob, error) {
	values := slices.Concat([]byte(`{"kind":"items","values":[`), r.Input, []byte(`]}`))
	job, err := JobRequest{Function: function, Version: r.Version, Policy: r.Policy, Partition: rest.PartitionText(values)}.job()
	var refused *partition.Error
	if errors.As(err, &refused) {
		return job, rest.NewProblem(http.StatusUnprocessableEntity, string(refused.Code), "body.input: "+refused.Detail, refused.Hint)
	}
	return job, err
}
