package jobs

import (
	"context"
	"net/http"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/api/rest"
	"github.com/ostraka/ostraka/functions/jobs"
	"github.com/ostraka/ostraka/functions/planner"
)

// JobMetrics is what the API asks of the domain about what jobs came to.
type JobMetrics interface {
	GetMetrics(ctx context.Context, project, job uuid.UUID) (planner.Metrics, error)
	JobStats(ctx context.Context, project, job uuid.UUID) (jobs.JobStats, error)
}

type metricsOutput struct {
	Body planner.Metrics
}

type statsOutput struct {
	Body jobs.JobStats
}

func (s *server) metricsOperations() {
	rest.Register(s.Server, rest.Operation{
		ID: "getJobMetrics", Method: http.MethodGet, Path: rest.JobsPath + "/{job}/metrics", Tag: "jobs", Summary: "Get the metrics of a job that has come to an answer",
		About:  "What rules and planners of follow-up jobs see of it: shares, times, sizes, what verification cost and is worth, numbers of the answer, and what heuristics found. They are measured once, when the job has ended.",
		Access: rest.Readers(),
	}, s.getJobMetrics)
	rest.Register(s.Server, rest.Operation{
		ID: "getJobStats", Method: http.MethodGet, Path: rest.JobsPath + "/{job}/stats", Tag: "jobs", Summary: "Get the times, memory and sizes of a job's accepted results",
		About:  "Quantiles of what the accepted attempts took, and the ten slowest and the ten largest shards, while the job runs too. They are counted at each request, of a million shards at most: pages that are spread evenly over a larger job. A project has one such request at a time (429, stats_busy).",
		Access: rest.Readers(),
	}, s.getJobStats)
}

func (s *server) getJobStats(ctx context.Context, _ *rest.Call, in *rest.JobPath) (*statsOutput, error) {
	project, job, err := in.IDs()
	if err != nil {
		return nil, err
	}
	stats, err := s.service.JobStats(ctx, project, job)
	if err != nil {
		return nil, err
	}
	return &statsOutput{Body: stats}, nil
}

func (s *server) getJobMetrics(ctx context.Context, _ *rest.Call, in *rest.JobPath) (*metricsOutput, error) {
	project, job, err := in.IDs()
	if err != nil {
		return nil, err
	}
	m, err := s.service.GetMetrics(ctx, project, job)
	if err != nil {
		return nil, err
	}
	return &metricsOutput{Body: m}, nil
}
