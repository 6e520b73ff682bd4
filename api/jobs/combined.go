package jobs

import (
	"context"
	"net/http"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/api/rest"
	"github.com/ostraka/ostraka/functions/aggregation"
)

// Combinations is what the API asks of the domain about answers of several jobs.
type Combinations interface {
	// Combine folds a job with those whose failed shards it ran again.
	Combine(ctx context.Context, project, job uuid.UUID) (aggregation.CombinedAnswer, error)
}

type combinedOutput struct {
	Body aggregation.CombinedAnswer
}

func (s *server) combinedOperations() {
	rest.Register(s.Server, rest.Operation{
		ID: "getCombinedAnswer", Method: http.MethodGet, Path: rest.JobsPath + "/{job}/combined", Tag: "jobs",
		Summary: "Get a job's answer together with that of the jobs whose failed shards it ran again",
		About: "For a job with rerun_of whose items are the inputs of the shards that failed there, and no others: the accepted results of both, and of the jobs before, " +
			"are folded to one answer, each once. No shard runs, and nothing is stored.",
		Access: rest.Readers(),
	}, s.getCombined)
}

func (s *server) getCombined(ctx context.Context, _ *rest.Call, in *rest.JobPath) (*combinedOutput, error) {
	project, job, err := in.IDs()
	if err != nil {
		return nil, err
	}
	c, err := s.service.Combine(ctx, project, job)
	if err != nil {
		return nil, err
	}
	return &combinedOutput{Body: c}, nil
}
