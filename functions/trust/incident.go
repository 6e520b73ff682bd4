package trust

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/flag"
	"github.com/ostraka/ostraka/functions/partition"
	"github.com/ostraka/ostraka/functions/stepargs"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/functions/trust/sql"
)

const (
	// incidentJobs is how many jobs of an agent one transaction looks at.
	incidentJobs = 50
	// incidentPages is how many pages of a job one transaction counts.
	incidentPages = 64
)

// tracedJob is a job that an agent has worked for.
type tracedJob struct {
	ID          uuid.UUID
	State       functions.JobState
	ShardsTotal int64
	Bounded     bool
}

// opens says whether final results of an agent are opened again: where an answer of it was proven wrong, and where one of another agent of its
// owner was and nothing but controls finds out who lies.
func (j tracedJob) opens(args stepargs.TaintArgs) bool {
	return !j.State.Ended() && (args.Proven || args.Kin && !j.Bounded)
}

// reportFinal opens results of a caught agent again which had become final, in jobs that have not ended, and lists those of ended ones, but for
// what the server has found itself: they are within the bound's promise and stay, but they are reported. What was counted is not counted again when the step is cut off, since a job has one incident for an agent, which only grows.
func (s *Service) reportFinal(ctx context.Context, args stepargs.TaintArgs) error {
	last := uuid.Nil
	for {
		var jobs []tracedJob
		err := s.env.Project(ctx, args.Project, func(tx *store.Tx) (err error) {
			jobs, err = store.Many[tracedJob](ctx, tx, sql.JobsOfAgent, args.Agent, last, incidentJobs)
			return err
		})
		if err != nil {
			return fmt.Errorf("listing the jobs of agent %s: %w", args.Agent, err)
		}
		for _, job := range jobs {
			last = job.ID
			if job.opens(args) {
				if err := s.reopenFinal(ctx, args, job); err != nil {
					return fmt.Errorf("job %s: %w", job.ID, err)
				}
			}
			if err := s.reportFinalIn(ctx, args, job); err != nil {
				return fmt.Errorf("listing the final results of agent %s in job %s: %w", args.Agent, job.ID, err)
			}
		}
		if len(jobs) < incidentJobs {
			return nil
		}
	}
}

func (s *Service) reportFinalIn(ctx context.Context, args stepargs.TaintArgs, job tracedJob) error {
	const step = incidentPages * int64(partition.PageSize)
	var total int64
	for from := int64(0); from < job.ShardsTotal; from += step {
		err := s.env.Project(ctx, args.Project, func(tx *store.Tx) error {
			n, _, err := store.Value[int64](ctx, tx, sql.CountFinalShards, job.ID, from, from+step, args.Agent)
			total += n
			return err
		})
		if err != nil {
			return err
		}
	}
	if total == 0 {
		return nil
	}
	return s.env.Project(ctx, args.Project, func(tx *store.Tx) error {
		n, err := store.Exec(ctx, tx, sql.AddIncident, base.NewID(), args.Agent, job.ID, total, job.State, args.Reason)
		if err != nil || n == 0 {
			return err
		}
		detail := map[string]any{"agent": args.Agent, "shards": total, "reason": args.Reason, "state": job.State}
		if err := flag.Raise(ctx, tx, flag.Mark{Kind: flag.FlagIncident, Job: job.ID, Agent: &args.Agent, Event: base.EventIncident, Decision: string(functions.ShardAccepted), Detail: detail}); err != nil {
			return err
		}
		return base.Audit(ctx, tx, "server", "incident.add", job.ID.String(), detail)
	})
}

// Incident is a job that keeps final results of an agent which was caught later.
type Incident struct {
	ID        uuid.UUID          `json:"id"`
	Agent     uuid.UUID          `json:"agent"`
	Job       uuid.UUID          `json:"job"`
	Shards    int64              `json:"shards" doc:"How many final results of the agent the job had when the agent was caught, but for those that the server gave as well."`
	JobState  functions.JobState `json:"job_state" doc:"Where the job stood then."`
	Reason    string             `json:"reason" doc:"What spoke against the agent."`
	CreatedAt time.Time          `json:"created_at"`
}

// IncidentDetail is an incident with its shards.
type IncidentDetail struct {
	Incident
	Numbers []int64 `json:"shard_numbers" doc:"The first shards, by number; the job's results name the agent of every other."`
}

// MaxIncidentShards is how many shards an incident lists. The results of the job name the agent of each.
const MaxIncidentShards = 1000

type incidentRow struct {
	ID        uuid.UUID
	AgentID   uuid.UUID
	JobID     uuid.UUID
	Shards    int64
	JobState  functions.JobState
	Reason    string
	CreatedAt time.Time
}

func (r incidentRow) incident() Incident {
	return Incident{ID: r.ID, Agent: r.AgentID, Job: r.JobID, Shards: r.Shards, JobState: r.JobState, Reason: r.Reason, CreatedAt: r.CreatedAt}
}

// ListIncidents lists the incidents of a job, or of all (nil), in the order in which they were found.
func (s *Service) ListIncidents(ctx context.Context, project uuid.UUID, job *uuid.UUID, page functions.ListPage) (list []Incident, err error) {
	after, err := base.AfterID(page)
	if err != nil {
		return nil, err
	}
	err = s.env.Project(ctx, project, func(tx *store.Tx) error {
		rows, err := store.Many[incidentRow](ctx, tx, sql.ListIncidents, after, base.PageLimit(page), job)
		list = make([]Incident, len(rows))
		for i, r := range rows {
			list[i] = r.incident()
		}
		return err
	})
	return list, err
}

// GetIncident returns an incident with the shards that it is about.
func (s *Service) GetIncident(ctx context.Context, project, id uuid.UUID) (d IncidentDetail, err error) {
	err = s.env.Project(ctx, project, func(tx *store.Tx) error {
		row, found, err := store.One[incidentRow](ctx, tx, sql.GetIncident, id)
		if err != nil || !found {
			return base.OrNotFound(err, "incident", id)
		}
		d.Incident = row.incident()
		d.Numbers, err = store.Values[int64](ctx, tx, sql.IncidentShards, row.JobID, row.AgentID, MaxIncidentShards)
		return err
	})
	return d, err
}
