package registry

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"strconv"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/api/rest"
	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/runtime/bundle"
)

// repacksAtOnce is how many functions one server packs anew at a time: each takes up to bundle.MaxUnpackedBytes, and a processor.
const repacksAtOnce = 1

// Functions is what the API asks of the domain about functions and their versions.
type Functions interface {
	// PushFunction reads a bundle. Pushing the same bundle again returns the version that it is, with created false.
	PushFunction(ctx context.Context, by functions.Principal, project uuid.UUID, bundle io.Reader, signature []byte) (v functions.FunctionVersion, created bool, err error)
	ListFunctions(ctx context.Context, project uuid.UUID, page functions.ListPage) ([]functions.FunctionVersion, error) // the newest version of each, by name
	GetFunction(ctx context.Context, project uuid.UUID, name string, version int) (functions.FunctionVersion, error)    // version 0: the newest
	ListFunctionVersions(ctx context.Context, project uuid.UUID, name string, page functions.ListPage) ([]functions.FunctionVersion, error)
}

// ListFunctionVersionsInput asks for the versions of a function.
type ListFunctionVersionsInput struct {
	rest.FunctionPath
	rest.Paging
}

// PushFunctionInput pushes a function. The body is the bundle.
type PushFunctionInput struct {
	rest.InProject
	Repack    bool   `query:"repack" doc:"Whether the body is a gzipped tar that another program has packed: it is packed anew, so that the bundle has the bytes, and the digest, that ostraka function push gives the same files."`
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
	rest.Register(s.Server, rest.Operation{
		ID: "pushFunction", Method: http.MethodPost, Path: path, Tag: "functions", Summary: "Push a function",
		About:  "The body is a bundle: a gzipped tar of the function's folder, as `ostraka function push` makes it. The same bundle again is the same version: 200 instead of 201.",
		Access: rest.Roles(functions.RoleOwner), Status: http.StatusCreated, Body: rest.Body{Limit: bundle.MaxArchiveBytes, Stream: rest.OctetStream},
		Answers: rest.AlsoOK(s.Server, functions.FunctionVersion{}, "This bundle was pushed before, as this version."),
	}, s.pushFunction)
	rest.Register(s.Server, rest.Operation{
		ID: "listFunctions", Method: http.MethodGet, Path: path, Tag: "functions", Summary: "List functions",
		About: "The newest version of each, by name.", Access: rest.Readers(),
	}, s.listFunctions)
	rest.Register(s.Server, rest.Operation{
		ID: "getFunction", Method: http.MethodGet, Path: path + "/{name}", Tag: "functions", Summary: "Get the newest version of a function",
		Access: rest.Readers(),
	}, s.getFunction)
	rest.Register(s.Server, rest.Operation{
		ID: "listFunctionVersions", Method: http.MethodGet, Path: path + "/{name}/versions", Tag: "functions", Summary: "List the versions of a function",
		Access: rest.Readers(),
	}, s.listFunctionVersions)
	rest.Register(s.Server, rest.Operation{
		ID: "getFunctionVersion", Method: http.MethodGet, Path: path + "/{name}/versions/{version}", Tag: "functions", Summary: "Get a version of a function",
		Access: rest.Readers(),
	}, s.getFunctionVersion)
}

func (s *server) pushFunction(ctx context.Context, c *rest.Call, in *PushFunctionInput) (*pushedFunctionOutput, error) {
	project, err := in.ID()
	if err != nil {
		return nil, err
	}
	signature, err := base64.StdEncoding.DecodeString(in.Signature)
	if err != nil {
		return nil, functions.Invalid("bad_bundle_signature", "the header Ostraka-Signature is not base64", "send the 64 bytes of the signature in base64")
	}
	body, err := s.packed(in, c.Request.Body)
	if err != nil {
		return nil, err
	}
	v, created, err := s.service.PushFunction(ctx, c.Principal, project, body, signature)
	if err != nil {
		return nil, rest.StreamError(err, bundle.MaxArchiveBytes)
	}
	return &pushedFunctionOutput{
		Status: rest.CreatedStatus(created), Body: v,
		Location: "/v1/projects/" + string(in.Project) + "/functions/" + v.Name + "/versions/" + strconv.Itoa(v.Version),
	}, nil
}

// packed is the bundle of a body, packed anew where the client asks for it. The body is read first, as any bundle is, so that nobody holds the place
// by sending slowly; from then on all files and two archives are in memory.
func (s *server) packed(in *PushFunctionInput, body io.Reader) (io.Reader, error) {
	if !in.Repack {
		return body, nil
	}
	theirs, err := io.ReadAll(body)
	if err != nil {
		return nil, rest.StreamError(fmt.Errorf("reading the archive: %w", err), bundle.MaxArchiveBytes)
	}
	if !s.repacks.TryAcquire(1) {
		return nil, rest.NewProblem(http.StatusServiceUnavailable, rest.CodeBusy, "the server packs as many functions anew as it may at a time", "push it again in a moment: nothing was pushed")
	}
	defer s.repacks.Release(1)
	b, err := bundle.Repack(bytes.NewReader(theirs))
	if err != nil {
		return nil, &functions.Error{Kind: functions.KindInvalid, Code: "bad_bundle", Message: err.Error(), Hint: "mend the files and push them again", Err: err}
	}
	return bytes.NewReader(b.Archive()), nil
}

func (s *server) listFunctions(ctx context.Context, c *rest.Call, in *rest.ListInProject) (*rest.Listed[functions.FunctionVersion], error) {
	return rest.AnswerListOfProject(ctx, c, in, rest.CursorOfName, s.service.ListFunctions, func(v functions.FunctionVersion) string { return v.Name })
}

func (s *server) getFunction(ctx context.Context, _ *rest.Call, in *rest.FunctionPath) (*functionOutput, error) {
	return s.functionVersion(ctx, in, 0)
}

func (s *server) getFunctionVersion(ctx context.Context, _ *rest.Call, in *rest.FunctionVersionPath) (*functionOutput, error) {
	return s.functionVersion(ctx, &in.FunctionPath, in.Version)
}

func (s *server) functionVersion(ctx context.Context, in *rest.FunctionPath, version int) (*functionOutput, error) {
	project, err := in.ID()
	if err != nil {
		return nil, err
	}
	if !rest.IsName(in.Name) {
		return nil, functions.NotFound("function", in.Name)
	}
	v, err := s.service.GetFunction(ctx, project, in.Name, version)
	if err != nil {
		return nil, err
	}
	return &functionOutput{Body: v}, nil
}

func (s *server) listFunctionVersions(ctx context.Context, c *rest.Call, in *ListFunctionVersionsInput) (*rest.Listed[functions.FunctionVersion], error) {
	project, err := in.ID()
	if err != nil {
		return nil, err
	}
	if !rest.IsName(in.Name) {
		return nil, functions.NotFound("function", in.Name)
	}
	page, err := in.Page(rest.CursorOfNumber)
	if err != nil {
		return nil, err
	}
	items, err := s.service.ListFunctionVersions(ctx, project, in.Name, page)
	if err != nil {
		return nil, err
	}
	return rest.AnswerList(c, page, items, rest.CursorOfNumber, func(v functions.FunctionVersion) string { return strconv.Itoa(v.Version) }), nil
}
