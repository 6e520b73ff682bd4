package jobs

import (
	"context"
	"encoding/json"
	"fmt"
	"math"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/jobs/sql"
	"github.com/ostraka/ostraka/functions/partition"
	"github.com/ostraka/ostraka/functions/planner"
	"github.com/ostraka/ostraka/functions/store"
)

// measureShards is how many shards one transaction measures.
const measureShards = 16 * partition.PageSize

// ErrNotMeasured says that a job has no metrics.
var ErrNotMeasured = &functions.Error{
	Kind: functions.KindConflict, Code: "not_measured", Message: "the job has no metrics: it has not come to an answer, or was not measured yet",
	Hint: "wait until the job is finished, or failed with an answer, and some seconds more: ostraka job watch JOB",
}

// measures are what the attempts of a job took, as far as they were looked at.
type measures struct {
	NextShard   int64
	Executions  int64
	CPUMicros   int64 `db:"cpu_us"`
	WallMicros  int64 `db:"wall_us"`
	OutputBytes int64
	Walls       map[int]int64
}

type measuredPart struct {
	Executions  int64
	CPUMicros   int64 `db:"cpu_us"`
	WallMicros  int64 `db:"wall_us"`
	OutputBytes int64
	Walls       map[int]int64
}

type marks struct {
	Flags         int64
	FlaggedShards int64
	Findings      int64
	FoundShards   int64
	Highest       float64
}

// GetMetrics returns the metrics of a job that has come to an answer.
func (s *Service) GetMetrics(ctx context.Context, project, job uuid.UUID) (m planner.Metrics, err error) {
	err = s.env.Project(ctx, project, func(tx *store.Tx) error {
		if err := base.NotDeleted(ctx, tx, job); err != nil {
			return err
		}
		var found bool
		if m, found, err = store.Value[planner.Metrics](ctx, tx, sql.GetMetrics, job); err == nil && !found {
			err = ErrNotMeasured.With("job %s has no metrics: it has not come to an answer, or was not measured yet", job)
		}
		return err
	})
	return m, err
}

// Measure looks at all attempts of an ended job, some pages at a time, and keeps its metrics. Cut off anywhere it continues where it was; run
// again it looks at no attempt again.
func (s *Service) Measure(ctx context.Context, project uuid.UUID, job functions.Job) (m planner.Metrics, err error) {
	mine := base.NewSlice()
	for more := true; more; {
		err := s.env.Project(ctx, project, func(tx *store.Tx) error {
			if err := base.NotDeleted(ctx, tx, job.ID); err != nil {
				return err
			}
			sum, _, err := store.One[measures](ctx, tx, sql.Measured, job.ID)
			if err != nil {
				return err
			}
			if more = sum.NextShard < job.Shards.Total; more {
				return measureMore(ctx, tx, job.ID, sum)
			}
			m, err = keepMetrics(ctx, tx, job, sum)
			return err
		})
		if err != nil {
			return m, fmt.Errorf("measuring job %s: %w", job.ID, err)
		}
		if err := mine.Over(); err != nil && more {
			return m, err
		}
	}
	return m, nil
}

func measureMore(ctx context.Context, tx *store.Tx, job uuid.UUID, sum measures) error {
	next := sum.NextShard + measureShards
	part, _, err := store.One[measuredPart](ctx, tx, sql.MeasureShards, job, sum.NextShard, next)
	if err != nil {
		return err
	}
	if sum.Walls == nil {
		sum.Walls = map[int]int64{}
	}
	for bucket, n := range part.Walls {
		sum.Walls[bucket] += n
	}
	_, err = store.Exec(ctx, tx, sql.KeepMeasures, job, next, sum.Executions+part.Executions, sum.CPUMicros+part.CPUMicros, sum.WallMicros+part.WallMicros,
		sum.OutputBytes+part.OutputBytes, sum.Walls)
	return err
}

func keepMetrics(ctx context.Context, tx *store.Tx, job functions.Job, sum measures) (planner.Metrics, error) {
	seen, _, err := store.One[marks](ctx, tx, sql.CountMarks, job.ID)
	if err != nil {
		return planner.Metrics{}, err
	}
	m := metricsOf(job, sum, seen)
	text, err := json.Marshal(m)
	if err != nil {
		return m, fmt.Errorf("encoding the metrics: %w", err)
	}
	_, err = store.Exec(ctx, tx, sql.KeepMetrics, job.ID, text)
	return m, err
}

// metricsOf puts together what is known of an ended job.
func metricsOf(job functions.Job, sum measures, seen marks) planner.Metrics {
	const microsPerSecond = 1e6
	total := float64(max(1, job.Shards.Total))
	m := planner.Metrics{
		Shards: planner.ShardMetrics{
			Total: job.Shards.Total, Accepted: job.Shards.Accepted, Failed: job.Shards.Failed, Flagged: seen.FlaggedShards, Flags: seen.Flags,
			AcceptedShare: float64(job.Shards.Accepted) / total, FailedShare: float64(job.Shards.Failed) / total, FlaggedShare: float64(seen.FlaggedShards) / total,
		},
		Times: planner.TimeMetrics{
			Wall: float64(sum.WallMicros) / microsPerSecond, CPU: float64(sum.CPUMicros) / microsPerSecond,
			WallP50: quantile(sum.Walls, 0.5), WallP90: quantile(sum.Walls, 0.9), WallP99: quantile(sum.Walls, 0.99),
		},
		Sizes:        planner.SizeMetrics{Outputs: sum.OutputBytes, OutputMean: float64(sum.OutputBytes) / float64(max(1, job.Shards.Accepted))},
		Verification: planner.VerificationMetrics{Executions: sum.Executions, ExecutionsPerShard: float64(sum.Executions) / total, ErrorBound: 1, AnswerRisk: 1},
		Aggregate:    planner.AggregateMetrics{Numbers: map[string]float64{}},
		Findings:     planner.FindingMetrics{Count: seen.Findings, Shards: seen.FoundShards, Highest: seen.Highest},
	}
	if job.FinishedAt != nil {
		m.Times.Elapsed = job.FinishedAt.Sub(job.CreatedAt).Seconds()
	}
	addVerification(&m.Verification, job)
	if a := job.Aggregate; a != nil {
		m.Aggregate = planner.AggregateMetrics{Count: a.Count, LeftOut: a.LeftOut, Numbers: planner.NumbersOf(a.Value)}
		if a.Object == "" {
			m.Aggregate.Bytes = int64(len(a.Value))
		}
	}
	return m
}

// addVerification adds what a policy with a bound has come to.
func addVerification(m *planner.VerificationMetrics, job functions.Job) {
	v := job.Verification
	if v == nil {
		if job.Validator != nil && job.Validator.Certificate && !job.Policy.None {
			m.ErrorBound, m.AnswerRisk = 0, 0 // each result has proved itself
		}
		return
	}
	m.ErrorBound, m.AnswerRisk = v.ErrorBound, v.AnswerRisk
	if weakens(job.Owners, job.Policy) && m.ErrorBound > 0 {
		m.ErrorBound = job.Owners.ErrorBound
	}
	m.AuditsPassed, m.AuditsFailed, m.Rechecks, m.Incidents = v.AuditsPassed, v.AuditsFailed, v.Rechecks, v.Incidents
}

// wallBuckets is one more than the last bucket of times.
const wallBuckets = 64

// quantile is the upper bound in seconds of the bucket up to which a share of all times lies; 0 where there is none.
func quantile(walls map[int]int64, share float64) float64 {
	var all, below int64
	for _, n := range walls {
		all += n
	}
	for bucket := range wallBuckets {
		if below += walls[bucket]; all > 0 && float64(below) >= share*float64(all) {
			return math.Exp2(float64(bucket)/2) / 1000
		}
	}
	return 0
}
