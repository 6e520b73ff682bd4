package jobs

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/jobs/sql"
	"github.com/ostraka/ostraka/functions/partition"
	"github.com/ostraka/ostraka/functions/store"
)

const (
	// MaxStatsShards is of how many shards of a job statistics are made: of larger jobs some pages are looked at, evenly spread.
	MaxStatsShards = 1_000_000
	// StatsTop is how many of the slowest and of the largest shards are named.
	StatsTop = 10
	// StatsTime is how long one request looks at a job's attempts, unless the server is made otherwise.
	StatsTime = 20 * time.Second
	// StatsAgain is when it is worth asking again while another request of the project looks.
	StatsAgain = 5 * time.Second
	// canceledByTime is what Postgres says of a statement that took longer than it may (query_canceled).
	canceledByTime = "57014"
)

// ErrStatsTooSlow says that a job's attempts could not be looked at in the time that one request has.
var ErrStatsTooSlow = &functions.Error{
	Kind: functions.KindUnavailable, Code: "stats_too_slow", Message: "looking at the job's attempts took longer than a request may",
	Hint: "try again when the database has less to do; ostraka job metrics JOB is measured already",
}

// ErrStatsBusy says that another request looks at statistics: a project has one at a time, since each reads as many as a million rows twice.
var ErrStatsBusy = &functions.Error{
	Kind: functions.KindExhausted, Code: "stats_busy", Message: "another request looks at the statistics of a job of this project",
	Hint:  "ask again when it has ended; ostraka job metrics JOB is measured already",
	Quota: &functions.QuotaExceeded{Name: "stats", Limit: 1, Used: 1, Again: StatsAgain},
}

// JobStats are what the accepted results of a job took and how large they are.
type JobStats struct {
	Accepted int64         `json:"accepted" doc:"Shards that are accepted."`
	LookedAt int64         `json:"looked_at" doc:"Accepted shards that these statistics are of: all of them up to a million shards, and pages that are spread evenly over a larger job."`
	Wall     TimeQuantiles `json:"wall" doc:"Seconds that the accepted attempts took."`
	CPU      TimeQuantiles `json:"cpu" doc:"Seconds of processor time."`
	Memory   SizeQuantiles `json:"memory" doc:"Bytes of memory at the most."`
	Output   SizeQuantiles `json:"output" doc:"Bytes of the outputs."`
	Slowest  []ShardStats  `json:"slowest" doc:"The ten that took longest, of those looked at."`
	Largest  []ShardStats  `json:"largest" doc:"The ten with the largest outputs, of those looked at."`
}

// TimeQuantiles say how times are spread, in seconds. They are times that were measured, and no means of two.
type TimeQuantiles struct {
	P50 float64 `json:"p50"`
	P90 float64 `json:"p90"`
	P99 float64 `json:"p99"`
	Max float64 `json:"max"`
}

// SizeQuantiles say how sizes are spread, in bytes.
type SizeQuantiles struct {
	P50 int64 `json:"p50"`
	P90 int64 `json:"p90"`
	P99 int64 `json:"p99"`
	Max int64 `json:"max"`
}

// ShardStats are what one accepted attempt took.
type ShardStats struct {
	Shard  int64     `json:"shard"`
	Agent  uuid.UUID `json:"agent"`
	Wall   float64   `json:"wall" doc:"Seconds."`
	CPU    float64   `json:"cpu" doc:"Seconds of processor time."`
	Memory int64     `json:"memory" doc:"Bytes at the most."`
	Output int64     `json:"output" doc:"Bytes of the output."`
}

type statsRow struct {
	LookedAt    int64
	WallUs      []int64
	CPUUs       []int64 `db:"cpu_us"`
	PeakRSS     []int64 `db:"peak_rss"`
	OutputBytes []int64
	Slowest     []shardStatsRow
	Largest     []shardStatsRow
}

type shardStatsRow struct {
	Number      int64     `json:"number"`
	AgentID     uuid.UUID `json:"agent_id"`
	WallUs      int64     `json:"wall_us"`
	CPUUs       int64     `json:"cpu_us"`
	PeakRSS     int64     `json:"peak_rss"`
	OutputBytes int64     `json:"output_bytes"`
}

// JobStats looks at the accepted attempts of a job, whether it has ended or not.
func (s *Service) JobStats(ctx context.Context, project, job uuid.UUID) (stats JobStats, err error) {
	err = s.env.Project(ctx, project, func(tx *store.Tx) error {
		if err := base.NotDeleted(ctx, tx, job); err != nil {
			return err
		}
		type size struct{ PagesTotal, Accepted int64 }
		has, found, err := store.One[size](ctx, tx, sql.StatsSize, job)
		if err != nil || !found {
			return base.OrNotFound(err, "job", job)
		}
		if err := s.takeStats(ctx, tx); err != nil {
			return err
		}
		row, _, err := store.One[statsRow](ctx, tx, sql.JobStats, job, pageStep(has.PagesTotal), int64(partition.PageSize), StatsTop)
		if err != nil {
			return err
		}
		stats = statsOf(row, has.Accepted)
		return base.NotArchived(ctx, tx, job)
	})
	var refused *pgconn.PgError
	if errors.As(err, &refused) && refused.Code == canceledByTime && ctx.Err() == nil {
		err = ErrStatsTooSlow
	}
	return stats, err
}

// takeStats keeps what a request costs the database within bounds: one at a time, and each statement for so long.
func (s *Service) takeStats(ctx context.Context, tx *store.Tx) error {
	free, _, err := store.Value[bool](ctx, tx, sql.TryStats)
	if err != nil {
		return err
	}
	if !free {
		return ErrStatsBusy
	}
	_, _, err = store.Value[string](ctx, tx, sql.BoundStats, strconv.FormatInt(s.statsTime.Milliseconds(), 10))
	return err
}

// pageStep is which of the pages are looked at: each, each second one, and so on.
func pageStep(pages int64) int64 {
	const most = MaxStatsShards / partition.PageSize
	return max(1, (pages+most-1)/most)
}

func statsOf(row statsRow, accepted int64) JobStats {
	return JobStats{
		Accepted: accepted, LookedAt: row.LookedAt,
		Wall: timeQuantiles(row.WallUs), CPU: timeQuantiles(row.CPUUs), Memory: sizeQuantiles(row.PeakRSS), Output: sizeQuantiles(row.OutputBytes),
		Slowest: shardStats(row.Slowest), Largest: shardStats(row.Largest),
	}
}

// sizeQuantiles are the four of the query; zeros where it looked at nothing.
func sizeQuantiles(q []int64) SizeQuantiles {
	if len(q) == 0 {
		return SizeQuantiles{}
	}
	return SizeQuantiles{P50: q[0], P90: q[1], P99: q[2], Max: q[3]}
}

func timeQuantiles(micros []int64) TimeQuantiles {
	q := sizeQuantiles(micros)
	return TimeQuantiles{P50: seconds(q.P50), P90: seconds(q.P90), P99: seconds(q.P99), Max: seconds(q.Max)}
}

func seconds(micros int64) float64 { return float64(micros) / 1e6 }

func shardStats(rows []shardStatsRow) []ShardStats {
	all := make([]ShardStats, len(rows))
	for i, r := range rows {
		all[i] = ShardStats{Shard: r.Number, Agent: r.AgentID, Wall: seconds(r.WallUs), CPU: seconds(r.CPUUs), Memory: r.PeakRSS, Output: r.OutputBytes}
	}
	return all
}
