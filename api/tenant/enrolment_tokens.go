package tenant

import (
	"context"
	"net/http"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/api/rest"
	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/fleet"
)

// EnrolmentTokens is what the API asks of the domain about the tokens by which agents join.
type EnrolmentTokens interface {
	CreateEnrolmentToken(ctx context.Context, by functions.Principal, project uuid.UUID, n fleet.NewEnrolmentToken, idem functions.Idempotency) (t fleet.EnrolmentToken, secret string, replayed bool, err error)
	ListEnrolmentTokens(ctx context.Context, project uuid.UUID, page functions.ListPage) ([]fleet.EnrolmentToken, error)
	RevokeEnrolmentToken(ctx context.Context, by functions.Principal, project, id uuid.UUID) error
}

// CreateEnrolmentTokenInput asks for an enrolment token.
type CreateEnrolmentTokenInput struct {
	rest.InProject
	Body struct {
		Name  string `json:"name" minLength:"1" maxLength:"200" doc:"What the token is for, for people." example:"the lab's workstations"`
		Owner string `json:"owner,omitempty" maxLength:"200" doc:"Whose machines join with it. Left out: all that do are taken for one owner's." example:"chemistry department"`
		Ending
		MaxUses int64 `json:"max_uses,omitempty" minimum:"1" maximum:"1000000" doc:"How many agents may join with it; 1,000 when left out. One that enrols again does not count again."`
	} `nameHint:"NewEnrolmentToken"`
}

// CreatedEnrolmentToken is a new enrolment token with its secret.
type CreatedEnrolmentToken struct {
	Token  fleet.EnrolmentToken `json:"token"`
	Secret string               `json:"secret" doc:"What agents enrol with. It is shown this once."`
}

type createEnrolmentTokenOutput struct {
	Body CreatedEnrolmentToken
}

// EnrolmentTokenPath names an enrolment token of a project.
type EnrolmentTokenPath struct {
	rest.InProject
	Token rest.PathID `path:"token"`
}

func (s *server) enrolmentTokenOperations() {
	const path = "/v1/projects/{project}/enrolment-tokens"
	rest.Register(s.Server, rest.Operation{
		ID: "createEnrolmentToken", Method: http.MethodPost, Path: path, Tag: "projects", Summary: "Create an enrolment token",
		About:  "Agents join the project with it. The secret is in this answer and nowhere else: a repetition with the same `Idempotency-Key` answers 409 `secret_shown_once`.",
		Access: rest.Roles(functions.RoleOwner), Status: http.StatusCreated, Body: rest.Body{Limit: rest.MaxJSONBody}, Retry: rest.RetryWithKey,
	}, s.createEnrolmentToken)
	rest.Register(s.Server, rest.Operation{
		ID: "listEnrolmentTokens", Method: http.MethodGet, Path: path, Tag: "projects", Summary: "List the project's enrolment tokens",
		Access: rest.Roles(functions.RoleOwner),
	}, s.listEnrolmentTokens)
	rest.Register(s.Server, rest.Operation{
		ID: "revokeEnrolmentToken", Method: http.MethodDelete, Path: path + "/{token}", Tag: "projects", Summary: "Revoke an enrolment token",
		About:  "Agents that have joined with it stay.",
		Access: rest.Roles(functions.RoleOwner), Status: http.StatusNoContent, Ends: true,
	}, s.revokeEnrolmentToken)
}

func (s *server) createEnrolmentToken(ctx context.Context, c *rest.Call, in *CreateEnrolmentTokenInput) (*createEnrolmentTokenOutput, error) {
	project, err := in.ID()
	if err != nil {
		return nil, err
	}
	t, secret, again, err := s.service.CreateEnrolmentToken(ctx, c.Principal, project, fleet.NewEnrolmentToken{
		Name: in.Body.Name, Owner: in.Body.Owner, Expires: in.Body.expiry(), MaxUses: in.Body.MaxUses,
	}, c.Idem)
	if err != nil {
		return nil, err
	}
	if again {
		return nil, rest.ShownOnce("the secret of the enrolment token "+t.ID.String(), "if it is lost, revoke that token and create another with a new Idempotency-Key")
	}
	return &createEnrolmentTokenOutput{Body: CreatedEnrolmentToken{Token: t, Secret: secret}}, nil
}

func (s *server) listEnrolmentTokens(ctx context.Context, c *rest.Call, in *rest.ListInProject) (*rest.Listed[fleet.EnrolmentToken], error) {
	return rest.AnswerListOfProject(ctx, c, in, rest.CursorOfID, s.service.ListEnrolmentTokens, func(t fleet.EnrolmentToken) string { return t.ID.String() })
}

func (s *server) revokeEnrolmentToken(ctx context.Context, c *rest.Call, in *EnrolmentTokenPath) (*rest.Nothing, error) {
	project, token, err := in.And("enrolment token", in.Token)
	if err != nil {
		return nil, err
	}
	return nil, s.service.RevokeEnrolmentToken(ctx, c.Principal, project, token)
}
