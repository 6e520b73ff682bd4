package api

import (
	"context"
	"net/http"

	"github.com/google/uuid"

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

// MaxJSONBody is the largest body of an operation that does not say otherwise, in bytes: documents that people write are far below.
const MaxJSONBody = 1 << 20

// InProject are the parameters of operations within a project. The project's ID is read as text: what is no UUID is a project that
// does not exist, and is answered like one.
type InProject struct {
	Project PathID `path:"project" doc:"The project's ID."`
}

// id is the project's ID. The check of the key has compared it with the key's project already, except for operators.
func (p InProject) id() (uuid.UUID, error) { return pathID("project", p.Project) }

// and reads the ID of something in the project too.
func (p InProject) and(what string, given PathID) (project, id uuid.UUID, err error) {
	if project, err = p.id(); err != nil {
		return project, id, err
	}
	id, err = pathID(what, given)
	return project, id, err
}

// pathID reads an ID of a path. Only the canonical form exists; any other text names nothing.
func pathID(what string, given PathID) (uuid.UUID, error) {
	text := string(given)
	id, err := uuid.Parse(text)
	if err != nil || id.String() != text {
		return uuid.UUID{}, functions.NotFound(what, text)
	}
	return id, nil
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
	Replayed
	Location string `header:"Location"`
	ETag     string `header:"ETag"`
	Body     CreatedProject
}

// UpdateProjectInput changes a project.
type UpdateProjectInput struct {
	InProject
	Conditional
	Body struct {
		FollowupsEnabled *bool                       `json:"followups_enabled,omitempty" doc:"Whether rules may create follow-up jobs in this project."`
		AgentsOpen       *bool                       `json:"agents_open,omitempty" doc:"Whether every approved agent may work for the project, and not only those that joined with its token or were admitted."`
		MinIsolation     *string                     `json:"min_isolation,omitempty" enum:"gvisor,container,wasm,linux,linux-nocgroup,landlock,process" doc:"The weakest isolation that the project accepts."`
		Monitor          *threshold.Rules            `json:"monitor,omitempty" doc:"Thresholds for all of the project's sandboxes, as a whole; an empty object takes them away."`
		Heuristics       *functions.HeuristicsPolicy `json:"heuristics,omitempty" doc:"What looks at the project's code and results, as a whole; without any nothing does."`
		Weight           *int                        `json:"weight,omitempty" minimum:"1" maximum:"1000" doc:"The project's share of the agents that serve several projects: one of twice the weight has twice as many turns; 100 at first. It takes an operator's key."`
		RecheckSeconds   *int64                      `json:"recheck_seconds,omitempty" minimum:"0" maximum:"86400000" doc:"For how many seconds a day servers execute the project's shards at most; 0: what the server says. It takes an operator's key."`
		ArchiveJobsDays  *int                        `json:"archive_jobs_days,omitempty" minimum:"-1" maximum:"36500" doc:"After how many days jobs that have ended become archives: their shards leave the database for files; 0: never; -1: what the server says."`
		KeepJobsDays     *int                        `json:"keep_jobs_days,omitempty" minimum:"0" maximum:"36500" doc:"For how many days jobs are kept that have ended, with all that belongs to them; 0: until somebody deletes them. What is older when this is set is deleted, too."`
	} `nameHint:"ProjectChange"`
}

// GetProjectInput asks for a project.
type GetProjectInput struct {
	InProject
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
	register(s, operation{
		id: "createProject", method: http.MethodPost, path: "/v1/projects", tag: "projects", summary: "Create a project",
		about:  "The answer holds the project's first key. It is not stored and cannot be shown again: a repetition with the same `Idempotency-Key` answers 409 `secret_shown_once`.",
		access: roles(functions.RoleOperator), status: http.StatusCreated, body: body{limit: MaxJSONBody}, retry: retryWithKey,
	}, s.createProject)
	register(s, operation{
		id: "listProjects", method: http.MethodGet, path: "/v1/projects", tag: "projects", summary: "List projects",
		access: roles(functions.RoleOperator),
	}, s.listProjects)
	register(s, operation{
		id: "getProject", method: http.MethodGet, path: "/v1/projects/{project}", tag: "projects", summary: "Get a project",
		access: roles(functions.RoleOwner, functions.RoleSubmitter, functions.RoleViewer, functions.RoleOperator), answers: notModified(),
	}, s.getProject)
	register(s, operation{
		id: "updateProject", method: http.MethodPatch, path: "/v1/projects/{project}", tag: "projects", summary: "Change a project",
		about:  "Fields that are left out stay as they are.",
		access: roles(functions.RoleOwner, functions.RoleOperator), body: body{limit: MaxJSONBody},
	}, s.updateProject)
	s.quotaOperations()
}

func (s *server) createProject(ctx context.Context, c *call, in *CreateProjectInput) (*createProjectOutput, error) {
	p, key, again, err := s.service.CreateProject(ctx, c.principal, in.Body.Name, c.idem)
	if err != nil {
		return nil, err
	}
	if again {
		return nil, shownOnce("the project's first key", "create the project under another name, or let an operator look into the project "+p.ID.String())
	}
	return &createProjectOutput{Location: "/v1/projects/" + p.ID.String(), ETag: revisionTag(p.Revision), Body: CreatedProject{Project: p, OwnerKey: key}}, nil
}

// shownOnce is the answer to a repeated request whose answer was a secret: only its digest is stored.
func shownOnce(what, hint string) *Problem {
	return newProblem(http.StatusConflict, codeSecretShownOnce, "this request was done before, and "+what+" was shown then; it cannot be shown again", hint)
}

func (s *server) listProjects(ctx context.Context, c *call, in *Paging) (*Listed[functions.Project], error) {
	page, err := in.page(cursorOfID)
	if err != nil {
		return nil, err
	}
	items, err := s.service.ListProjects(ctx, page)
	if err != nil {
		return nil, err
	}
	return listed(c, page, items, cursorOfID, func(p functions.Project) string { return p.ID.String() }), nil
}

func (s *server) getProject(ctx context.Context, _ *call, in *GetProjectInput) (*conditionalProjectOutput, error) {
	id, err := in.id()
	if err != nil {
		return nil, err
	}
	p, err := s.service.GetProject(ctx, id)
	if err != nil {
		return nil, err
	}
	tag := revisionTag(p.Revision)
	if tagMatches(in.IfNoneMatch, tag) {
		return &conditionalProjectOutput{Status: http.StatusNotModified, ETag: tag}, nil
	}
	return &conditionalProjectOutput{Status: http.StatusOK, ETag: tag, Body: &p}, nil
}

func (s *server) updateProject(ctx context.Context, c *call, in *UpdateProjectInput) (*projectOutput, error) {
	id, err := in.id()
	if err != nil {
		return nil, err
	}
	revision, err := in.revision()
	if err != nil {
		return nil, err
	}
	p, err := s.service.UpdateProject(ctx, c.principal, id, tenant.ProjectChange{
		FollowupsEnabled: in.Body.FollowupsEnabled, AgentsOpen: in.Body.AgentsOpen, MinIsolation: in.Body.MinIsolation, Monitor: in.Body.Monitor, Heuristics: in.Body.Heuristics, Weight: in.Body.Weight, RecheckSeconds: in.Body.RecheckSeconds,
		KeepJobsDays: in.Body.KeepJobsDays, ArchiveJobsDays: in.Body.ArchiveJobsDays,
	}, revision)
	if err != nil {
		return nil, err
	}
	return &projectOutput{ETag: revisionTag(p.Revision), Body: p}, nil
}
