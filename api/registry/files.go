package registry

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/api/rest"
	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/registry"
	"github.com/ostraka/ostraka/runtime/canonical"
)

// Files is what the API asks of the domain about named files.
type Files interface {
	PutFile(ctx context.Context, by functions.Principal, project uuid.UUID, name, digest string, r io.Reader, when registry.FileCondition) (registry.NamedFile, error)
	NameObject(ctx context.Context, by functions.Principal, project uuid.UUID, name, digest string, when registry.FileCondition) (registry.NamedFile, error)
	GetFile(ctx context.Context, project uuid.UUID, name string) (registry.NamedFile, error)
	ListFiles(ctx context.Context, project uuid.UUID, prefix string, page functions.ListPage) ([]registry.NamedFile, error) // After: a name
	DeleteFile(ctx context.Context, by functions.Principal, project uuid.UUID, name string, when registry.FileCondition) error
}

// FilePath names a file of a project.
type FilePath struct {
	rest.InProject
	Name string `path:"name" doc:"The file's name; its slashes are written as %2F."`
}

// FileCondition are the headers that make a change of a file depend on what it is.
type FileCondition struct {
	IfMatch     string `header:"If-Match" doc:"The ETag of the file as you know it: nothing is changed where it is another."`
	IfNoneMatch string `header:"If-None-Match" enum:"*" doc:"Only where there is no file of this name."`
}

// PutFileInput stores a file.
type PutFileInput struct {
	FilePath
	FileCondition
	Digest        string `query:"digest" pattern:"^[0-9a-f]{64}$" doc:"The SHA-256 of the body, in hexadecimal. A body that differs is not stored."`
	ContentDigest string `header:"Content-Digest" doc:"The same by RFC 9530: sha-256=:<base64>:"`
}

// NameFileInput names a stored object.
type NameFileInput struct {
	rest.InProject
	FileCondition
	Body FileRequest
}

// FileRequest names a stored object.
type FileRequest struct {
	Name   string `json:"name" maxLength:"512" example:"texts/2024/a.txt"`
	Digest string `json:"digest" pattern:"^[0-9a-f]{64}$" doc:"Of an object that is stored already."`
}

// DeleteFileInput takes a name away.
type DeleteFileInput struct {
	FilePath
	IfMatch string `header:"If-Match" doc:"The ETag of the file as you know it: nothing is changed where it is another."`
}

// ListFilesInput asks for files.
type ListFilesInput struct {
	rest.ListInProject
	Prefix string `query:"prefix" maxLength:"512" doc:"Only files whose names begin so."`
}

type fileOutput struct {
	Location string `header:"Location"`
	ETag     string `header:"ETag"`
	Body     registry.NamedFile
}

func (s *server) fileOperations() {
	const path = "/v1/projects/{project}/files"
	writers := rest.Roles(functions.RoleOwner, functions.RoleSubmitter)
	rest.Register(s.Server, rest.Operation{
		ID: "listFiles", Method: http.MethodGet, Path: path, Tag: "files", Summary: "List files", Access: rest.Readers(),
		About: "In the order of the bytes of their names.",
	}, s.listFiles)
	rest.Register(s.Server, rest.Operation{
		ID: "nameFile", Method: http.MethodPost, Path: path, Tag: "files", Summary: "Name a stored object",
		About:  "The name means this object from now on. What it meant before stays stored under its digest.",
		Access: writers, Body: rest.Body{Limit: rest.MaxJSONBody},
	}, s.nameFile)
	rest.Register(s.Server, rest.Operation{
		ID: "putFile", Method: http.MethodPut, Path: path + "/{name}", Tag: "files", Summary: "Store a file",
		About:  "The body is stored under its SHA-256, and the name means it from now on. What the name meant before stays stored under its digest.",
		Access: writers, Body: rest.Body{Limit: registry.MaxObjectBytes, Stream: rest.OctetStream},
	}, s.putFile)
	rest.Register(s.Server, rest.Operation{
		ID: "getFile", Method: http.MethodGet, Path: path + "/{name}", Tag: "files", Summary: "Get what a file's name means", Access: rest.Readers(),
	}, s.getFile)
	rest.Register(s.Server, rest.Operation{
		ID: "readFile", Method: http.MethodGet, Path: path + "/{name}/content", Tag: "files", Summary: "Read a file",
		Access: rest.Readers(), Answers: rest.BytesAnswer(rest.OctetStream, "The file's bytes."),
	}, s.readFile)
	rest.Register(s.Server, rest.Operation{
		ID: "deleteFile", Method: http.MethodDelete, Path: path + "/{name}", Tag: "files", Summary: "Delete a file's name",
		About:  "The object stays stored under its digest, as jobs may read it.",
		Access: writers, Status: http.StatusNoContent,
	}, s.deleteFile)
}

// condition reads the headers.
func (c FileCondition) condition() (registry.FileCondition, error) {
	when := registry.FileCondition{New: c.IfNoneMatch != ""}
	digest, err := matchedDigest(c.IfMatch)
	when.Digest = digest
	return when, err
}

func matchedDigest(ifMatch string) (string, error) {
	if ifMatch == "" {
		return "", nil
	}
	digest := strings.Trim(strings.TrimPrefix(ifMatch, "W/"), `"`)
	if !canonical.IsDigest(digest) {
		return "", rest.NewProblem(http.StatusUnprocessableEntity, rest.CodeBadIfMatch, "the If-Match header is not an ETag of a file",
			"send the file's digest in quotation marks, or leave the header out")
	}
	return digest, nil
}

func (s *server) fileOf(in rest.InProject, f registry.NamedFile) *fileOutput {
	return &fileOutput{Location: "/v1/projects/" + string(in.Project) + "/files/" + url.PathEscape(f.Name), ETag: `"` + f.Digest + `"`, Body: f}
}

func (s *server) listFiles(ctx context.Context, c *rest.Call, in *ListFilesInput) (*rest.Listed[registry.NamedFile], error) {
	project, page, err := in.Read(rest.CursorOfFile)
	if err != nil {
		return nil, err
	}
	items, err := s.service.ListFiles(ctx, project, in.Prefix, page)
	if err != nil {
		return nil, err
	}
	return rest.AnswerList(c, page, items, rest.CursorOfFile, func(f registry.NamedFile) string { return f.Name }), nil
}

func (s *server) nameFile(ctx context.Context, c *rest.Call, in *NameFileInput) (*fileOutput, error) {
	project, when, err := in.Read(in.InProject)
	if err != nil {
		return nil, err
	}
	f, err := s.service.NameObject(ctx, c.Principal, project, in.Body.Name, in.Body.Digest, when)
	if err != nil {
		return nil, err
	}
	return s.fileOf(in.InProject, f), nil
}

// Read returns the project and what a change depends on.
func (c FileCondition) Read(in rest.InProject) (project uuid.UUID, when registry.FileCondition, err error) {
	if project, err = in.ID(); err != nil {
		return project, when, err
	}
	when, err = c.condition()
	return project, when, err
}

func (s *server) putFile(ctx context.Context, c *rest.Call, in *PutFileInput) (*fileOutput, error) {
	project, when, err := in.Read(in.InProject)
	if err != nil {
		return nil, err
	}
	digest, err := expectedDigest(in.Digest, in.ContentDigest)
	if err != nil {
		return nil, err
	}
	f, err := s.service.PutFile(ctx, c.Principal, project, in.Name, digest, c.Request.Body, when)
	if err != nil {
		return nil, rest.StreamError(err, registry.MaxObjectBytes)
	}
	return s.fileOf(in.InProject, f), nil
}

func (s *server) getFile(ctx context.Context, _ *rest.Call, in *FilePath) (*fileOutput, error) {
	_, f, err := s.named(ctx, in)
	if err != nil {
		return nil, err
	}
	return s.fileOf(in.InProject, f), nil
}

// named reads what a file's name means.
func (s *server) named(ctx context.Context, in *FilePath) (project uuid.UUID, f registry.NamedFile, err error) {
	if project, err = in.ID(); err != nil {
		return project, f, err
	}
	f, err = s.service.GetFile(ctx, project, in.Name)
	return project, f, err
}

func (s *server) readFile(ctx context.Context, _ *rest.Call, in *FilePath) (*rest.StreamOutput, error) {
	project, f, err := s.named(ctx, in)
	if err != nil {
		return nil, err
	}
	r, size, err := s.service.OpenObject(ctx, project, f.Digest)
	if err != nil {
		return nil, err
	}
	return &rest.StreamOutput{Body: s.SendObject(r, size, f.Digest)}, nil
}

func (s *server) deleteFile(ctx context.Context, c *rest.Call, in *DeleteFileInput) (*rest.Nothing, error) {
	project, err := in.ID()
	if err != nil {
		return nil, err
	}
	digest, err := matchedDigest(in.IfMatch)
	if err != nil {
		return nil, err
	}
	return nil, s.service.DeleteFile(ctx, c.Principal, project, in.Name, registry.FileCondition{Digest: digest})
}
