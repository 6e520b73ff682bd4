package registry

import (
	"context"
	"net/http"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/api/rest"
	"github.com/ostraka/ostraka/functions"
)

// Signing is what the API asks of the domain about the keys by which owners sign functions.
type Signing interface {
	// RegisterSigningKey makes a key the project's newest; registering the newest again adds its signatures over bundles.
	RegisterSigningKey(ctx context.Context, by functions.Principal, project uuid.UUID, k functions.NewSigningKey) (key functions.SigningKey, created bool, err error)
	ListSigningKeys(ctx context.Context, project uuid.UUID) ([]functions.SigningKey, error) // the oldest first
	ListAgentProjects(ctx context.Context, agent uuid.UUID, page functions.ListPage) ([]functions.AgentProject, error)
}

// RegisterSigningKeyInput registers a signing key.
type RegisterSigningKeyInput struct {
	rest.InProject
	Body struct {
		Generation   int                         `json:"generation" minimum:"1" maximum:"64" doc:"One more than the project has keys."`
		PublicKey    []byte                      `json:"public_key" doc:"Ed25519, 32 bytes. The private key stays with the project's owner."`
		Signature    []byte                      `json:"signature" doc:"By the key before it, or by itself where it is the first or replaces one that was lost, over the lines ostraka-signing-key/1, the project's ID, the generation and the public key in hexadecimal, each ended by a line feed."`
		ReplacesLost bool                        `json:"replaces_lost,omitempty" doc:"The key before it is lost. Agents that trust that one refuse the project's work until their owners trust this one."`
		Bundles      []functions.BundleSignature `json:"bundles,omitempty" maxItems:"1000" doc:"The key's signatures over bundles that were pushed before. The same request may be sent again with further ones."`
	} `nameHint:"NewSigningKey"`
}

type signingKeyOutput struct {
	Status int
	Body   functions.SigningKey
}

// SigningKeys are all keys that a project ever had.
type SigningKeys struct {
	Keys []functions.SigningKey `json:"keys" doc:"The oldest first; there are at most 64."`
}

type signingKeysOutput struct {
	Body SigningKeys
}

func (s *server) signingOperations() {
	const path = "/v1/projects/{project}/signing-keys"
	rest.Register(s.Server, rest.Operation{
		ID: "registerSigningKey", Method: http.MethodPost, Path: path, Tag: "projects", Summary: "Register a signing key",
		About:  "From then on the project takes no bundle without a signature of its newest key. The newest key again is answered with 200.",
		Access: rest.Roles(functions.RoleOwner), Status: http.StatusCreated, Body: rest.Body{Limit: rest.MaxJSONBody},
		Answers: rest.AlsoOK(s.Server, functions.SigningKey{}, "This is the project's newest key already."),
	}, s.registerSigningKey)
	rest.Register(s.Server, rest.Operation{
		ID: "listSigningKeys", Method: http.MethodGet, Path: path, Tag: "projects", Summary: "List the project's signing keys",
		Access: rest.Readers(),
	}, s.listSigningKeys)
	rest.Register(s.Server, rest.Operation{
		ID: "listAgentProjects", Method: http.MethodGet, Path: "/v1/agent/projects", Tag: "agent protocol", Summary: "List the agent's projects with their signing keys",
		About:  "An agent that has just joined learns from it whom to trust, unless its enrolment token told it.",
		Access: rest.Roles(functions.RoleAgent),
	}, s.listAgentProjects)
}

func (s *server) registerSigningKey(ctx context.Context, c *rest.Call, in *RegisterSigningKeyInput) (*signingKeyOutput, error) {
	project, err := in.ID()
	if err != nil {
		return nil, err
	}
	key, created, err := s.service.RegisterSigningKey(ctx, c.Principal, project, functions.NewSigningKey{
		Generation: in.Body.Generation, PublicKey: in.Body.PublicKey, Signature: in.Body.Signature,
		ReplacesLost: in.Body.ReplacesLost, Bundles: in.Body.Bundles,
	})
	if err != nil {
		return nil, err
	}
	return &signingKeyOutput{Status: rest.CreatedStatus(created), Body: key}, nil
}

func (s *server) listSigningKeys(ctx context.Context, _ *rest.Call, in *rest.InProject) (*signingKeysOutput, error) {
	project, err := in.ID()
	if err != nil {
		return nil, err
	}
	keys, err := s.service.ListSigningKeys(ctx, project)
	if err != nil {
		return nil, err
	}
	return &signingKeysOutput{Body: SigningKeys{Keys: keys}}, nil
}

func (s *server) listAgentProjects(ctx context.Context, c *rest.Call, in *rest.Paging) (*rest.Listed[functions.AgentProject], error) {
	page, err := in.Page(rest.CursorOfID)
	if err != nil {
		return nil, err
	}
	items, err := s.service.ListAgentProjects(ctx, c.Principal.Agent, page)
	if err != nil {
		return nil, err
	}
	return rest.AnswerList(c, page, items, rest.CursorOfID, func(p functions.AgentProject) string { return p.Project.String() }), nil
}
