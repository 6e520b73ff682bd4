package api

import (
	"context"
	"net/http"

	"github.com/google/uuid"

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
	InProject
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
	InProject
	Token PathID `path:"token"`
}

func (s *server) enrolmentTokenOperations() {
	const path = "/v1/projects/{project}/enrolment-tokens"
	register(s, operation{
		id: "createEnrolmentToken", method: http.MethodPost, path: path, tag: "projects", summary: "Create an enrolment token",
		about:  "Agents join the project with it. The secret is in this answer and nowhere else: a repetition with the same `Idempotency-Key` answers 409 `secret_shown_once`.",
		access: roles(functions.RoleOwner), status: http.StatusCreated, body: body{limit: MaxJSONBody}, retry: retryWithKey,
	}, s.createEnrolmentToken)
	register(s, operation{
		id: "listEnrolmentTokens", method: http.MethodGet, path: path, tag: "projects", summary: "List the project's enrolment tokens",
		access: roles(functions.RoleOwner),
	}, s.listEnrolmentTokens)
	register(s, operation{
		id: "revokeEnrolmentToken", method: http.MethodDelete, path: path + "/{token}", tag: "projects", summary: "Revoke an enrolment token",
		about:  "Agents that have joined with it stay.",
		access: roles(functions.RoleOwner), status: http.StatusNoContent,
	}, s.revokeEnrolmentToken)
}

func (s *server) createEnrolmentToken(ctx context.Context, c *call, in *CreateEnrolmentTokenInput) (*createEnrolmentTokenOutput, error) {
	project, err := in.id()
	if err != nil {
		return nil, err
	}
	t, secret, again, err := s.service.CreateEnrolmentToken(ctx, c.principal, project, fleet.NewEnrolmentToken{
		Name: in.Body.Name, Owner: in.Body.Owner, Expires: in.Body.expiry(), MaxUses: in.Body.MaxUses,
	}, c.idem)
	if err != nil {
		return nil, err
	}
	if again {
		return nil, shownOnce("the secret of the enrolment token "+t.ID.String(), "if it is lost, revoke that token and create another with a new Idempotency-Key")
	}
	return &createEnrolmentTokenOutput{Body: CreatedEnrolmentToken{Token: t, Secret: secret}}, nil
}

func (s *server) listEnrolmentTokens(ctx context.Context, c *call, in *ListInProject) (*Listed[fleet.EnrolmentToken], error) {
	return listOfProject(ctx, c, in, cursorOfID, s.service.ListEnrolmentTokens, func(t fleet.EnrolmentToken) string { return t.ID.String() })
}

func (s *server) revokeEnrolmentToken(ctx context.Context, c *call, in *EnrolmentTokenPath) (*nothing, error) {
	project, token, err := in.and("enrolment token", in.Token)
	if err != nil {
		return nil, err
	}
	return nil, s.service.RevokeEnrolmentToken(ctx, c.principal, project, token)
}
