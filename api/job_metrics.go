package api

import (
	"context"
	"net/http"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions/planner"
)

// JobMetrics is what the API asks of the domain about what jobs came to.
type JobMetrics interface {
	GetMetrics(ctx context.Context, project, job uuid.UUID) (planner.Metrics, error)
}

type metricsOutput struct {
	Body planner.Metrics
}

func (s *server) metricsOperations() {
	register(s, operation{
		id: "getJobMetrics", method: http.MethodGet, path: jobsPath + "/{job}/metrics", tag: "jobs", summary: "Get the metrics of a job that has come to an answer",
		about:  "What rules and planners of follow-up jobs see of it: shares, times, sizes, what verification cost and is worth, numbers of the answer, and what heuristics found. They are measured once, when the job has ended.",
		access: readers(),
	}, s.getJobMetrics)
}

func (s *server) getJobMetrics(ctx context.Context, _ *call, in *JobPath) (*metricsOutput, error) {
	project, job, err := in.ids()
	if err != nil {
		return nil, err
	}
	m, err := s.service.GetMetrics(ctx, project, job)
	if err != nil {
		return nil, err
	}
	return &metricsOutput{Body: m}, nil
}
