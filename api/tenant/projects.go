package tenant

import (
	"context"
	"net/http"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/api/rest"
	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/tenant"
	"github.com/ostraka/ostraka/runtime/monitor/threshold"
)

// Projects is what the API asks of the domain about projects.
type Projects interface {
	CreateProject(ctx context.Context, by functions.Principal, name string, idem functions.Idempotency) (p functions.Project, ownerKey string, replayed bool, err error) // ownerKey is empty when replayed
	GetProject(ctx context.Context, id uuid.UUID) (functions.Project, error)
	ListProjects(ctx context.Context, page functions.ListPage) ([]functions.Project, error)
	UpdateProject(ctx context.Context, by functions.Principal, id uuid.UUID, change tenant.ProjectChange, revision int64) (functions.Project, error)
}

// CreateProjectInput asks for a project.
type CreateProjectInput struct {
	Body struct {
		Name string `json:"name" pattern:"^[a-z][a-z0-9-]{0,62}$" example:"number-theory" doc:"Lower-case letters, digits and hyphens, starting with a letter."`
	} `nameHint:"NewProject"`
}

// CreatedProject is a new project with its first key.
type CreatedProject struct {
	Project  functions.Project `json:"project"`
	OwnerKey string            `json:"owner_key" doc:"The project's first key, of role owner. It is shown this once."`
}

type createProjectOutput struct {
	rest.Replayed
	Location string `header:"Location"`
	ETag     string `header:"ETag"`
	Body     CreatedProject
}

// UpdateProjectInput changes a project.
type UpdateProjectInput struct {
	rest.InProject
	rest.Conditional
	Body struct {
		FollowupsEnabled *bool                       `json:"followups_enabled,omitempty" doc:"Whether rules may create follow-up jobs in this project."`
		AgentsOpen       *bool                       `json:"agents_open,omitempty" doc:"Whether every approved agent may work for the project, and not only those that joined with its token or were admitted."`
		MinIsolation     *string                     `json:"min_isolation,omitempty" enum:"gvisor,container,wasm,linux,linux-nocgroup,landlock,process" doc:"The weakest isolation that the project accepts."`
		Monitor          *threshold.Rules            `json:"monitor,omitempty" doc:"Thresholds for all of the project's sandboxes, as a whole; an empty object takes them away."`
		Heuristics       *functions.HeuristicsPolicy `json:"heuristics,omitempty" doc:"What looks at the project's code and results, as a whole; without any nothing does."`
		Weight           *int                        `json:"weight,omitempty" minimum:"1" maximum:"1000" doc:"The project's share of the agents that serve several projects: one of twice the weight has twice as many turns; 100 at first. It takes an operator's key."`
		RecheckSeconds   *int64                      `json:"recheck_seconds,omitempty" minimum:"0" maximum:"86400000" doc:"For how many seconds a day servers execute the project's shards at most; 0: what the server says. It takes an operator's key."`
		ArchiveJobsDays  *int                        `json:"archive_jobs_days,omitempty" minimum:"-1" maximum:"36500" doc:"After how many days jobs that have ended become archives: their shards leave the database for files; 0: never; -1: what the server says."`
		AuditDays        *int                        `json:"audit_days,omitempty" minimum:"-1" maximum:"36500" doc:"For how many days records of the audit log keep what they say; then their hashes are left, every day for what is older; 0: until somebody prunes them; -1: what the server says."`
		KeepJobsDays     *int                        `json:"keep_jobs_days,omitempty" minimum:"0" maximum:"36500" doc:"For how many days jobs are kept that have ended, with all that belongs to them; 0: until somebody deletes them. What is older when this is set is deleted, too."`
	} `nameHint:"ProjectChange"`
}

// GetProjectInput asks for a project.
type GetProjectInput struct {
	rest.InProject
	IfNoneMatch string `header:"If-None-Match" doc:"The ETag of the last answer: 304 when the project is still the same."`
}

type conditionalProjectOutput struct {
	Status int
	ETag   string `header:"ETag"`
	Body   *functions.Project
}

type projectOutput struct {
	ETag string `header:"ETag"`
	Body functions.Project
}

func (s *server) projectOperations() {
	rest.Register(s.Server, rest.Operation{
		ID: "createProject", Method: http.MethodPost, Path: "/v1/projects", Tag: "projects", Summary: "Create a project",
		About:  "The answer holds the project's first key. It is not stored and cannot be shown again: a repetition with the same `Idempotency-Key` answers 409 `secret_shown_once`.",
		Access: rest.Roles(functions.RoleOperator), Status: http.StatusCreated, Body: rest.Body{Limit: rest.MaxJSONBody}, Retry: rest.RetryWithKey,
	}, s.createProject)
	rest.Register(s.Server, rest.Operation{
		ID: "listProjects", Method: http.MethodGet, Path: "/v1/projects", Tag: "projects", Summary: "List projects",
		Access: rest.Roles(functions.RoleOperator),
	}, s.listProjects)
	rest.Register(s.Server, rest.Operation{
		ID: "getProject", Method: http.MethodGet, Path: "/v1/projects/{project}", Tag: "projects", Summary: "Get a project",
		Access: rest.Roles(functions.RoleOwner, functions.RoleSubmitter, functions.RoleViewer, functions.RoleOperator), Answers: rest.NotModified(),
	}, s.getProject)
	rest.Register(s.Server, rest.Operation{
		ID: "updateProject", Method: http.MethodPatch, Path: "/v1/projects/{project}", Tag: "projects", Summary: "Change a project",
		About:  "Fields that are left out stay as they are.",
		Access: rest.Roles(functions.RoleOwner, functions.RoleOperator), Body: rest.Body{Limit: rest.MaxJSONBody},
	}, s.updateProject)
	s.quotaOperations()
}

func (s *server) createProject(ctx context.Context, c *rest.Call, in *CreateProjectInput) (*createProjectOutput, error) {
	p, key, again, err := s.service.CreateProject(ctx, c.Principal, in.Body.Name, c.Idem)
	if err != nil {
		return nil, err
	}
	if again {
		return nil, rest.ShownOnce("the project's first key", "create the project under another name, or let an operator look into the project "+p.ID.String())
	}
	return &createProjectOutput{Location: "/v1/projects/" + p.ID.String(), ETag: rest.RevisionTag(p.Revision), Body: CreatedProject{Project: p, OwnerKey: key}}, nil
}

func (s *server) listProjects(ctx context.Context, c *rest.Call, in *rest.Paging) (*rest.Listed[functions.Project], error) {
	page, err := in.Page(rest.CursorOfID)
	if err != nil {
		return nil, err
	}
	items, err := s.service.ListProjects(ctx, page)
	if err != nil {
		return nil, err
	}
	return rest.AnswerList(c, page, items, rest.CursorOfID, func(p functions.Project) string { return p.ID.String() }), nil
}

func (s *server) getProject(ctx context.Context, _ *rest.Call, in *GetProjectInput) (*conditionalProjectOutput, error) {
	id, err := in.ID()
	if err != nil {
		return nil, err
	}
	p, err := s.service.GetProject(ctx, id)
	if err != nil {
		return nil, err
	}
	tag := rest.RevisionTag(p.Revision)
	if rest.TagMatches(in.IfNoneMatch, tag) {
		return &conditionalProjectOutput{Status: http.StatusNotModified, ETag: tag}, nil
	}
	return &conditionalProjectOutput{Status: http.StatusOK, ETag: tag, Body: &p}, nil
}

func (s *server) updateProject(ctx context.Context, c *rest.Call, in *UpdateProjectInput) (*projectOutput, error) {
	id, err := in.ID()
	if err != nil {
		return nil, err
	}
	revision, err := in.Revision()
	if err != nil {
		return nil, err
	}
	p, err := s.service.UpdateProject(ctx, c.Principal, id, tenant.ProjectChange{
		FollowupsEnabled: in.Body.FollowupsEnabled, AgentsOpen: in.Body.AgentsOpen, MinIsolation: in.Body.MinIsolation, Monitor: in.Body.Monitor, Heuristics: in.Body.Heuristics, Weight: in.Body.Weight, RecheckSeconds: in.Body.RecheckSeconds,
		KeepJobsDays: in.Body.KeepJobsDays, ArchiveJobsDays: in.Body.ArchiveJobsDays, AuditDays: in.Body.AuditDays,
	}, revision)
	if err != nil {
		return nil, err
	}
	return &projectOutput{ETag: rest.RevisionTag(p.Revision), Body: p}, nil
}
