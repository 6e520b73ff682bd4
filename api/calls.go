package api

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/google/uuid"

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
	FunctionPath
	Wait string `query:"wait" maxLength:"20" example:"10s" doc:"How long to wait for the output: 30s when left out, 60s at most."`
	Body CallRequest
}

type callOutput struct {
	Status int
	Replayed
	Location string `header:"Location" doc:"The job that the call is."`
	Body     functions.Call
}

func (s *server) callOperations() {
	answers := alsoOK(s, functions.Call{}, "The output.")
	answers["202"] = alsoOK(s, functions.Call{}, "")["200"]
	answers["202"].Description = "There is no output yet: the job goes on, and the same request with the same Idempotency-Key waits for it again."
	register(s, operation{
		id: "callFunction", method: http.MethodPost, path: "/v1/projects/{project}/functions/{name}/call", tag: "functions", summary: "Call a function once",
		about:  "Input in, verified output out. A call is a job of one shard, which goes on when the caller leaves or the time is up: 202 names it then.",
		access: runners(), status: http.StatusOK, body: body{limit: MaxJobBody}, retry: retryWithKey, waits: true, answers: answers,
	}, s.callFunction)
}

func (s *server) callFunction(ctx context.Context, c *call, in *CallFunctionInput) (*callOutput, error) {
	project, err := in.id()
	if err != nil {
		return nil, err
	}
	if !isName(in.Name) {
		return nil, functions.NotFound("function", in.Name)
	}
	if in.Wait == "" {
		in.Wait = DefaultCallWait.String()
	}
	wait, err := Waiting{in.Wait}.wait(c)
	if err != nil {
		return nil, err
	}
	job, err := in.Body.job(in.Name)
	if err != nil {
		return nil, err
	}
	if c.idem.Key != "" { // for how long one waits says nothing of what is called
		c.idem.RequestDigest = digestOf(c.request.Method, c.request.URL.Path, c.body)
	}
	waiting, done := s.untilStopping(ctx)
	defer done()
	made, again, err := s.service.CallFunction(waiting, c.principal, project, job, wait, c.idem)
	location := "/v1/projects/" + string(in.Project) + "/jobs/" + made.Job.String()
	if errors.Is(err, functions.ErrCallFailed) {
		p, _ := problemOf(err)
		p.headers = http.Header{"Location": {location}}
		if again {
			p.headers.Set("Idempotency-Replayed", "true")
		}
		return nil, p
	}
	if err != nil {
		return nil, err
	}
	out := &callOutput{Status: http.StatusOK, Replayed: replayed(again), Location: location, Body: made}
	if made.State != functions.JobFinished {
		out.Status = http.StatusAccepted
	}
	return out, nil
}

// job is the job that the call is.
func (r CallRequest) job(function string) (functions.NewJob, error) {
	values := slices.Concat([]byte(`{"kind":"items","values":[`), r.Input, []byte(`]}`))
	job, err := JobRequest{Function: function, Version: r.Version, Policy: r.Policy, Partition: PartitionText(values)}.job()
	var refused *partition.Error
	if errors.As(err, &refused) {
		return job, newProblem(http.StatusUnprocessableEntity, string(refused.Code), "body.input: "+refused.Detail, refused.Hint)
	}
	return job, err
}
