package api

import (
	"context"
	"io"
	"net/http"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/registry"
)

// Uploads is what the API asks of the domain about uploads past the server.
type Uploads interface {
	CreateUpload(ctx context.Context, by functions.Principal, project uuid.UUID, digest string, size int64, idem functions.Idempotency) (u registry.Upload, replayed bool, err error)
	ReceiveUpload(ctx context.Context, project, id uuid.UUID, r io.Reader) (functions.Object, error)
	CompleteUpload(ctx context.Context, project, id uuid.UUID) (functions.Object, error)
}

// CreateUploadInput asks for an upload.
type CreateUploadInput struct {
	InProject
	Body UploadRequest
}

// UploadRequest says what will be uploaded.
type UploadRequest struct {
	Digest string `json:"digest" pattern:"^[0-9a-f]{64}$" doc:"SHA-256 of the bytes, in hexadecimal."`
	Size   int64  `json:"size" minimum:"0" doc:"How many bytes, exactly."`
}

// UploadPath names an upload.
type UploadPath struct {
	InProject
	Upload PathID `path:"upload"`
}

func (p UploadPath) ids() (project, upload uuid.UUID, err error) { return p.and("upload", p.Upload) }

type uploadOutput struct {
	Replayed
	Status int
	Body   registry.Upload
}

func (s *server) uploadOperations() {
	const path = "/v1/projects/{project}/uploads"
	writers := roles(functions.RoleOwner, functions.RoleSubmitter)
	register(s, operation{
		id: "createUpload", method: http.MethodPost, path: path, tag: "files", summary: "Ask for an upload past the server",
		about: "The answer has a URL to which the bytes are sent with one PUT, and the headers to send. Then the upload is completed. Where the objects are in S3 the URL is " +
			"presigned for these bytes alone: whoever has it may upload them until it expires, so it is a secret. What is never completed is removed.",
		access: writers, status: http.StatusCreated, body: body{limit: MaxJSONBody}, retry: retryWithKey,
		answers: alsoOK(s, registry.Upload{}, "The object is stored already."),
	}, s.createUpload)
	register(s, operation{
		id: "putUpload", method: http.MethodPut, path: path + "/{upload}/content", tag: "files", summary: "Upload to the server itself",
		about:  "Where the server keeps the objects itself, the URL of an upload leads here.",
		access: writers, body: body{limit: registry.MaxUploadBytes, stream: octetStream},
	}, s.putUpload)
	register(s, operation{
		id: "completeUpload", method: http.MethodPost, path: path + "/{upload}/complete", tag: "files", summary: "Complete an upload",
		about:  "Checks the size and the SHA-256 of what was uploaded; from then on it is an object of the project.",
		access: writers,
	}, s.completeUpload)
}

func (s *server) createUpload(ctx context.Context, c *call, in *CreateUploadInput) (*uploadOutput, error) {
	project, err := in.id()
	if err != nil {
		return nil, err
	}
	u, again, err := s.service.CreateUpload(ctx, c.principal, project, in.Body.Digest, in.Body.Size, c.idem)
	if err != nil {
		return nil, err
	}
	return &uploadOutput{Replayed: replayed(again), Status: createdStatus(!u.Stored), Body: u}, nil
}

func (s *server) putUpload(ctx context.Context, c *call, in *UploadPath) (*outputOutput, error) {
	project, upload, err := in.ids()
	if err != nil {
		return nil, err
	}
	o, err := s.service.ReceiveUpload(ctx, project, upload, c.request.Body)
	if err != nil {
		return nil, streamError(err, registry.MaxUploadBytes)
	}
	return &outputOutput{Body: o}, nil
}

func (s *server) completeUpload(ctx context.Context, _ *call, in *UploadPath) (*outputOutput, error) {
	project, upload, err := in.ids()
	if err != nil {
		return nil, err
	}
	o, err := s.service.CompleteUpload(ctx, project, upload)
	if err != nil {
		return nil, err
	}
	return &outputOutput{Body: o}, nil
}
