package api

import (
	"context"
	"net/http"
	"time"

	"github.com/ostraka/ostraka/functions"
)

// CreateKeyInput asks for a key.
type CreateKeyInput struct {
	InProject
	Body struct {
		Name      string     `json:"name" minLength:"1" maxLength:"200" doc:"What the key is for, for people." example:"nightly runs"`
		Role      string     `json:"role" enum:"owner,submitter,viewer,auditor" doc:"An owner may do everything in the project, a submitter may run jobs, a viewer may read, an auditor reads the audit log."`
		ExpiresAt *time.Time `json:"expires_at,omitempty" doc:"When the key stops working; never when left out."`
	} `nameHint:"NewKey"`
}

// CreatedKey is a new key with its secret.
type CreatedKey struct {
	Key    functions.Key `json:"key"`
	Secret string        `json:"secret" doc:"What goes into the Authorization header. It is shown this once."`
}

type createKeyOutput struct {
	Body CreatedKey
}

// KeyPath names a key of a project.
type KeyPath struct {
	InProject
	Key PathID `path:"key"`
}

type nothing struct{}

func (s *server) keyOperations() {
	register(s, operation{
		id: "createKey", method: http.MethodPost, path: "/v1/projects/{project}/keys", tag: "projects", summary: "Create a key",
		about:  "The secret is in this answer and nowhere else: a repetition with the same `Idempotency-Key` answers 409 `secret_shown_once`.",
		access: roles(functions.RoleOwner), status: http.StatusCreated, body: body{limit: MaxJSONBody}, retry: retryWithKey,
	}, s.createKey)
	register(s, operation{
		id: "listKeys", method: http.MethodGet, path: "/v1/projects/{project}/keys", tag: "projects", summary: "List the project's keys",
		access: roles(functions.RoleOwner),
	}, s.listKeys)
	register(s, operation{
		id: "revokeKey", method: http.MethodDelete, path: "/v1/projects/{project}/keys/{key}", tag: "projects", summary: "Revoke a key",
		access: roles(functions.RoleOwner), status: http.StatusNoContent,
	}, s.revokeKey)
}

func (s *server) createKey(ctx context.Context, c *call, in *CreateKeyInput) (*createKeyOutput, error) {
	project, err := in.id()
	if err != nil {
		return nil, err
	}
	k, secret, again, err := s.service.CreateKey(ctx, c.principal, project, in.Body.Name, functions.Role(in.Body.Role), in.Body.ExpiresAt, c.idem)
	if err != nil {
		return nil, err
	}
	if again {
		return nil, shownOnce("the secret of the key "+k.ID.String(), "if it is lost, revoke that key and create another with a new Idempotency-Key")
	}
	s.doors.refused.Forget(asKey + secret)
	return &createKeyOutput{Body: CreatedKey{Key: k, Secret: secret}}, nil
}

func (s *server) listKeys(ctx context.Context, c *call, in *ListInProject) (*Listed[functions.Key], error) {
	return listOfProject(ctx, c, in, cursorOfID, s.service.ListKeys, func(k functions.Key) string { return k.ID.String() })
}

func (s *server) revokeKey(ctx context.Context, c *call, in *KeyPath) (*nothing, error) {
	project, key, err := in.and("key", in.Key)
	if err != nil {
		return nil, err
	}
	return nil, s.service.RevokeKey(ctx, c.principal, project, key)
}
