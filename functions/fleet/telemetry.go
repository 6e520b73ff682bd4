package fleet

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/fleet/sql"
	"github.com/ostraka/ostraka/functions/store"
)

// How long figures of agents' machines are kept. The tables are rings of these sizes: see migration 005.
const (
	SamplesKept        = 24 * time.Hour      // one sample a minute at most
	HoursKept          = 30 * 24 * time.Hour // averages and maxima of each hour
	MinTelemetryStep   = time.Minute
	MaxTelemetryPoints = 1500 // in one answer
	// telemetryPoints is how many points an answer has at most when the request does not say in which steps.
	telemetryPoints = 120
)

// TelemetryPoint is how a machine was during one step.
type TelemetryPoint struct {
	At           time.Time `json:"at" doc:"When the step begins."`
	Samples      int64     `json:"samples" doc:"How many samples it is made of, a minute each at most."`
	CPUAvg       float64   `json:"cpu_percent_avg"`
	CPUMax       float64   `json:"cpu_percent_max"`
	LoadAvg      float64   `json:"load1_avg"`
	LoadMax      float64   `json:"load1_max"`
	MemoryAvg    int64     `json:"memory_used_bytes_avg"`
	MemoryMax    int64     `json:"memory_used_bytes_max"`
	DiskAvg      int64     `json:"disk_used_bytes_avg"`
	DiskMax      int64     `json:"disk_used_bytes_max"`
	Sent         int64     `json:"sent_bytes" doc:"During the step."`
	Received     int64     `json:"received_bytes" doc:"During the step."`
	SandboxesMax int64     `json:"sandboxes_max"`
	BatteryMin   *float64  `json:"battery_percent_min,omitempty" doc:"Left out where there is no battery."`
}

// TelemetryQuery asks for figures. Zero fields mean: up to now, of the last hour, in steps that fit.
type TelemetryQuery struct {
	From, To time.Time
	Step     time.Duration
}

// steps are those that are chosen from when the request names none.
var steps = []time.Duration{time.Minute, 5 * time.Minute, 15 * time.Minute, time.Hour, 6 * time.Hour, 24 * time.Hour}

// complete fills in what is missing and refuses what cannot be answered.
func (q TelemetryQuery) complete(now time.Time) (TelemetryQuery, error) {
	if q.To.IsZero() {
		q.To = now
	}
	if q.From.IsZero() {
		q.From = q.To.Add(-time.Hour)
	}
	if !q.From.Before(q.To) {
		return q, functions.Invalid("bad_period", "the period ends before it begins", "let from be before to")
	}
	coarse := q.From.Before(now.Add(-SamplesKept))
	if q.Step == 0 {
		for _, q.Step = range steps {
			if q.To.Sub(q.From) <= telemetryPoints*q.Step && (!coarse || q.Step >= time.Hour) {
				break
			}
		}
	}
	switch {
	case q.Step < MinTelemetryStep || q.Step%time.Minute != 0:
		return q, functions.Invalid("bad_step", fmt.Sprintf("the step %v is not one", q.Step), "use whole minutes")
	case q.Step < time.Hour && coarse:
		return q, functions.Invalid("bad_step", fmt.Sprintf("figures by the minute are kept for %v", SamplesKept), "use a step of an hour or more, or a later from")
	case q.Step > time.Hour && q.Step%time.Hour != 0:
		return q, functions.Invalid("bad_step", fmt.Sprintf("the step %v is not one", q.Step), "above an hour, use whole hours")
	case q.To.Sub(q.From) > MaxTelemetryPoints*q.Step:
		return q, functions.Invalid("bad_step", fmt.Sprintf("the period has more than %d steps of %v", MaxTelemetryPoints, q.Step), "use larger steps or a shorter period")
	}
	return q, nil
}

// AgentTelemetry says how an agent's machine was. It returns the query as it was completed.
func (s *Service) AgentTelemetry(ctx context.Context, id uuid.UUID, q TelemetryQuery) (list []TelemetryPoint, done TelemetryQuery, err error) {
	if q, err = q.complete(time.Now()); err != nil {
		return nil, q, err
	}
	err = s.env.Control(ctx, func(tx pgx.Tx) error {
		if _, err := getAgent(ctx, tx, id); err != nil {
			return err
		}
		list, err = store.Many[TelemetryPoint](ctx, tx, sql.AgentTelemetry, id, q.From, q.To, int(q.Step/time.Second), q.Step < time.Hour)
		return err
	})
	return list, q, err
}

// RollUp makes hours of the samples. It is repeatable, and makes up for hours in which no server ran.
func (s *Service) RollUp(ctx context.Context) error {
	for {
		more := false
		err := s.env.Control(ctx, func(tx pgx.Tx) error {
			hour, found, err := store.Value[time.Time](ctx, tx, sql.TelemetryHour, SamplesKept)
			if err != nil || !found {
				return err
			}
			more = true
			_, err = store.Exec(ctx, tx, sql.RollUpHour, hour)
			return err
		})
		if err != nil {
			return fmt.Errorf("rolling telemetry up: %w", err)
		}
		if !more {
			return nil
		}
	}
}
