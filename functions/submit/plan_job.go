package submit

import (
	"context"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/fleet"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/functions/submit/sql"
	"github.com/ostraka/ostraka/functions/tenant"
	"github.com/ostraka/ostraka/functions/verify"
	"github.com/ostraka/ostraka/runtime/bundle"
)

// JobPlan is what a job is expected to take, beforehand.
type JobPlan struct {
	Function string             `json:"function"`
	Version  int                `json:"version"`
	Shards   int64              `json:"shards"`
	Agents   int                `json:"agents" doc:"Approved agents that may work for the project and were not caught."`
	Caught   int                `json:"caught" doc:"Approved agents that were caught, and are lent nothing."`
	Policy   verify.Policy      `json:"policy"`
	Forecast verify.Forecast    `json:"forecast"`
	Warnings []functions.Reason `json:"warnings,omitempty" doc:"What speaks against the policy: the job would be taken all the same."`
	// RecheckSeconds is nil where no shard of the version has been executed yet.
	RecheckSeconds *float64             `json:"recheck_seconds,omitempty" doc:"About how long servers would execute shards of the job, by what this version's last jobs took; left out where there was none."`
	Controls       int                  `json:"controls,omitempty" doc:"Shards with known answers that the job would bring: an execution each at least, besides those of the forecast; as many as the policy asks for at a time under a quorum."`
	RecheckBudget  tenant.RecheckBudget `json:"recheck_budget" doc:"For how long servers execute the project's shards on one day."`
}

// MaxPlannedAgents is how many agents a plan counts, the longest known first.
const MaxPlannedAgents = 10_000

// PlanJob says what a job would take with the agents at hand. Nothing is submitted.
func (s *Service) PlanJob(ctx context.Context, project uuid.UUID, want functions.NewJob) (JobPlan, error) {
	plan, err := s.planJob(ctx, project, want)
	if err != nil {
		return JobPlan{}, err
	}
	forecast, err := s.Forecast(ctx, project, plan.policy, plan.shards, plan.manifest.Volumes)
	if err != nil {
		return JobPlan{}, err
	}
	caught, err := s.countCaught(ctx, project, plan.manifest.Volumes)
	if err != nil {
		return JobPlan{}, err
	}
	p := JobPlan{Caught: caught, Controls: len(plan.controls), Function: plan.manifest.Name, Version: plan.version, Shards: plan.shards, Agents: forecast.Agents, Policy: plan.policy, Forecast: forecast}
	if p.Warnings, err = s.warnings(ctx, project, plan.policy, plan.manifest.Volumes); err != nil {
		return p, err
	}
	err = s.planRechecks(ctx, project, plan, &p)
	return p, err
}

// Forecast says what so many shards of a function that wants volumes would take under a policy, with the agents and servers at hand.
func (s *Service) Forecast(ctx context.Context, project uuid.UUID, p verify.Policy, shards int64, volumes []bundle.Volume) (verify.Forecast, error) {
	hands, err := s.hands(ctx, project, volumes)
	if err != nil {
		return verify.Forecast{}, err
	}
	means, err := s.means(ctx, project, volumes)
	if err != nil {
		return verify.Forecast{}, err
	}
	return verify.Plan(p, hands, shards, means)
}

// countCaught counts agents that could work for the project, were they not caught.
func (s *Service) countCaught(ctx context.Context, project uuid.UUID, volumes []bundle.Volume) (n int, err error) {
	hands, err := s.hands(ctx, project, volumes)
	for _, h := range hands {
		if standing, _ := verify.StandingOf(h.Evidence); standing == verify.Caught {
			n++
		}
	}
	return n, err
}

// hands are the agents that a job could be lent to: those that have the volumes which its function wants.
func (s *Service) hands(ctx context.Context, project uuid.UUID, volumes []bundle.Volume) (hands []verify.Hand, err error) {
	for page := (functions.ListPage{Limit: functions.MaxListLimit}); len(hands) < MaxPlannedAgents; {
		list, err := s.fleet.ListProjectAgents(ctx, project, page)
		if err != nil {
			return nil, err
		}
		for _, a := range list {
			page.After = a.ID.String()
			if a.State != fleet.AgentActive || a.Excluded || !stocked(a, volumes) {
				continue
			}
			e := verify.Evidence{Passed: a.Passed, Failed: a.Failed, Caught: a.CaughtAt != nil, SinceFailure: a.SinceFailure}
			hands = append(hands, verify.Hand{Agent: a.ID.String(), Owner: a.Owner, Share: float64(max(1, a.Platform.CPUs)), Evidence: e})
		}
		if len(list) < page.Limit {
			break
		}
	}
	return hands, nil
}

// planRechecks says what a job's rechecks would take, where it is known, and what the project has left.
func (s *Service) planRechecks(ctx context.Context, project uuid.UUID, plan plannedJob, p *JobPlan) error {
	err := s.env.Project(ctx, project, func(tx *store.Tx) error {
		mean, _, err := store.Value[*float64](ctx, tx, sql.MeanShard, plan.function, plan.version)
		if err == nil && mean != nil {
			p.RecheckSeconds = new(*mean * p.Forecast.Rechecks)
		}
		return err
	})
	if err != nil {
		return err
	}
	return s.env.Control(ctx, func(tx pgx.Tx) (err error) {
		p.RecheckBudget, err = s.tenant.ReadRecheckBudget(ctx, tx, project)
		return err
	})
}
