package blob_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/minio/minio-go/v7"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/blob"
	"github.com/ostraka/ostraka/testenv"
)

func digestOfText(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// send uploads as a client does, and returns the status.
func send(t *testing.T, g blob.Grant, body string, change ...func(*http.Request)) int {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPut, g.URL, strings.NewReader(body))
	require.NoError(t, err)
	for name, value := range g.Headers {
		request.Header.Set(name, value)
	}
	for _, c := range change {
		c(request)
	}
	response, err := new(http.Client).Do(request)
	require.NoError(t, err)
	defer response.Body.Close()
	_, err = io.Copy(io.Discard, response.Body)
	require.NoError(t, err)
	return response.StatusCode
}

// A grant takes the bytes that it was made for, and no others, from anybody who has it.
func TestUploadsPastTheServer(t *testing.T) {
	t.Parallel()
	cfg := testenv.MinIO(t)
	store, raw := openS3(t, cfg), rawClient(t, cfg)
	ctx := t.Context()
	project, other := uuid.New(), uuid.New()
	const text = "the right bytes"
	digest := digestOfText(text)
	grant := func(upload uuid.UUID, valid time.Duration) blob.Grant {
		g, err := store.GrantUpload(ctx, project, upload, digest, int64(len(text)), valid)
		require.NoError(t, err)
		require.NotContains(t, g.URL, cfg.SecretKey)
		return g
	}

	upload := uuid.New()
	g := grant(upload, time.Minute)
	require.ErrorIs(t, store.Adopt(ctx, project, upload, digest, int64(len(text))), blob.ErrNotFound, "nothing was uploaded yet")
	for name, body := range map[string]string{"wrong": "the wrong bytes", "too long": text + "+", "too short": text[1:], "empty": ""} {
		require.GreaterOrEqual(t, send(t, g, body), 400, name)
		require.ErrorIs(t, store.Adopt(ctx, project, upload, digest, int64(len(text))), blob.ErrNotFound, name)
	}
	another := sha256.Sum256([]byte("the wrong bytes"))
	require.GreaterOrEqual(t, send(t, g, "the wrong bytes", func(r *http.Request) {
		r.Header.Set("x-amz-checksum-sha256", base64.StdEncoding.EncodeToString(another[:]))
	}), 400, "the checksum is signed")
	require.GreaterOrEqual(t, send(t, g, text, func(r *http.Request) { r.Header.Del("x-amz-checksum-sha256") }), 400)
	require.GreaterOrEqual(t, send(t, g, text, func(r *http.Request) {
		r.URL.Path = strings.Replace(r.URL.Path, project.String(), other.String(), 1)
	}), 400, "the key is signed")

	require.Equal(t, http.StatusOK, send(t, g, text))
	require.ErrorIs(t, store.Adopt(ctx, other, upload, digest, int64(len(text))), blob.ErrNotFound, "another project's")
	require.ErrorIs(t, store.Adopt(ctx, project, uuid.New(), digest, int64(len(text))), blob.ErrNotFound)
	_, err := store.Stat(ctx, project, digest)
	require.ErrorIs(t, err, blob.ErrNotFound, "nobody reads what was not taken in")
	require.NoError(t, store.Adopt(ctx, project, upload, digest, int64(len(text))))
	got, err := store.Get(ctx, project, digest, 100)
	require.NoError(t, err)
	require.Equal(t, text, string(got))
	require.Len(t, keys(t, raw, cfg.Bucket), 1, "nothing is left in between")
	require.ErrorIs(t, store.Adopt(ctx, project, upload, digest, int64(len(text))), blob.ErrNotFound, "it was taken in")

	// What comes by other ways is checked as well.
	for name, body := range map[string]string{"other bytes": "the wrong bytes", "longer": text + "+"} {
		staged := uuid.New()
		_, err := raw.PutObject(ctx, cfg.Bucket, "projects/"+project.String()+"/staging/"+staged.String(), bytes.NewReader([]byte(body)), int64(len(body)), minio.PutObjectOptions{})
		require.NoError(t, err)
		require.ErrorIs(t, store.Adopt(ctx, project, staged, digest, int64(len(text))), blob.ErrMismatch, name)
		require.Len(t, keys(t, raw, cfg.Bucket), 1, "it is gone")
	}

	left := uuid.New()
	require.Equal(t, http.StatusOK, send(t, grant(left, time.Minute), text))
	require.Len(t, keys(t, raw, cfg.Bucket), 2)
	require.NoError(t, store.DropUpload(ctx, project, left))
	require.NoError(t, store.DropUpload(ctx, project, left))
	require.Len(t, keys(t, raw, cfg.Bucket), 1)

	short := grant(uuid.New(), time.Second)
	require.Eventually(t, func() bool { return send(t, short, text) == http.StatusForbidden }, time.Minute, 100*time.Millisecond, "it expires")

	_, err = store.GrantUpload(ctx, project, uuid.New(), digest, blob.MaxObject+1, time.Minute)
	require.ErrorIs(t, err, blob.ErrTooLarge)
	_, err = store.GrantUpload(ctx, project, uuid.New(), "x", 1, time.Minute)
	require.ErrorIs(t, err, blob.ErrBadDigest)
	_, err = store.GrantUpload(ctx, uuid.Nil, uuid.New(), digest, 1, time.Minute)
	require.Error(t, err)
}

func TestADirectoryTakesNoUploadsPastTheServer(t *testing.T) {
	t.Parallel()
	store, err := blob.OpenDir(t.TempDir())
	require.NoError(t, err)
	defer func() { require.NoError(t, store.Close()) }()
	_, err = store.GrantUpload(t.Context(), uuid.New(), uuid.New(), digestOfText(""), 0, time.Minute)
	require.ErrorIs(t, err, blob.ErrNoDirectUpload)
	require.ErrorIs(t, store.Adopt(t.Context(), uuid.New(), uuid.New(), digestOfText(""), 0), blob.ErrNoDirectUpload)
	require.NoError(t, store.DropUpload(t.Context(), uuid.New(), uuid.New()))
}
