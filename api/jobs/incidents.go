package jobs

import (
	"context"
	"net/http"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/api/rest"
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
	rest.InProject
	Incident rest.PathID `path:"incident"`
}

// ListIncidentsInput asks for incidents.
type ListIncidentsInput struct {
	rest.ListInProject
	Job rest.PathID `query:"job" doc:"Only those of this job."`
}

type incidentOutput struct {
	Body trust.IncidentDetail
}

type jobPlanOutput struct {
	Body submit.JobPlan
}

func (s *server) trustOperations() {
	const path = "/v1/projects/{project}/incidents"
	rest.Register(s.Server, rest.Operation{
		ID: "listIncidents", Method: http.MethodGet, Path: path, Tag: "rules", Summary: "List jobs that keep final results of agents that were caught later",
		About:  "Such results are within the promise of the job's bound. They are listed here and never silently kept.",
		Access: rest.Readers(),
	}, s.listIncidents)
	rest.Register(s.Server, rest.Operation{
		ID: "getIncident", Method: http.MethodGet, Path: path + "/{incident}", Tag: "rules", Summary: "Get an incident with its shards", Access: rest.Readers(),
	}, s.getIncident)
	rest.Register(s.Server, rest.Operation{
		ID: "planJob", Method: http.MethodPost, Path: "/v1/projects/{project}/job-plans", Tag: "jobs", Summary: "Say what a job would take",
		About:  "Expected executions for each shard, rechecks by the server, and the error bound, with the agents at hand. Nothing is submitted.",
		Access: rest.Runners(), Body: rest.Body{Limit: MaxJobBody},
	}, s.planJob)
}

func (s *server) listIncidents(ctx context.Context, c *rest.Call, in *ListIncidentsInput) (*rest.Listed[trust.Incident], error) {
	project, page, err := in.Read(rest.CursorOfID)
	if err != nil {
		return nil, err
	}
	var job *uuid.UUID
	if in.Job != "" {
		id, err := rest.ReadID("job", in.Job)
		if err != nil {
			return nil, err
		}
		job = &id
	}
	items, err := s.service.ListIncidents(ctx, project, job, page)
	if err != nil {
		return nil, err
	}
	return rest.AnswerList(c, page, items, rest.CursorOfID, func(i trust.Incident) string { return i.ID.String() }), nil
}

func (s *server) getIncident(ctx context.Context, _ *rest.Call, in *IncidentPath) (*incidentOutput, error) {
	project, id, err := in.And("incident", in.Incident)
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

func (s *server) planJob(ctx context.Context, _ *rest.Call, in *SubmitJobInput) (*jobPlanOutput, error) {
	project, err := in.ID()
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
