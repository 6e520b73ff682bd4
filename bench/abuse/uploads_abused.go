package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/bench/rig"
	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/runtime/bundle"
	"github.com/ostraka/ostraka/runtime/canonical"
)

// uploadsAbused stores what nobody may store: under a lease that is none or another's, other bytes than were announced, more than a shard
// may leave, and again through the URL of an upload that was completed.
func uploadsAbused(ctx context.Context, s *scene) ([]figure, error) {
	agents, err := s.hostileAgents(ctx, 2)
	if err != nil {
		return nil, err
	}
	if _, err := s.hostile.Submit(ctx, rig.Range("trivial", 2, client.PolicyRequest{None: true})); err != nil {
		return nil, err
	}
	lease, err := agents[0].Lease(ctx, 1, "30s")
	if err != nil || lease == nil {
		return nil, fmt.Errorf("leasing: %w", err)
	}
	limits := bundle.DefaultLimits()
	tooLarge := max(limits.OutputBytes, limits.ArtifactBytes) + 1
	output := func(a *rig.Agent, lease uuid.UUID, digest string, body io.Reader) (int, error) {
		res, err := a.API.PutOutputWithBodyWithResponse(ctx, lease, digest, "application/octet-stream", body)
		if err != nil {
			return 0, err
		}
		return res.StatusCode(), nil
	}
	none := canonical.Digest([]byte("1"))
	for _, try := range []struct {
		what string
		put  func() (int, error)
	}{
		{"under no lease", func() (int, error) { return output(agents[0], uuid.New(), none, strings.NewReader("1")) }},
		{"under another's lease", func() (int, error) { return output(agents[1], lease.ID, none, strings.NewReader("1")) }},
		{"other bytes than it says", func() (int, error) { return output(agents[0], lease.ID, none, strings.NewReader("2")) }},
		{"more than a shard may leave", func() (int, error) { return output(agents[0], lease.ID, none, io.LimitReader(zeros{}, tooLarge)) }},
	} {
		status, err := try.put()
		if err == nil && status < http.StatusMultipleChoices { // an answer may be lost where the server ends what it does not read
			return nil, harm("an agent has stored an object %s", try.what)
		}
	}
	if status, err := output(agents[0], lease.ID, none, strings.NewReader("1")); err != nil || status >= http.StatusMultipleChoices {
		return nil, harm("after that an honest output is refused: %d %v", status, err)
	}
	if err := s.uploadReused(ctx); err != nil {
		return nil, err
	}
	took, err := s.own(ctx, 10, usual())
	return []figure{{"uploads_abused_other_job_s", took.Seconds()}}, err
}

// uploadReused sends other bytes to the URL of an upload, more than it was granted for, and those of another tenant.
func (s *scene) uploadReused(ctx context.Context) error {
	const content = "what was announced"
	digest := canonical.Digest([]byte(content))
	x := newStranger("203.0.113.12", 1)
	defer x.web.CloseIdleConnections()
	granted, err := s.hostile.Owner.CreateUploadWithResponse(ctx, s.hostile.ID, nil, client.CreateUploadJSONRequestBody{Digest: digest, Size: int64(len(content))})
	if err != nil {
		return err
	}
	if granted.JSON201 == nil || granted.JSON201.URL == "" {
		return fmt.Errorf("asking for an upload: %s: %s", granted.Status(), granted.Body)
	}
	put := func(key, body string) (answer, error) {
		return x.ask(ctx, http.MethodPut, s.server.URL+granted.JSON201.URL, key, body, "Content-Type", "application/octet-stream")
	}
	for _, wrong := range []struct{ what, key, body string }{
		{"with another tenant's key", s.victim.OwnerKey, content},
		{"without a key", "", content},
		{"other bytes", s.hostile.OwnerKey, strings.ToUpper(content)},
		{"more bytes", s.hostile.OwnerKey, content + content},
	} {
		if got, err := put(wrong.key, wrong.body); err == nil && got.status < http.StatusMultipleChoices {
			return harm("an upload is taken %s", wrong.what)
		}
	}
	if got, err := put(s.hostile.OwnerKey, content); err != nil || got.status >= http.StatusMultipleChoices {
		return fmt.Errorf("uploading: %d %w: %s", got.status, err, got.body)
	}
	completed, err := s.hostile.Owner.CompleteUploadWithResponse(ctx, s.hostile.ID, granted.JSON201.ID, nil)
	if err != nil || completed.StatusCode() >= http.StatusMultipleChoices {
		return fmt.Errorf("completing an upload: %w: %s", err, completed.Body)
	}
	if got, err := put(s.hostile.OwnerKey, strings.ToUpper(content)); err == nil && got.status < http.StatusMultipleChoices {
		return harm("other bytes are taken for an upload that was completed")
	}
	object, err := x.ask(ctx, http.MethodGet, fmt.Sprintf("%s/v1/projects/%s/objects/%s", s.server.URL, s.hostile.ID, digest), s.hostile.OwnerKey, "")
	if err != nil {
		return err
	}
	if object.status != http.StatusOK || object.body != content {
		return harm("an object is not what its digest says: %d %q", object.status, object.body)
	}
	return nil
}

// zeros are as many as are read.
type zeros struct{}

func (zeros) Read(b []byte) (int, error) {
	clear(b)
	return len(b), nil
}
