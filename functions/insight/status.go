package insight

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/ostraka/ostraka/functions/insight/sql"
	"github.com/ostraka/ostraka/functions/store"
)

// StatusProjects is how many projects a status looks into, the busiest first: each is a transaction of its own.
const StatusProjects = 200

// InstallationStatus is what somebody who runs servers asks first: what waits, who is ill, what it costs.
type InstallationStatus struct {
	At             time.Time        `json:"at"`
	Projects       int64            `json:"projects" doc:"All projects. What waits is looked for in the 200 with the most open jobs."`
	OpenJobs       int64            `json:"open_jobs"`
	Queues         []QueueStatus    `json:"queues" doc:"Steps of the queue that are not done."`
	Agents         map[string]int64 `json:"agents" doc:"Agents by state."`
	AgentsSeen     int64            `json:"agents_seen" doc:"Active agents that were heard of in the last minute."`
	Sandboxes      int64            `json:"sandboxes" doc:"Sandboxes that a heartbeat has named in the last minute."`
	Switches       int64            `json:"switches" doc:"Switches of the killswitch that are on."`
	HoldsAll       bool             `json:"holds_all" doc:"One of them holds everything everywhere."`
	Approvals      int64            `json:"approvals" doc:"What waits for an operator to approve it."`
	DatabaseBytes  int64            `json:"database_bytes"`
	ObjectBytes    int64            `json:"object_bytes" doc:"Objects of all projects, as far as they are counted."`
	RecheckSeconds float64          `json:"recheck_seconds" doc:"How long servers have executed shards today (UTC)."`
	LastBackup     *time.Time       `json:"last_backup,omitempty" doc:"Of which moment the last finished backup of ostraka backup is."`
	Waits          []ProjectStatus  `json:"waits" doc:"Projects with open jobs, or in which something waits for a person."`
}

// QueueStatus is how much of one queue is not done.
type QueueStatus struct {
	Queue         string  `json:"queue"`
	Ready         int64   `json:"ready" doc:"Steps that could be worked on now."`
	Failing       int64   `json:"failing" doc:"Steps that have failed and are tried again."`
	OldestSeconds float64 `json:"oldest_seconds" doc:"How long the oldest step that is ready has waited."`
}

// ProjectStatus is what waits in one project.
type ProjectStatus struct {
	ID              uuid.UUID `json:"id"`
	Name            string    `json:"name"`
	OpenJobs        int64     `json:"open_jobs"`
	OpenShards      int64     `json:"open_shards"`
	ObjectBytes     int64     `json:"object_bytes"`
	Flags           int64     `json:"flags" doc:"Open flags, 10,000 at most."`
	Incidents       int64     `json:"incidents" doc:"Incidents of the last 7 days, 10,000 at most."`
	Approvals       int64     `json:"approvals" doc:"What waits to be approved."`
	FailingWebhooks int64     `json:"failing_webhooks"`
}

// InstallationStatus reads the figures of the installation, and what waits in its projects. It names tenants, and is for operators.
func (s *Service) InstallationStatus(ctx context.Context) (status InstallationStatus, err error) {
	stats, err := s.Stats(ctx)
	if err != nil {
		return status, err
	}
	status = InstallationStatus{
		OpenJobs: stats.OpenJobs, Queues: queueStatus(stats.Queues), Agents: stats.Agents, AgentsSeen: stats.AgentsSeen, Sandboxes: stats.Sandboxes.Running,
		Switches: stats.Sandboxes.Switches, HoldsAll: stats.Sandboxes.Everything > 0,
	}
	loads, err := s.readFigures(ctx, &status)
	if err != nil {
		return status, err
	}
	status.Waits = []ProjectStatus{}
	for _, l := range loads {
		project := ProjectStatus{ID: l.ID, Name: l.Name, OpenJobs: l.OpenJobs, OpenShards: l.OpenShards, ObjectBytes: l.ObjectBytes}
		if err := s.readWaits(ctx, &project); err != nil {
			if errors.Is(err, store.ErrNoProject) {
				continue // it is being made
			}
			return status, fmt.Errorf("looking at project %s: %w", l.ID, err)
		}
		if project.OpenJobs+project.Flags+project.Incidents+project.Approvals+project.FailingWebhooks > 0 {
			status.Waits = append(status.Waits, project)
		}
	}
	return status, nil
}

// projectLoad is what the shared schema knows of a project.
type projectLoad struct {
	ID                                uuid.UUID
	Name                              string
	OpenJobs, OpenShards, ObjectBytes int64
}

func (s *Service) readFigures(ctx context.Context, status *InstallationStatus) (loads []projectLoad, err error) {
	type figures struct {
		DatabaseBytes, ObjectBytes int64
		RecheckSeconds             float64
		LastBackup                 *time.Time
		Projects, Approvals        int64
		At                         time.Time
	}
	err = s.env.Control(ctx, func(tx pgx.Tx) error {
		f, _, err := store.One[figures](ctx, tx, sql.InstallationFigures)
		if err != nil {
			return err
		}
		status.DatabaseBytes, status.ObjectBytes, status.RecheckSeconds = f.DatabaseBytes, f.ObjectBytes, f.RecheckSeconds
		status.LastBackup, status.Projects, status.Approvals, status.At = f.LastBackup, f.Projects, f.Approvals, f.At
		loads, err = store.Many[projectLoad](ctx, tx, sql.ProjectLoads, StatusProjects)
		return err
	})
	return loads, err
}

func (s *Service) readWaits(ctx context.Context, project *ProjectStatus) error {
	type waits struct{ Flags, Incidents, Approvals, FailingWebhooks int64 }
	return s.env.Project(ctx, project.ID, func(tx *store.Tx) error {
		w, _, err := store.One[waits](ctx, tx, sql.ProjectWaits)
		project.Flags, project.Incidents, project.Approvals, project.FailingWebhooks = w.Flags, w.Incidents, w.Approvals, w.FailingWebhooks
		return err
	})
}

// queueStatus sums what is counted by kind and state.
func queueStatus(stats []QueueStat) []QueueStatus {
	queues, at := []QueueStatus{}, map[string]int{}
	for _, q := range stats {
		i, known := at[q.Queue]
		if !known {
			i, at[q.Queue] = len(queues), len(queues)
			queues = append(queues, QueueStatus{Queue: q.Queue})
		}
		switch q.State {
		case "available":
			queues[i].Ready += q.Count
			queues[i].OldestSeconds = max(queues[i].OldestSeconds, q.OldestAge.Seconds())
		case "retryable":
			queues[i].Failing += q.Count
		}
	}
	return queues
}
