package api

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/registry"
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
	InProject
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
	InProject
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
	ListInProject
	Prefix string `query:"prefix" maxLength:"512" doc:"Only files whose names begin so."`
}

type fileOutput struct {
	Location string `header:"Location"`
	ETag     string `header:"ETag"`
	Body     registry.NamedFile
}

func (s *server) fileOperations() {
	const path = "/v1/projects/{project}/files"
	writers := roles(functions.RoleOwner, functions.RoleSubmitter)
	register(s, operation{
		id: "listFiles", method: http.MethodGet, path: path, tag: "files", summary: "List files", access: readers(),
		about: "In the order of the bytes of their names.",
	}, s.listFiles)
	register(s, operation{
		id: "nameFile", method: http.MethodPost, path: path, tag: "files", summary: "Name a stored object",
		about:  "The name means this object from now on. What it meant before stays stored under its digest.",
		access: writers, body: body{limit: MaxJSONBody},
	}, s.nameFile)
	register(s, operation{
		id: "putFile", method: http.MethodPut, path: path + "/{name}", tag: "files", summary: "Store a file",
		about:  "The body is stored under its SHA-256, and the name means it from now on. What the name meant before stays stored under its digest.",
		access: writers, body: body{limit: registry.MaxObjectBytes, stream: octetStream},
	}, s.putFile)
	register(s, operation{
		id: "getFile", method: http.MethodGet, path: path + "/{name}", tag: "files", summary: "Get what a file's name means", access: readers(),
	}, s.getFile)
	register(s, operation{
		id: "readFile", method: http.MethodGet, path: path + "/{name}/content", tag: "files", summary: "Read a file",
		access: readers(), answers: bytesAnswer(octetStream, "The file's bytes."),
	}, s.readFile)
	register(s, operation{
		id: "deleteFile", method: http.MethodDelete, path: path + "/{name}", tag: "files", summary: "Delete a file's name",
		about:  "The object stays stored under its digest, as jobs may read it.",
		access: writers, status: http.StatusNoContent,
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
	if !isDigest(digest) {
		return "", newProblem(http.StatusUnprocessableEntity, codeBadIfMatch, "the If-Match header is not an ETag of a file",
			"send the file's digest in quotation marks, or leave the header out")
	}
	return digest, nil
}

func (s *server) fileOf(in InProject, f registry.NamedFile) *fileOutput {
	return &fileOutput{Location: "/v1/projects/" + string(in.Project) + "/files/" + url.PathEscape(f.Name), ETag: `"` + f.Digest + `"`, Body: f}
}

func (s *server) listFiles(ctx context.Context, c *call, in *ListFilesInput) (*Listed[registry.NamedFile], error) {
	project, page, err := in.read(cursorOfFile)
	if err != nil {
		return nil, err
	}
	items, err := s.service.ListFiles(ctx, project, in.Prefix, page)
	if err != nil {
		return nil, err
	}
	return listed(c, page, items, cursorOfFile, func(f registry.NamedFile) string { return f.Name }), nil
}

func (s *server) nameFile(ctx context.Context, c *call, in *NameFileInput) (*fileOutput, error) {
	project, when, err := in.read(in.InProject)
	if err != nil {
		return nil, err
	}
	f, err := s.service.NameObject(ctx, c.principal, project, in.Body.Name, in.Body.Digest, when)
	if err != nil {
		return nil, err
	}
	return s.fileOf(in.InProject, f), nil
}

// read returns the project and what a change depends on.
func (c FileCondition) read(in InProject) (project uuid.UUID, when registry.FileCondition, err error) {
	if project, err = in.id(); err != nil {
		return project, when, err
	}
	when, err = c.condition()
	return project, when, err
}

func (s *server) putFile(ctx context.Context, c *call, in *PutFileInput) (*fileOutput, error) {
	project, when, err := in.read(in.InProject)
	if err != nil {
		return nil, err
	}
	digest, err := expectedDigest(in.Digest, in.ContentDigest)
	if err != nil {
		return nil, err
	}
	f, err := s.service.PutFile(ctx, c.principal, project, in.Name, digest, c.request.Body, when)
	if err != nil {
		return nil, streamError(err, registry.MaxObjectBytes)
	}
	return s.fileOf(in.InProject, f), nil
}

func (s *server) getFile(ctx context.Context, _ *call, in *FilePath) (*fileOutput, error) {
	_, f, err := s.named(ctx, in)
	if err != nil {
		return nil, err
	}
	return s.fileOf(in.InProject, f), nil
}

// named reads what a file's name means.
func (s *server) named(ctx context.Context, in *FilePath) (project uuid.UUID, f registry.NamedFile, err error) {
	if project, err = in.id(); err != nil {
		return project, f, err
	}
	f, err = s.service.GetFile(ctx, project, in.Name)
	return project, f, err
}

func (s *server) readFile(ctx context.Context, _ *call, in *FilePath) (*streamOutput, error) {
	project, f, err := s.named(ctx, in)
	if err != nil {
		return nil, err
	}
	r, size, err := s.service.OpenObject(ctx, project, f.Digest)
	if err != nil {
		return nil, err
	}
	return &streamOutput{Body: s.sendObject(r, size, f.Digest)}, nil
}

func (s *server) deleteFile(ctx context.Context, c *call, in *DeleteFileInput) (*nothing, error) {
	project, err := in.id()
	if err != nil {
		return nil, err
	}
	digest, err := matchedDigest(in.IfMatch)
	if err != nil {
		return nil, err
	}
	return nil, s.service.DeleteFile(ctx, c.principal, project, in.Name, registry.FileCondition{Digest: digest})
}
