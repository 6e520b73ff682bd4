package registry

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"io"
	"net/http"
	"strings"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/api/rest"
	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/registry"
	"github.com/ostraka/ostraka/runtime/canonical"
)

// Objects is what the API asks of the domain about objects by their digests.
type Objects interface {
	// PutObject stores what it reads; digest, when not empty, must be the SHA-256 of it.
	StoreObject(ctx context.Context, by functions.Principal, project uuid.UUID, digest string, r io.Reader) (functions.Object, error)
	OpenObject(ctx context.Context, project uuid.UUID, digest string) (io.ReadCloser, int64, error)
}

// PutObjectInput says what the body should be.
type PutObjectInput struct {
	rest.InProject
	Digest        string `query:"digest" pattern:"^[0-9a-f]{64}$" doc:"The SHA-256 of the body, in hexadecimal. A body that differs is not stored."`
	ContentDigest string `header:"Content-Digest" doc:"The same by RFC 9530: sha-256=:<base64>:"`
}

// ObjectPath names a stored object.
type ObjectPath struct {
	rest.InProject
	Digest string `path:"digest"`
}

type objectOutput struct {
	Location string `header:"Location"`
	Body     functions.Object
}

func (s *server) objectOperations() {
	const path = "/v1/projects/{project}/objects"
	rest.Register(s.Server, rest.Operation{
		ID: "putObject", Method: http.MethodPost, Path: path, Tag: "functions", Summary: "Store an object",
		About:  "The body is stored under its SHA-256.",
		Access: rest.Roles(functions.RoleOwner, functions.RoleSubmitter), Status: http.StatusCreated, Body: rest.Body{Limit: registry.MaxObjectBytes, Stream: rest.OctetStream},
	}, s.putObject)
	rest.Register(s.Server, rest.Operation{
		ID: "getObject", Method: http.MethodGet, Path: path + "/{digest}", Tag: "functions", Summary: "Read a stored object",
		Access: rest.Readers(), Answers: rest.BytesAnswer(rest.OctetStream, "The object's bytes."),
	}, s.getObject)
}

func (s *server) putObject(ctx context.Context, c *rest.Call, in *PutObjectInput) (*objectOutput, error) {
	project, err := in.ID()
	if err != nil {
		return nil, err
	}
	digest, err := expectedDigest(in.Digest, in.ContentDigest)
	if err != nil {
		return nil, err
	}
	o, err := s.service.StoreObject(ctx, c.Principal, project, digest, c.Request.Body)
	if err != nil {
		return nil, rest.StreamError(err, registry.MaxObjectBytes)
	}
	return &objectOutput{Location: "/v1/projects/" + string(in.Project) + "/objects/" + o.Digest, Body: o}, nil
}

// expectedDigest is the digest that the client says its body has, or "".
func expectedDigest(query, header string) (string, error) {
	if header == "" {
		return query, nil
	}
	digest, ok := parseContentDigest(header)
	if !ok || query != "" && query != digest {
		return "", rest.NewProblem(http.StatusUnprocessableEntity, rest.CodeBadDigest, "the Content-Digest header is not one SHA-256, or not the same as digest",
			"send Content-Digest: sha-256=:<base64 of the 32 bytes>: or leave it out")
	}
	return digest, nil
}

func parseContentDigest(header string) (digest string, ok bool) {
	text, found := strings.CutPrefix(header, "sha-256=:")
	text, closed := strings.CutSuffix(text, ":")
	sum, err := base64.StdEncoding.DecodeString(text)
	if !found || !closed || err != nil || len(sum) != 32 {
		return "", false
	}
	return hex.EncodeToString(sum), true
}

func (s *server) getObject(ctx context.Context, _ *rest.Call, in *ObjectPath) (*rest.StreamOutput, error) {
	project, err := in.ID()
	if err != nil {
		return nil, err
	}
	if !canonical.IsDigest(in.Digest) {
		return nil, functions.NotFound("object", in.Digest)
	}
	r, size, err := s.service.OpenObject(ctx, project, in.Digest)
	if err != nil {
		return nil, err
	}
	return &rest.StreamOutput{Body: s.SendObject(r, size, in.Digest)}, nil
}
