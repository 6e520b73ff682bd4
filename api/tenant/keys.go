package tenant

import (
	"context"
	"net/http"
	"time"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/api/rest"
	"github.com/ostraka/ostraka/functions"
)

// Keys is what the API asks of the domain about API keys.
type Keys interface {
	CreateKey(ctx context.Context, by functions.Principal, project uuid.UUID, name string, role functions.Role, expires *functions.Expiry, idem functions.Idempotency) (k functions.Key, secret string, replayed bool, err error)
	ListKeys(ctx context.Context, project uuid.UUID, page functions.ListPage) ([]functions.Key, error)
	RevokeKey(ctx context.Context, by functions.Principal, project, id uuid.UUID) error
	RotateKey(ctx context.Context, by functions.Principal, project, id uuid.UUID, overlap time.Duration, expires *functions.Expiry, idem functions.Idempotency) (k functions.Key, secret string, replayed bool, err error)
	RecoverOwner(ctx context.Context, by functions.Principal, project uuid.UUID, name, reason string, expires *functions.Expiry, idem functions.Idempotency) (k functions.Key, secret string, replayed bool, err error)
}

// Ending is when a key or a token stops working.
type Ending struct {
	ExpiresAt        *time.Time `json:"expires_at,omitempty" doc:"When it stops working. Left out, as expires_in_seconds is: a key works until it is revoked, a token for 90 days."`
	ExpiresInSeconds int64      `json:"expires_in_seconds,omitempty" minimum:"1" maximum:"3155760000" doc:"For how long it works, in the place of expires_at. A request that is sent again, since a person must say yes first, asks for the same."`
}

// expiry is what was asked for; nil: nothing.
func (e Ending) expiry() *functions.Expiry {
	switch {
	case e.ExpiresAt != nil:
		return &functions.Expiry{At: *e.ExpiresAt, Seconds: e.ExpiresInSeconds}
	case e.ExpiresInSeconds != 0:
		return &functions.Expiry{Seconds: e.ExpiresInSeconds}
	}
	return nil
}

// CreateKeyInput asks for a key.
type CreateKeyInput struct {
	rest.InProject
	Body struct {
		Name string `json:"name" minLength:"1" maxLength:"200" doc:"What the key is for, for people." example:"nightly runs"`
		Role string `json:"role" enum:"owner,submitter,viewer,auditor,reviewer" doc:"An owner may do everything in the project, a submitter may run jobs, a viewer may read, an auditor reads the audit log, a reviewer decides about flags and approvals."`
		Ending
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
	rest.InProject
	Key rest.PathID `path:"key"`
}

// RotateKeyInput asks for a key in place of another one.
type RotateKeyInput struct {
	KeyPath
	Body struct {
		OverlapSeconds int64 `json:"overlap_seconds" minimum:"0" maximum:"2678400" doc:"For how long the old key goes on working; 0 ends it at once."`
		Ending
	} `nameHint:"KeyRotation"`
}

// RecoverOwnerInput asks for an owner's key of a project whose owner has lost theirs.
type RecoverOwnerInput struct {
	rest.InProject
	Body struct {
		Name   string `json:"name" minLength:"1" maxLength:"200" doc:"What the key is for, for people." example:"Ada's new key"`
		Reason string `json:"reason" minLength:"1" maxLength:"2000" doc:"Why: the project's audit log and the installation's keep it." example:"the owner lost the key and was called back by telephone"`
		Ending
	} `nameHint:"OwnerRecovery"`
}

func (s *server) keyOperations() {
	rest.Register(s.Server, rest.Operation{
		ID: "createKey", Method: http.MethodPost, Path: "/v1/projects/{project}/keys", Tag: "projects", Summary: "Create a key",
		About:  "The secret is in this answer and nowhere else: a repetition with the same `Idempotency-Key` answers 409 `secret_shown_once`.",
		Access: rest.Roles(functions.RoleOwner), Status: http.StatusCreated, Body: rest.Body{Limit: rest.MaxJSONBody}, Retry: rest.RetryWithKey,
	}, s.createKey)
	rest.Register(s.Server, rest.Operation{
		ID: "listKeys", Method: http.MethodGet, Path: "/v1/projects/{project}/keys", Tag: "projects", Summary: "List the project's keys",
		Access: rest.Roles(functions.RoleOwner),
	}, s.listKeys)
	rest.Register(s.Server, rest.Operation{
		ID: "revokeKey", Method: http.MethodDelete, Path: "/v1/projects/{project}/keys/{key}", Tag: "projects", Summary: "Revoke a key",
		Access: rest.Roles(functions.RoleOwner), Status: http.StatusNoContent, Ends: true,
	}, s.revokeKey)
	rest.Register(s.Server, rest.Operation{
		ID: "rotateKey", Method: http.MethodPost, Path: "/v1/projects/{project}/keys/{key}/rotate", Tag: "projects", Summary: "Replace a key",
		About: "Makes a key of the same name and role. The old one goes on working for a while, so that whoever uses it can change it without an interruption. " +
			"The secret is in this answer and nowhere else.",
		Access: rest.Roles(functions.RoleOwner), Status: http.StatusCreated, Body: rest.Body{Limit: rest.MaxJSONBody}, Retry: rest.RetryWithKey,
	}, s.rotateKey)
	rest.Register(s.Server, rest.Operation{
		ID: "recoverOwner", Method: http.MethodPost, Path: "/v1/projects/{project}/recover-owner", Tag: "projects", Summary: "Make an owner's key for a project whose owner has lost theirs",
		About:  "For operators. The project's own audit log keeps who did it and why, and the key is listed among the project's. The secret is in this answer and nowhere else.",
		Access: rest.Roles(functions.RoleOperator), Status: http.StatusCreated, Body: rest.Body{Limit: rest.MaxJSONBody}, Retry: rest.RetryWithKey,
	}, s.recoverOwner)
}

func (s *server) createKey(ctx context.Context, c *rest.Call, in *CreateKeyInput) (*createKeyOutput, error) {
	project, err := in.ID()
	if err != nil {
		return nil, err
	}
	k, secret, again, err := s.service.CreateKey(ctx, c.Principal, project, in.Body.Name, functions.Role(in.Body.Role), in.Body.expiry(), c.Idem)
	return s.createdKey(k, secret, again, err)
}

func (s *server) createdKey(k functions.Key, secret string, again bool, err error) (*createKeyOutput, error) {
	if err != nil {
		return nil, err
	}
	if again {
		return nil, rest.ShownOnce("the secret of the key "+k.ID.String(), "if it is lost, revoke that key and create another with a new Idempotency-Key")
	}
	s.Doors.Refused.Forget(rest.AsKey + secret)
	return &createKeyOutput{Body: CreatedKey{Key: k, Secret: secret}}, nil
}

func (s *server) rotateKey(ctx context.Context, c *rest.Call, in *RotateKeyInput) (*createKeyOutput, error) {
	project, key, err := in.And("key", in.Key)
	if err != nil {
		return nil, err
	}
	k, secret, again, err := s.service.RotateKey(ctx, c.Principal, project, key, time.Duration(in.Body.OverlapSeconds)*time.Second, in.Body.expiry(), c.Idem)
	return s.createdKey(k, secret, again, err)
}

func (s *server) recoverOwner(ctx context.Context, c *rest.Call, in *RecoverOwnerInput) (*createKeyOutput, error) {
	project, err := in.ID()
	if err != nil {
		return nil, err
	}
	k, secret, again, err := s.service.RecoverOwner(ctx, c.Principal, project, in.Body.Name, in.Body.Reason, in.Body.expiry(), c.Idem)
	return s.createdKey(k, secret, again, err)
}

func (s *server) listKeys(ctx context.Context, c *rest.Call, in *rest.ListInProject) (*rest.Listed[functions.Key], error) {
	return rest.AnswerListOfProject(ctx, c, in, rest.CursorOfID, s.service.ListKeys, func(k functions.Key) string { return k.ID.String() })
}

func (s *server) revokeKey(ctx context.Context, c *rest.Call, in *KeyPath) (*rest.Nothing, error) {
	project, key, err := in.And("key", in.Key)
	if err != nil {
		return nil, err
	}
	return nil, s.service.RevokeKey(ctx, c.Principal, project, key)
}
