package insight

import (
	"cmp"
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/fleet"
	"github.com/ostraka/ostraka/functions/insight/sql"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/migrations"
)

// SandboxStats count sandboxes and switches.
type SandboxStats struct {
	Running    int64 // sandboxes that a heartbeat has named in the last minute
	Switches   int64 // that are on
	Everything int64 // of these, those that hold everything everywhere
}

// QueueStat is the depth and age of one River queue.
type QueueStat struct {
	Queue     string
	Kind      string
	State     string // available, running, retryable, scheduled, pending, discarded
	Count     int64
	OldestAge time.Duration // of the oldest one that is available; zero where there is none
}

// Stats are figures about the whole installation.
type Stats struct {
	Queues     []QueueStat
	Agents     map[string]int64 // by state
	AgentsSeen int64            // active agents that were heard of in the last minute
	OpenJobs   int64
	Sandboxes  SandboxStats
	Quotas     map[functions.QuotaName]float64 // the largest share of each limit that a project uses
	LastBackup float64                         // its moment, as seconds since 1970; 0 if there is none
}

// readyTimeout bounds each check of /readyz.
const readyTimeout = 2 * time.Second

// Ready says whether the parts that the server needs answer.
func (s *Service) Ready(ctx context.Context) (map[string]string, bool) {
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	checks := map[string]string{"database": "ok", "migrations": "ok", "objects": "ok"}
	// A server migrates the projects' schemas before it serves, so that these need no look at every probe.
	schemas, err := migrations.SharedStatus(ctx, s.env.Store.Pool)
	switch {
	case err != nil:
		s.env.Log.Warn("the database is not ready", "error", err)
		checks["database"], checks["migrations"] = "does not answer", "unknown"
	case migrations.Pending(schemas):
		checks["migrations"] = "some are pending: run ostraka migrate up"
	}
	if err := s.env.Blobs.Ping(ctx); err != nil {
		s.env.Log.Warn("the object store is not ready", "error", err)
		checks["objects"] = "does not answer"
	}
	ready := true
	for _, state := range checks {
		ready = ready && state == "ok"
	}
	// Rechecks that wait are no reason to send requests elsewhere.
	if t, err := fleet.ReadRecheckTrouble(ctx, s.env.Store.Pool); err == nil && (t.Servers > 0 || t.Waiting) {
		checks["rechecks"] = cmp.Or(t.Text(), "ok")
	}
	if s.model.Client != nil { // as little as the external model being away
		checks["external model"] = cmp.Or(s.model.Client.Trouble(), "ok")
	}
	return checks, ready
}

// Stats are the figures of /metrics.
func (s *Service) Stats(ctx context.Context) (stats Stats, err error) {
	type queueRow struct {
		Queue  string
		Kind   string
		State  string
		Count  int64
		Oldest float64 // seconds
	}
	type agentRow struct {
		State string
		Count int64
		Seen  int64
	}
	err = s.env.Control(ctx, func(tx pgx.Tx) error {
		queues, err := store.Many[queueRow](ctx, tx, sql.QueueStats)
		if err != nil {
			return err
		}
		for _, q := range queues {
			stats.Queues = append(stats.Queues, QueueStat{
				Queue: q.Queue, Kind: q.Kind, State: q.State, Count: q.Count,
				OldestAge: time.Duration(q.Oldest * float64(time.Second)),
			})
		}
		agents, err := store.Many[agentRow](ctx, tx, sql.AgentStats)
		if err != nil {
			return err
		}
		stats.Agents = map[string]int64{}
		for _, a := range agents {
			stats.Agents[a.State] = a.Count
			if a.State == "active" {
				stats.AgentsSeen = a.Seen
			}
		}
		if stats.OpenJobs, _, err = store.Value[int64](ctx, tx, sql.CountOpenJobs); err != nil {
			return err
		}
		if stats.LastBackup, _, err = store.Value[float64](ctx, tx, sql.LastBackupAt); err != nil {
			return err
		}
		if stats.Quotas, err = s.tenant.QuotaShares(ctx, tx); err != nil {
			return err
		}
		stats.Sandboxes, _, err = store.One[SandboxStats](ctx, tx, sql.SandboxStats)
		return err
	})
	return stats, err
}
