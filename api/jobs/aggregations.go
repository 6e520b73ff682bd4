package jobs

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/api/rest"
	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/aggregation"
)

// Aggregations is what the API asks of the domain about foldings of results.
type Aggregations interface {
	// Reaggregate folds the accepted results again; no shard runs.
	Reaggregate(ctx context.Context, by functions.Principal, project, job uuid.UUID, want aggregation.NewAggregation, idem functions.Idempotency) (j functions.Job, replayed bool, err error)
	ListAggregations(ctx context.Context, project, job uuid.UUID, page functions.ListPage) ([]functions.Aggregation, error) // After: a run
}

// AggregationRequest asks for a further aggregation of a job.
type AggregationRequest struct {
	Module string          `json:"module,omitempty" maxLength:"63" doc:"A module of the project, in its newest version, or a built-in one; the current one when left out." example:"sum"`
	Params json.RawMessage `json:"params,omitempty" doc:"Parameters of the module, a JSON object; those of the current aggregation when left out and the module is the same."`
}

// ReaggregateInput asks for a further aggregation of a job.
type ReaggregateInput struct {
	rest.JobPath
	Body AggregationRequest
}

type reaggregatedOutput struct {
	rest.Replayed
	Body functions.Job
}

func (s *server) aggregationOperations() {
	rest.Register(s.Server, rest.Operation{
		ID: "reaggregateJob", Method: http.MethodPost, Path: rest.JobsPath + "/{job}/aggregations", Tag: "jobs", Summary: "Fold a job's results again",
		About:  "With another module, or with a mended version of one that failed. No shard runs again, and the old answer is kept.",
		Access: rest.Runners(), Status: http.StatusAccepted, Body: rest.Body{Limit: rest.MaxJSONBody}, Retry: rest.RetryWithKey,
	}, s.reaggregate)
	rest.Register(s.Server, rest.Operation{
		ID: "listAggregations", Method: http.MethodGet, Path: rest.JobsPath + "/{job}/aggregations", Tag: "jobs", Summary: "List the aggregations of a job", Access: rest.Readers(),
	}, s.listAggregations)
}

func (s *server) reaggregate(ctx context.Context, c *rest.Call, in *ReaggregateInput) (*reaggregatedOutput, error) {
	project, job, err := in.IDs()
	if err != nil {
		return nil, err
	}
	want := aggregation.NewAggregation{Module: in.Body.Module, Params: in.Body.Params}
	j, again, err := s.service.Reaggregate(ctx, c.Principal, project, job, want, c.Idem)
	if err != nil {
		return nil, err
	}
	return &reaggregatedOutput{Replayed: rest.ReplayedAs(again), Body: j}, nil
}

func (s *server) listAggregations(ctx context.Context, c *rest.Call, in *rest.ListOfJob) (*rest.Listed[functions.Aggregation], error) {
	return rest.AnswerListOfJob(ctx, c, in, s.service.ListAggregations, func(a functions.Aggregation) int64 { return int64(a.Run) })
}
