package api

import (
	"context"
	"net/http"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/planner"
	"github.com/ostraka/ostraka/functions/submit"
)

// Rules is what the API asks of the domain about the rules of follow-up jobs.
type Rules interface {
	CreateRule(ctx context.Context, by functions.Principal, project uuid.UUID, spec planner.Rule, idem functions.Idempotency) (r submit.Rule, replayed bool, err error)
	ListRules(ctx context.Context, project uuid.UUID, page functions.ListPage) ([]submit.Rule, error)
	GetRule(ctx context.Context, project, id uuid.UUID) (submit.Rule, error)
	UpdateRule(ctx context.Context, by functions.Principal, project, id uuid.UUID, spec planner.Rule, revision int64) (submit.Rule, error)
	DeleteRule(ctx context.Context, by functions.Principal, project, id uuid.UUID, revision int64) error
}

// CreateRuleInput is a new rule.
type CreateRuleInput struct {
	InProject
	Body planner.Rule
}

// RulePath names a rule of a project.
type RulePath struct {
	InProject
	Rule PathID `path:"rule"`
}

func (p RulePath) ids() (project, rule uuid.UUID, err error) { return p.and("rule", p.Rule) }

// UpdateRuleInput replaces a rule.
type UpdateRuleInput struct {
	RulePath
	Conditional
	Body planner.Rule
}

// DeleteRuleInput deletes a rule.
type DeleteRuleInput struct {
	RulePath
	Conditional
}

type createdRuleOutput struct {
	Replayed
	Location string `header:"Location"`
	ETag     string `header:"ETag"`
	Body     submit.Rule
}

type ruleOutput struct {
	ETag string `header:"ETag"`
	Body submit.Rule
}

func (s *server) ruleOperations() {
	const path = "/v1/projects/{project}/rules"
	register(s, operation{
		id: "createRule", method: http.MethodPost, path: path, tag: "rules", summary: "Create a follow-up rule",
		about:  "The expressions are checked at once; an error shows its line and column.",
		access: roles(functions.RoleOwner), status: http.StatusCreated, body: body{limit: MaxJSONBody}, retry: retryWithKey,
	}, s.createRule)
	register(s, operation{
		id: "listRules", method: http.MethodGet, path: path, tag: "rules", summary: "List follow-up rules", access: readers(),
	}, s.listRules)
	register(s, operation{
		id: "getRule", method: http.MethodGet, path: path + "/{rule}", tag: "rules", summary: "Get a follow-up rule", access: readers(),
	}, s.getRule)
	register(s, operation{
		id: "replaceRule", method: http.MethodPut, path: path + "/{rule}", tag: "rules", summary: "Replace a follow-up rule",
		access: roles(functions.RoleOwner), body: body{limit: MaxJSONBody},
	}, s.replaceRule)
	register(s, operation{
		id: "deleteRule", method: http.MethodDelete, path: path + "/{rule}", tag: "rules", summary: "Delete a follow-up rule",
		access: roles(functions.RoleOwner), status: http.StatusNoContent,
	}, s.deleteRule)
}

func (s *server) createRule(ctx context.Context, c *call, in *CreateRuleInput) (*createdRuleOutput, error) {
	project, err := in.id()
	if err != nil {
		return nil, err
	}
	r, again, err := s.service.CreateRule(ctx, c.principal, project, in.Body, c.idem)
	if err != nil {
		return nil, err
	}
	return &createdRuleOutput{Replayed: replayed(again), Location: "/v1/projects/" + string(in.Project) + "/rules/" + r.ID.String(), ETag: revisionTag(r.Revision), Body: r}, nil
}

func (s *server) listRules(ctx context.Context, c *call, in *ListInProject) (*Listed[submit.Rule], error) {
	return listOfProject(ctx, c, in, cursorOfID, s.service.ListRules, func(r submit.Rule) string { return r.ID.String() })
}

func (s *server) getRule(ctx context.Context, _ *call, in *RulePath) (*ruleOutput, error) {
	project, rule, err := in.ids()
	if err != nil {
		return nil, err
	}
	r, err := s.service.GetRule(ctx, project, rule)
	if err != nil {
		return nil, err
	}
	return &ruleOutput{ETag: revisionTag(r.Revision), Body: r}, nil
}

func (s *server) replaceRule(ctx context.Context, c *call, in *UpdateRuleInput) (*ruleOutput, error) {
	project, rule, err := in.ids()
	if err != nil {
		return nil, err
	}
	revision, err := in.revision()
	if err != nil {
		return nil, err
	}
	r, err := s.service.UpdateRule(ctx, c.principal, project, rule, in.Body, revision)
	if err != nil {
		return nil, err
	}
	return &ruleOutput{ETag: revisionTag(r.Revision), Body: r}, nil
}

func (s *server) deleteRule(ctx context.Context, c *call, in *DeleteRuleInput) (*nothing, error) {
	project, rule, err := in.ids()
	if err != nil {
		return nil, err
	}
	revision, err := in.revision()
	if err != nil {
		return nil, err
	}
	return nil, s.service.DeleteRule(ctx, c.principal, project, rule, revision)
}
