package registry

import (
	"context"
	"io"
	"net/http"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/api/rest"
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
	rest.InProject
	Body UploadRequest
}

// UploadRequest says what will be uploaded.
type UploadRequest struct {
	Digest string `json:"digest" pattern:"^[0-9a-f]{64}$" doc:"SHA-256 of the bytes, in hexadecimal."`
	Size   int64  `json:"size" minimum:"0" doc:"How many bytes, exactly."`
}

// UploadPath names an upload.
type UploadPath struct {
	rest.InProject
	Upload rest.PathID `path:"upload"`
}

func (p UploadPath) ids() (project, upload uuid.UUID, err error) { return p.And("upload", p.Upload) }

type uploadOutput struct {
	rest.Replayed
	Status int
	Body   registry.Upload
}

func (s *server) uploadOperations() {
	const path = "/v1/projects/{project}/uploads"
	writers := rest.Roles(functions.RoleOwner, functions.RoleSubmitter)
	rest.Register(s.Server, rest.Operation{
		ID: "createUpload", Method: http.MethodPost, Path: path, Tag: "files", Summary: "Ask for an upload past the server",
		About: "The answer has a URL to which the bytes are sent with one PUT, and the headers to send. Then the upload is completed. Where the objects are in S3 the URL is " +
			"presigned for these bytes alone: whoever has it may upload them until it expires, so it is a secret. What is never completed is removed.",
		Access: writers, Status: http.StatusCreated, Body: rest.Body{Limit: rest.MaxJSONBody}, Retry: rest.RetryWithKey,
		Answers: rest.AlsoOK(s.Server, registry.Upload{}, "The object is stored already."),
	}, s.createUpload)
	rest.Register(s.Server, rest.Operation{
		ID: "putUpload", Method: http.MethodPut, Path: path + "/{upload}/content", Tag: "files", Summary: "Upload to the server itself",
		About:  "Where the server keeps the objects itself, the URL of an upload leads here.",
		Access: writers, Body: rest.Body{Limit: registry.MaxUploadBytes, Stream: rest.OctetStream},
	}, s.putUpload)
	rest.Register(s.Server, rest.Operation{
		ID: "completeUpload", Method: http.MethodPost, Path: path + "/{upload}/complete", Tag: "files", Summary: "Complete an upload",
		About:  "Checks the size and the SHA-256 of what was uploaded; from then on it is an object of the project.",
		Access: writers,
	}, s.completeUpload)
}

func (s *server) createUpload(ctx context.Context, c *rest.Call, in *CreateUploadInput) (*uploadOutput, error) {
	project, err := in.ID()
	if err != nil {
		return nil, err
	}
	u, again, err := s.service.CreateUpload(ctx, c.Principal, project, in.Body.Digest, in.Body.Size, c.Idem)
	if err != nil {
		return nil, err
	}
	return &uploadOutput{Replayed: rest.ReplayedAs(again), Status: rest.CreatedStatus(!u.Stored), Body: u}, nil
}

func (s *server) putUpload(ctx context.Context, c *rest.Call, in *UploadPath) (*rest.OutputOutput, error) {
	project, upload, err := in.ids()
	if err != nil {
		return nil, err
	}
	o, err := s.service.ReceiveUpload(ctx, project, upload, c.Request.Body)
	if err != nil {
		return nil, rest.StreamError(err, registry.MaxUploadBytes)
	}
	return &rest.OutputOutput{Body: o}, nil
}

func (s *server) completeUpload(ctx context.Context, _ *rest.Call, in *UploadPath) (*rest.OutputOutput, error) {
	project, upload, err := in.ids()
	if err != nil {
		return nil, err
	}
	o, err := s.service.CompleteUpload(ctx, project, upload)
	if err != nil {
		return nil, err
	}
	return &rest.OutputOutput{Body: o}, nil
}
