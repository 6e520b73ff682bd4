package fleet

import (
	"context"
	"io"
	"net/http"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/api/rest"
	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/registry"
	"github.com/ostraka/ostraka/runtime/canonical"
)

// Runtimes is what the API asks of the domain about trees with an interpreter, packages and native code.
type Runtimes interface {
	// MissingObjects tells which of some objects are not stored; the others stay for a day at least.
	MissingObjects(ctx context.Context, project uuid.UUID, digests []string) ([]string, error)
	AddRuntime(ctx context.Context, by functions.Principal, project uuid.UUID, want registry.NewRuntime) (r registry.Runtime, created bool, err error)
	ListRuntimes(ctx context.Context, project uuid.UUID, name string, page functions.ListPage) ([]registry.Runtime, error) // in the order in which they came
	GetRuntime(ctx context.Context, project uuid.UUID, name string) (registry.Runtime, error)                              // by its digest, or the newest of a name
	DeleteRuntime(ctx context.Context, by functions.Principal, project uuid.UUID, digest string) error
	// LeaseRuntime opens the manifest or a piece of the runtime that the function of the agent's lease runs in.
	LeaseRuntime(ctx context.Context, agent, lease uuid.UUID, digest string) (io.ReadCloser, int64, error)
}

// maxAskBody is the size of a question about objects.
const maxAskBody = 64 << 10

// MissingObjectsRequest asks which objects are not stored.
type MissingObjectsRequest struct {
	Digests []string `json:"digests" minItems:"1" maxItems:"500" doc:"SHA-256 of each, in hexadecimal."`
}

// MissingObjectsInput asks which objects are not stored.
type MissingObjectsInput struct {
	rest.InProject
	Body MissingObjectsRequest
}

// MissingObjects are those that are not stored.
type MissingObjects struct {
	Missing []string `json:"missing" doc:"In the order of the request. The others stay for a day at least."`
}

type missingObjectsOutput struct {
	Body MissingObjects
}

// AddRuntimeInput says of what to make a runtime.
type AddRuntimeInput struct {
	rest.InProject
	Body registry.NewRuntime
}

type addedRuntimeOutput struct {
	Status   int
	Location string `header:"Location"`
	Body     registry.Runtime
}

type runtimeOutput struct {
	Body registry.Runtime
}

// ListRuntimesInput asks for runtimes.
type ListRuntimesInput struct {
	rest.ListInProject
	Name string `query:"name" maxLength:"63" doc:"Only those of this name."`
}

// RuntimePath names a runtime.
type RuntimePath struct {
	rest.InProject
	Runtime string `path:"reference" maxLength:"64" doc:"A digest, or a name, which means the newest of that name."`
}

// RuntimeDigestPath names one tree.
type RuntimeDigestPath struct {
	rest.InProject
	Digest string `path:"reference" doc:"Its digest."`
}

// LeaseRuntimePath names an object of a lease's runtime.
type LeaseRuntimePath struct {
	LeasePath
	Digest string `path:"digest"`
}

func (s *server) runtimeOperations() {
	const path = "/v1/projects/{project}/runtimes"
	rest.Register(s.Server, rest.Operation{
		ID: "findMissingObjects", Method: http.MethodPost, Path: "/v1/projects/{project}/objects/missing", Tag: "functions", Summary: "Ask which objects are not stored",
		About: "So that an upload that was cut off goes on where it was.", Access: rest.Roles(functions.RoleOwner, functions.RoleSubmitter), Body: rest.Body{Limit: maxAskBody},
	}, s.findMissingObjects)
	rest.Register(s.Server, rest.Operation{
		ID: "addRuntime", Method: http.MethodPost, Path: path, Tag: "functions", Summary: "Make a runtime of stored objects",
		About:  "Its manifest and its pieces were stored as objects before. The same tree under the same name is the runtime that it is: 200 instead of 201.",
		Access: rest.Roles(functions.RoleOwner), Status: http.StatusCreated, Body: rest.Body{Limit: rest.MaxJSONBody},
		Answers: rest.AlsoOK(s.Server, registry.Runtime{}, "This is a runtime of the project already."),
	}, s.addRuntime)
	rest.Register(s.Server, rest.Operation{
		ID: "listRuntimes", Method: http.MethodGet, Path: path, Tag: "functions", Summary: "List runtimes",
		About: "Trees with an interpreter, packages and native code, in the order in which they came.", Access: rest.Readers(),
	}, s.listRuntimes)
	rest.Register(s.Server, rest.Operation{
		ID: "getRuntime", Method: http.MethodGet, Path: path + "/{reference}", Tag: "functions", Summary: "Get a runtime by its digest or name", Access: rest.Readers(),
	}, s.getRuntime)
	rest.Register(s.Server, rest.Operation{
		ID: "deleteRuntime", Method: http.MethodDelete, Path: path + "/{reference}", Tag: "functions", Summary: "Delete a runtime that no open job needs",
		About:  "Functions in it stay, and no job of theirs can be submitted until the same tree is there again.",
		Access: rest.Roles(functions.RoleOwner), Status: http.StatusNoContent,
	}, s.deleteRuntime)
	rest.Register(s.Server, rest.Operation{
		ID: "getLeaseRuntime", Method: http.MethodGet, Path: "/v1/agent/leases/{lease}/runtime/{digest}", Tag: "agent protocol", Summary: "Read an object of the runtime that the lease's function runs in",
		About:  "The function's manifest names the digest of the runtime's manifest, and that the digests of its pieces. Check each.",
		Access: rest.Roles(functions.RoleAgent), Answers: rest.BytesAnswer(rest.OctetStream, "The object's bytes."),
	}, s.getLeaseRuntime)
}

func (s *server) findMissingObjects(ctx context.Context, _ *rest.Call, in *MissingObjectsInput) (*missingObjectsOutput, error) {
	project, err := in.ID()
	if err != nil {
		return nil, err
	}
	missing, err := s.service.MissingObjects(ctx, project, in.Body.Digests)
	if err != nil {
		return nil, err
	}
	return &missingObjectsOutput{Body: MissingObjects{Missing: missing}}, nil
}

func (s *server) addRuntime(ctx context.Context, c *rest.Call, in *AddRuntimeInput) (*addedRuntimeOutput, error) {
	project, err := in.ID()
	if err != nil {
		return nil, err
	}
	r, created, err := s.service.AddRuntime(ctx, c.Principal, project, in.Body)
	if err != nil {
		return nil, err
	}
	return &addedRuntimeOutput{Status: rest.CreatedStatus(created), Location: "/v1/projects/" + string(in.Project) + "/runtimes/" + r.Digest, Body: r}, nil
}

func (s *server) listRuntimes(ctx context.Context, c *rest.Call, in *ListRuntimesInput) (*rest.Listed[registry.Runtime], error) {
	list := func(ctx context.Context, project uuid.UUID, page functions.ListPage) ([]registry.Runtime, error) {
		return s.service.ListRuntimes(ctx, project, in.Name, page)
	}
	return rest.AnswerListOfProject(ctx, c, &in.ListInProject, rest.CursorOfID, list, func(r registry.Runtime) string { return r.ID.String() })
}

func (s *server) getRuntime(ctx context.Context, _ *rest.Call, in *RuntimePath) (*runtimeOutput, error) {
	project, err := in.ID()
	if err != nil {
		return nil, err
	}
	if !canonical.IsDigest(in.Runtime) && !rest.IsName(in.Runtime) {
		return nil, functions.NotFound("runtime", in.Runtime)
	}
	r, err := s.service.GetRuntime(ctx, project, in.Runtime)
	if err != nil {
		return nil, err
	}
	return &runtimeOutput{Body: r}, nil
}

func (s *server) deleteRuntime(ctx context.Context, c *rest.Call, in *RuntimeDigestPath) (*rest.Nothing, error) {
	project, err := in.ID()
	if err != nil {
		return nil, err
	}
	if !canonical.IsDigest(in.Digest) {
		return nil, functions.NotFound("runtime", in.Digest)
	}
	return nil, s.service.DeleteRuntime(ctx, c.Principal, project, in.Digest)
}

func (s *server) getLeaseRuntime(ctx context.Context, c *rest.Call, in *LeaseRuntimePath) (*rest.StreamOutput, error) {
	id, err := in.id()
	if err != nil {
		return nil, err
	}
	if !canonical.IsDigest(in.Digest) {
		return nil, functions.NotFound("object of the runtime", in.Digest)
	}
	r, size, err := s.service.LeaseRuntime(ctx, c.Principal.Agent, id, in.Digest)
	if err != nil {
		return nil, err
	}
	return &rest.StreamOutput{Body: s.SendObject(r, size, in.Digest)}, nil
}
