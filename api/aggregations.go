package api

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/google/uuid"

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
	JobPath
	Body AggregationRequest
}

type reaggregatedOutput struct {
	Replayed
	Body functions.Job
}

func (s *server) aggregationOperations() {
	register(s, operation{
		id: "reaggregateJob", method: http.MethodPost, path: jobsPath + "/{job}/aggregations", tag: "jobs", summary: "Fold a job's results again",
		about:  "With another module, or with a mended version of one that failed. No shard runs again, and the old answer is kept.",
		access: runners(), status: http.StatusAccepted, body: body{limit: MaxJSONBody}, retry: retryWithKey,
	}, s.reaggregate)
	register(s, operation{
		id: "listAggregations", method: http.MethodGet, path: jobsPath + "/{job}/aggregations", tag: "jobs", summary: "List the aggregations of a job", access: readers(),
	}, s.listAggregations)
}

func (s *server) reaggregate(ctx context.Context, c *call, in *ReaggregateInput) (*reaggregatedOutput, error) {
	project, job, err := in.ids()
	if err != nil {
		return nil, err
	}
	want := aggregation.NewAggregation{Module: in.Body.Module, Params: in.Body.Params}
	j, again, err := s.service.Reaggregate(ctx, c.principal, project, job, want, c.idem)
	if err != nil {
		return nil, err
	}
	return &reaggregatedOutput{Replayed: replayed(again), Body: j}, nil
}

func (s *server) listAggregations(ctx context.Context, c *call, in *ListOfJob) (*Listed[functions.Aggregation], error) {
	return listOfJob(ctx, c, in, s.service.ListAggregations, func(a functions.Aggregation) int64 { return int64(a.Run) })
}
