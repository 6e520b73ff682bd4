package api

import (
	"context"
	"encoding/base64"
	"io"
	"net/http"
	"strconv"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/runtime/bundle"
)

// Functions is what the API asks of the domain about functions and their versions.
type Functions interface {
	// PushFunction reads a bundle. Pushing the same bundle again returns the version that it is, with created false.
	PushFunction(ctx context.Context, by functions.Principal, project uuid.UUID, bundle io.Reader, signature []byte) (v functions.FunctionVersion, created bool, err error)
	ListFunctions(ctx context.Context, project uuid.UUID, page functions.ListPage) ([]functions.FunctionVersion, error) // the newest version of each, by name
	GetFunction(ctx context.Context, project uuid.UUID, name string, version int) (functions.FunctionVersion, error)    // version 0: the newest
	ListFunctionVersions(ctx context.Context, project uuid.UUID, name string, page functions.ListPage) ([]functions.FunctionVersion, error)
}

// everyone in a project may read.
func readers() access {
	return roles(functions.RoleOwner, functions.RoleSubmitter, functions.RoleViewer, functions.RoleReviewer)
}

// FunctionPath names a function of a project.
type FunctionPath struct {
	InProject
	Name string `path:"name" maxLength:"63"`
}

// FunctionVersionPath names a version of a function.
type FunctionVersionPath struct {
	FunctionPath
	Version int `path:"version" minimum:"1" maximum:"2147483647"`
}

// ListFunctionVersionsInput asks for the versions of a function.
type ListFunctionVersionsInput struct {
	FunctionPath
	Paging
}

// PushFunctionInput pushes a function. The body is the bundle.
type PushFunctionInput struct {
	InProject
	Signature string `header:"Ostraka-Signature" doc:"The owner's Ed25519 signature over the bundle, in base64; needed where the project has a signing key. It is over the lines ostraka-bundle/1, the project's ID, the function's name and the bundle's SHA-256 in hexadecimal, each ended by a line feed."`
}

type pushedFunctionOutput struct {
	Status   int
	Location string `header:"Location"`
	Body     functions.FunctionVersion
}

type functionOutput struct {
	Body functions.FunctionVersion
}

func (s *server) functionOperations() {
	const path = "/v1/projects/{project}/functions"
	register(s, operation{
		id: "pushFunction", method: http.MethodPost, path: path, tag: "functions", summary: "Push a function",
		about:  "The body is a bundle: a gzipped tar of the function's folder, as `ostraka function push` makes it. The same bundle again is the same version: 200 instead of 201.",
		access: roles(functions.RoleOwner), status: http.StatusCreated, body: body{limit: bundle.MaxArchiveBytes, stream: octetStream},
		answers: alsoOK(s, functions.FunctionVersion{}, "This bundle was pushed before, as this version."),
	}, s.pushFunction)
	register(s, operation{
		id: "listFunctions", method: http.MethodGet, path: path, tag: "functions", summary: "List functions",
		about: "The newest version of each, by name.", access: readers(),
	}, s.listFunctions)
	register(s, operation{
		id: "getFunction", method: http.MethodGet, path: path + "/{name}", tag: "functions", summary: "Get the newest version of a function",
		access: readers(),
	}, s.getFunction)
	register(s, operation{
		id: "listFunctionVersions", method: http.MethodGet, path: path + "/{name}/versions", tag: "functions", summary: "List the versions of a function",
		access: readers(),
	}, s.listFunctionVersions)
	register(s, operation{
		id: "getFunctionVersion", method: http.MethodGet, path: path + "/{name}/versions/{version}", tag: "functions", summary: "Get a version of a function",
		access: readers(),
	}, s.getFunctionVersion)
}

func (s *server) pushFunction(ctx context.Context, c *call, in *PushFunctionInput) (*pushedFunctionOutput, error) {
	project, err := in.id()
	if err != nil {
		return nil, err
	}
	signature, err := base64.StdEncoding.DecodeString(in.Signature)
	if err != nil {
		return nil, functions.Invalid("bad_bundle_signature", "the header Ostraka-Signature is not base64", "send the 64 bytes of the signature in base64")
	}
	v, created, err := s.service.PushFunction(ctx, c.principal, project, c.request.Body, signature)
	if err != nil {
		return nil, streamError(err, bundle.MaxArchiveBytes)
	}
	return &pushedFunctionOutput{
		Status: createdStatus(created), Body: v,
		Location: "/v1/projects/" + string(in.Project) + "/functions/" + v.Name + "/versions/" + strconv.Itoa(v.Version),
	}, nil
}

func createdStatus(created bool) int {
	if created {
		return http.StatusCreated
	}
	return http.StatusOK
}

func (s *server) listFunctions(ctx context.Context, c *call, in *ListInProject) (*Listed[functions.FunctionVersion], error) {
	return listOfProject(ctx, c, in, cursorOfName, s.service.ListFunctions, func(v functions.FunctionVersion) string { return v.Name })
}

func (s *server) getFunction(ctx context.Context, _ *call, in *FunctionPath) (*functionOutput, error) {
	return s.functionVersion(ctx, in, 0)
}

func (s *server) getFunctionVersion(ctx context.Context, _ *call, in *FunctionVersionPath) (*functionOutput, error) {
	return s.functionVersion(ctx, &in.FunctionPath, in.Version)
}

func (s *server) functionVersion(ctx context.Context, in *FunctionPath, version int) (*functionOutput, error) {
	project, err := in.id()
	if err != nil {
		return nil, err
	}
	if !isName(in.Name) {
		return nil, functions.NotFound("function", in.Name)
	}
	v, err := s.service.GetFunction(ctx, project, in.Name, version)
	if err != nil {
		return nil, err
	}
	return &functionOutput{Body: v}, nil
}

func (s *server) listFunctionVersions(ctx context.Context, c *call, in *ListFunctionVersionsInput) (*Listed[functions.FunctionVersion], error) {
	project, err := in.id()
	if err != nil {
		return nil, err
	}
	if !isName(in.Name) {
		return nil, functions.NotFound("function", in.Name)
	}
	page, err := in.page(cursorOfNumber)
	if err != nil {
		return nil, err
	}
	items, err := s.service.ListFunctionVersions(ctx, project, in.Name, page)
	if err != nil {
		return nil, err
	}
	return listed(c, page, items, cursorOfNumber, func(v functions.FunctionVersion) string { return strconv.Itoa(v.Version) }), nil
}
