package engine_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/blob"
	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/engine"
	"github.com/ostraka/ostraka/functions/registry"
	"github.com/ostraka/ostraka/functions/stepargs"
	"github.com/ostraka/ostraka/runtime/canonical"
	"github.com/ostraka/ostraka/testenv"
)

// ageUploads makes all uploads older than any may get.
func (w *world) ageUploads() {
	w.t.Helper()
	_, err := w.store.Pool.Exec(w.t.Context(), "update ostraka.uploads set expires_at = expires_at - interval '2 days'")
	require.NoError(w.t, err)
}

func (w *world) countUploads() (n int) {
	w.t.Helper()
	require.NoError(w.t, w.store.Pool.QueryRow(w.t.Context(), "select count(*) from ostraka.uploads").Scan(&n))
	return n
}

func sendUpload(t *testing.T, u registry.Upload, body string) int {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), u.Method, u.URL, strings.NewReader(body))
	require.NoError(t, err)
	for name, value := range u.Headers {
		request.Header.Set(name, value)
	}
	response, err := new(http.Client).Do(request)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	return response.StatusCode
}

func TestUploadsToS3(t *testing.T) {
	t.Parallel()
	store, err := blob.OpenS3(t.Context(), testenv.MinIO(t))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	w := newWorld(t, func(o *engine.Options) { o.Blobs = store })
	ctx := t.Context()
	digest := canonical.Digest([]byte("hello"))
	key := functions.Idempotency{Key: "k"}
	u, replayed, err := w.CreateUpload(ctx, w.by, w.project, digest, 5, key)
	require.NoError(t, err)
	require.False(t, replayed)
	require.False(t, u.NeedsKey || u.Stored)
	again, replayed, err := w.CreateUpload(ctx, w.by, w.project, digest, 5, key)
	require.NoError(t, err)
	require.True(t, replayed)
	require.Equal(t, u.ID, again.ID)

	_, err = w.CompleteUpload(ctx, w.project, u.ID)
	requireCode(t, err, "upload_missing")
	require.GreaterOrEqual(t, sendUpload(t, u, "world"), 400)
	_, err = w.CompleteUpload(ctx, w.project, u.ID)
	requireCode(t, err, "upload_missing")
	require.Equal(t, http.StatusOK, sendUpload(t, u, "hello"))
	_, _, err = w.OpenObject(ctx, w.project, digest)
	requireCode(t, err, "not_found")
	other, _ := w.newProject("other")
	_, err = w.CompleteUpload(ctx, other, u.ID)
	requireCode(t, err, "not_found")
	for range 2 { // completing twice is harmless
		o, err := w.CompleteUpload(ctx, w.project, u.ID)
		require.NoError(t, err)
		require.Equal(t, functions.Object{Digest: digest, Size: 5}, o)
	}
	r, _, err := w.OpenObject(ctx, w.project, digest)
	require.NoError(t, err)
	require.NoError(t, r.Close())
	have, _, err := w.CreateUpload(ctx, w.by, w.project, digest, 5, functions.Idempotency{})
	require.NoError(t, err)
	require.True(t, have.Stored)
	require.Empty(t, have.URL)
	f, err := w.NameObject(ctx, w.by, w.project, "hello.txt", digest, registry.FileCondition{})
	require.NoError(t, err)
	require.Equal(t, int64(5), f.Size)

	// One that is never completed goes, and what was completed stays.
	left, _, err := w.CreateUpload(ctx, w.by, w.project, canonical.Digest([]byte("left")), 4, functions.Idempotency{})
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, sendUpload(t, left, "left"))
	require.NoError(t, w.Retain(ctx, stepargs.RetentionArgs{}))
	require.Equal(t, 2, w.countUploads(), "it may be completed for a day")
	w.ageUploads()
	require.NoError(t, w.Retain(ctx, stepargs.RetentionArgs{}))
	require.Zero(t, w.countUploads())
	require.ErrorIs(t, store.Adopt(ctx, w.project, left.ID, left.Digest, 4), blob.ErrNotFound)
	_, err = w.CompleteUpload(ctx, w.project, left.ID)
	requireCode(t, err, "not_found")
	_, err = store.Stat(ctx, w.project, digest)
	require.NoError(t, err)
}

func TestUploadsToTheServer(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	digest := canonical.Digest([]byte("hello"))
	u, _, err := w.CreateUpload(ctx, w.by, w.project, digest, 5, functions.Idempotency{})
	require.NoError(t, err)
	require.True(t, u.NeedsKey)
	require.Equal(t, "/v1/projects/"+w.project.String()+"/uploads/"+u.ID.String()+"/content", u.URL)
	_, err = w.CompleteUpload(ctx, w.project, u.ID)
	requireCode(t, err, "upload_missing")
	for body, code := range map[string]string{"world": "digest_mismatch", "hello+": "object_too_large", "hell": "digest_mismatch"} {
		_, err = w.ReceiveUpload(ctx, w.project, u.ID, strings.NewReader(body))
		requireCode(t, err, code)
	}
	_, err = w.ReceiveUpload(ctx, w.project, uuid.New(), strings.NewReader("hello"))
	requireCode(t, err, "not_found")
	o, err := w.ReceiveUpload(ctx, w.project, u.ID, strings.NewReader("hello"))
	require.NoError(t, err)
	require.Equal(t, digest, o.Digest)
	for range 2 {
		_, err = w.CompleteUpload(ctx, w.project, u.ID)
		require.NoError(t, err)
	}
	late, _, err := w.CreateUpload(ctx, w.by, w.project, canonical.Digest([]byte("late")), 4, functions.Idempotency{})
	require.NoError(t, err)
	w.ageUploads()
	_, err = w.ReceiveUpload(ctx, w.project, late.ID, strings.NewReader("late"))
	requireCode(t, err, "not_found")
	_, _, err = w.CreateUpload(ctx, w.by, w.project, digest, registry.MaxUploadBytes+1, functions.Idempotency{})
	requireCode(t, err, "object_too_large")
	_, _, err = w.CreateUpload(ctx, w.by, w.project, "x", 1, functions.Idempotency{})
	requireCode(t, err, "bad_digest")
}
