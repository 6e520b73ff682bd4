package jobs

import (
	"context"
	"net/http"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/api/rest"
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
	rest.InProject
	Body planner.Rule
}

// RulePath names a rule of a project.
type RulePath struct {
	rest.InProject
	Rule rest.PathID `path:"rule"`
}

func (p RulePath) ids() (project, rule uuid.UUID, err error) { return p.And("rule", p.Rule) }

// UpdateRuleInput replaces a rule.
type UpdateRuleInput struct {
	RulePath
	rest.Conditional
	Body planner.Rule
}

// DeleteRuleInput deletes a rule.
type DeleteRuleInput struct {
	RulePath
	rest.Conditional
}

type createdRuleOutput struct {
	rest.Replayed
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
	rest.Register(s.Server, rest.Operation{
		ID: "createRule", Method: http.MethodPost, Path: path, Tag: "rules", Summary: "Create a follow-up rule",
		About:  "The expressions are checked at once; an error shows its line and column.",
		Access: rest.Roles(functions.RoleOwner), Status: http.StatusCreated, Body: rest.Body{Limit: rest.MaxJSONBody}, Retry: rest.RetryWithKey,
	}, s.createRule)
	rest.Register(s.Server, rest.Operation{
		ID: "listRules", Method: http.MethodGet, Path: path, Tag: "rules", Summary: "List follow-up rules", Access: rest.Readers(),
	}, s.listRules)
	rest.Register(s.Server, rest.Operation{
		ID: "getRule", Method: http.MethodGet, Path: path + "/{rule}", Tag: "rules", Summary: "Get a follow-up rule", Access: rest.Readers(),
	}, s.getRule)
	rest.Register(s.Server, rest.Operation{
		ID: "replaceRule", Method: http.MethodPut, Path: path + "/{rule}", Tag: "rules", Summary: "Replace a follow-up rule",
		Access: rest.Roles(functions.RoleOwner), Body: rest.Body{Limit: rest.MaxJSONBody},
	}, s.replaceRule)
	rest.Register(s.Server, rest.Operation{
		ID: "deleteRule", Method: http.MethodDelete, Path: path + "/{rule}", Tag: "rules", Summary: "Delete a follow-up rule",
		Access: rest.Roles(functions.RoleOwner), Status: http.StatusNoContent,
	}, s.deleteRule)
}

func (s *server) createRule(ctx context.Context, c *rest.Call, in *CreateRuleInput) (*createdRuleOutput, error) {
	project, err := in.ID()
	if err != nil {
		return nil, err
	}
	r, again, err := s.service.CreateRule(ctx, c.Principal, project, in.Body, c.Idem)
	if err != nil {
		return nil, err
	}
	return &createdRuleOutput{Replayed: rest.ReplayedAs(again), Location: "/v1/projects/" + string(in.Project) + "/rules/" + r.ID.String(), ETag: rest.RevisionTag(r.Revision), Body: r}, nil
}

func (s *server) listRules(ctx context.Context, c *rest.Call, in *rest.ListInProject) (*rest.Listed[submit.Rule], error) {
	return rest.AnswerListOfProject(ctx, c, in, rest.CursorOfID, s.service.ListRules, func(r submit.Rule) string { return r.ID.String() })
}

func (s *server) getRule(ctx context.Context, _ *rest.Call, in *RulePath) (*ruleOutput, error) {
	project, rule, err := in.ids()
	if err != nil {
		return nil, err
	}
	r, err := s.service.GetRule(ctx, project, rule)
	if err != nil {
		return nil, err
	}
	return &ruleOutput{ETag: rest.RevisionTag(r.Revision), Body: r}, nil
}

func (s *server) replaceRule(ctx context.Context, c *rest.Call, in *UpdateRuleInput) (*ruleOutput, error) {
	project, rule, err := in.ids()
	if err != nil {
		return nil, err
	}
	revision, err := in.Revision()
	if err != nil {
		return nil, err
	}
	r, err := s.service.UpdateRule(ctx, c.Principal, project, rule, in.Body, revision)
	if err != nil {
		return nil, err
	}
	return &ruleOutput{ETag: rest.RevisionTag(r.Revision), Body: r}, nil
}

func (s *server) deleteRule(ctx context.Context, c *rest.Call, in *DeleteRuleInput) (*rest.Nothing, error) {
	project, rule, err := in.ids()
	if err != nil {
		return nil, err
	}
	revision, err := in.Revision()
	if err != nil {
		return nil, err
	}
	return nil, s.service.DeleteRule(ctx, c.Principal, project, rule, revision)
}
