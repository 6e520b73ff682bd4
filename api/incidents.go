package api

import (
	"context"
	"net/http"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/submit"
	"github.com/ostraka/ostraka/functions/trust"
)

// Incidents is what the API asks of the domain about results of agents that were caught too late.
type Incidents interface {
	ListIncidents(ctx context.Context, project uuid.UUID, job *uuid.UUID, page functions.ListPage) ([]trust.Incident, error)
	GetIncident(ctx context.Context, project, id uuid.UUID) (trust.IncidentDetail, error)
}

// IncidentPath names an incident of a project.
type IncidentPath struct {
	InProject
	Incident PathID `path:"incident"`
}

// ListIncidentsInput asks for incidents.
type ListIncidentsInput struct {
	ListInProject
	Job PathID `query:"job" doc:"Only those of this job."`
}

type incidentOutput struct {
	Body trust.IncidentDetail
}

type jobPlanOutput struct {
	Body submit.JobPlan
}

func (s *server) trustOperations() {
	const path = "/v1/projects/{project}/incidents"
	register(s, operation{
		id: "listIncidents", method: http.MethodGet, path: path, tag: "rules", summary: "List jobs that keep final results of agents that were caught later",
		about:  "Such results are within the promise of the job's bound. They are listed here and never silently kept.",
		access: readers(),
	}, s.listIncidents)
	register(s, operation{
		id: "getIncident", method: http.MethodGet, path: path + "/{incident}", tag: "rules", summary: "Get an incident with its shards", access: readers(),
	}, s.getIncident)
	register(s, operation{
		id: "planJob", method: http.MethodPost, path: "/v1/projects/{project}/job-plans", tag: "jobs", summary: "Say what a job would take",
		about:  "Expected executions for each shard, rechecks by the server, and the error bound, with the agents at hand. Nothing is submitted.",
		access: runners(), body: body{limit: MaxJobBody},
	}, s.planJob)
}

func (s *server) listIncidents(ctx context.Context, c *call, in *ListIncidentsInput) (*Listed[trust.Incident], error) {
	project, page, err := in.read(cursorOfID)
	if err != nil {
		return nil, err
	}
	var job *uuid.UUID
	if in.Job != "" {
		id, err := pathID("job", in.Job)
		if err != nil {
			return nil, err
		}
		job = &id
	}
	items, err := s.service.ListIncidents(ctx, project, job, page)
	if err != nil {
		return nil, err
	}
	return listed(c, page, items, cursorOfID, func(i trust.Incident) string { return i.ID.String() }), nil
}

func (s *server) getIncident(ctx context.Context, _ *call, in *IncidentPath) (*incidentOutput, error) {
	project, id, err := in.and("incident", in.Incident)
	if err != nil {
		return nil, err
	}
	d, err := s.service.GetIncident(ctx, project, id)
	if err != nil {
		return nil, err
	}
	if d.Numbers == nil {
		d.Numbers = []int64{}
	}
	return &incidentOutput{Body: d}, nil
}

func (s *server) planJob(ctx context.Context, _ *call, in *SubmitJobInput) (*jobPlanOutput, error) {
	project, err := in.id()
	if err != nil {
		return nil, err
	}
	job, err := in.Body.job()
	if err != nil {
		return nil, err
	}
	p, err := s.service.PlanJob(ctx, project, job)
	if err != nil {
		return nil, err
	}
	if p.Forecast.Notes == nil {
		p.Forecast.Notes = []string{}
	}
	return &jobPlanOutput{Body: p}, nil
}
