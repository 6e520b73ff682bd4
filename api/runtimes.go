package api

import (
	"context"
	"io"
	"net/http"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/registry"
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
	InProject
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
	InProject
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
	ListInProject
	Name string `query:"name" maxLength:"63" doc:"Only those of this name."`
}

// RuntimePath names a runtime.
type RuntimePath struct {
	InProject
	Runtime string `path:"reference" maxLength:"64" doc:"A digest, or a name, which means the newest of that name."`
}

// RuntimeDigestPath names one tree.
type RuntimeDigestPath struct {
	InProject
	Digest string `path:"reference" doc:"Its digest."`
}

// LeaseRuntimePath names an object of a lease's runtime.
type LeaseRuntimePath struct {
	LeasePath
	Digest string `path:"digest"`
}

func (s *server) runtimeOperations() {
	const path = "/v1/projects/{project}/runtimes"
	register(s, operation{
		id: "findMissingObjects", method: http.MethodPost, path: "/v1/projects/{project}/objects/missing", tag: "functions", summary: "Ask which objects are not stored",
		about: "So that an upload that was cut off goes on where it was.", access: roles(functions.RoleOwner, functions.RoleSubmitter), body: body{limit: maxAskBody},
	}, s.findMissingObjects)
	register(s, operation{
		id: "addRuntime", method: http.MethodPost, path: path, tag: "functions", summary: "Make a runtime of stored objects",
		about:  "Its manifest and its pieces were stored as objects before. The same tree under the same name is the runtime that it is: 200 instead of 201.",
		access: roles(functions.RoleOwner), status: http.StatusCreated, body: body{limit: MaxJSONBody},
		answers: alsoOK(s, registry.Runtime{}, "This is a runtime of the project already."),
	}, s.addRuntime)
	register(s, operation{
		id: "listRuntimes", method: http.MethodGet, path: path, tag: "functions", summary: "List runtimes",
		about: "Trees with an interpreter, packages and native code, in the order in which they came.", access: readers(),
	}, s.listRuntimes)
	register(s, operation{
		id: "getRuntime", method: http.MethodGet, path: path + "/{reference}", tag: "functions", summary: "Get a runtime by its digest or name", access: readers(),
	}, s.getRuntime)
	register(s, operation{
		id: "deleteRuntime", method: http.MethodDelete, path: path + "/{reference}", tag: "functions", summary: "Delete a runtime that no open job needs",
		about:  "Functions in it stay, and no job of theirs can be submitted until the same tree is there again.",
		access: roles(functions.RoleOwner), status: http.StatusNoContent,
	}, s.deleteRuntime)
	register(s, operation{
		id: "getLeaseRuntime", method: http.MethodGet, path: "/v1/agent/leases/{lease}/runtime/{digest}", tag: "agent protocol", summary: "Read an object of the runtime that the lease's function runs in",
		about:  "The function's manifest names the digest of the runtime's manifest, and that the digests of its pieces. Check each.",
		access: roles(functions.RoleAgent), answers: bytesAnswer(octetStream, "The object's bytes."),
	}, s.getLeaseRuntime)
}

func (s *server) findMissingObjects(ctx context.Context, _ *call, in *MissingObjectsInput) (*missingObjectsOutput, error) {
	project, err := in.id()
	if err != nil {
		return nil, err
	}
	missing, err := s.service.MissingObjects(ctx, project, in.Body.Digests)
	if err != nil {
		return nil, err
	}
	return &missingObjectsOutput{Body: MissingObjects{Missing: missing}}, nil
}

func (s *server) addRuntime(ctx context.Context, c *call, in *AddRuntimeInput) (*addedRuntimeOutput, error) {
	project, err := in.id()
	if err != nil {
		return nil, err
	}
	r, created, err := s.service.AddRuntime(ctx, c.principal, project, in.Body)
	if err != nil {
		return nil, err
	}
	return &addedRuntimeOutput{Status: createdStatus(created), Location: "/v1/projects/" + string(in.Project) + "/runtimes/" + r.Digest, Body: r}, nil
}

func (s *server) listRuntimes(ctx context.Context, c *call, in *ListRuntimesInput) (*Listed[registry.Runtime], error) {
	list := func(ctx context.Context, project uuid.UUID, page functions.ListPage) ([]registry.Runtime, error) {
		return s.service.ListRuntimes(ctx, project, in.Name, page)
	}
	return listOfProject(ctx, c, &in.ListInProject, cursorOfID, list, func(r registry.Runtime) string { return r.ID.String() })
}

func (s *server) getRuntime(ctx context.Context, _ *call, in *RuntimePath) (*runtimeOutput, error) {
	project, err := in.id()
	if err != nil {
		return nil, err
	}
	if !isDigest(in.Runtime) && !isName(in.Runtime) {
		return nil, functions.NotFound("runtime", in.Runtime)
	}
	r, err := s.service.GetRuntime(ctx, project, in.Runtime)
	if err != nil {
		return nil, err
	}
	return &runtimeOutput{Body: r}, nil
}

func (s *server) deleteRuntime(ctx context.Context, c *call, in *RuntimeDigestPath) (*nothing, error) {
	project, err := in.id()
	if err != nil {
		return nil, err
	}
	if !isDigest(in.Digest) {
		return nil, functions.NotFound("runtime", in.Digest)
	}
	return nil, s.service.DeleteRuntime(ctx, c.principal, project, in.Digest)
}

func (s *server) getLeaseRuntime(ctx context.Context, c *call, in *LeaseRuntimePath) (*streamOutput, error) {
	id, err := in.id()
	if err != nil {
		return nil, err
	}
	if !isDigest(in.Digest) {
		return nil, functions.NotFound("object of the runtime", in.Digest)
	}
	r, size, err := s.service.LeaseRuntime(ctx, c.principal.Agent, id, in.Digest)
	if err != nil {
		return nil, err
	}
	return &streamOutput{Body: s.sendObject(r, size, in.Digest)}, nil
}
