package blob_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"io"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/ostraka/ostraka/blob"
	"github.com/ostraka/ostraka/blob/blobtest"
	"github.com/ostraka/ostraka/testenv"
)

func TestMain(m *testing.M) { testenv.Main(m) }

func openS3(t *testing.T, cfg blob.S3Config) *blob.Store {
	t.Helper()
	store, err := blob.OpenS3(t.Context(), cfg)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	return store
}

// rawClient goes round the store.
func rawClient(t *testing.T, cfg blob.S3Config) *minio.Client {
	t.Helper()
	client, err := minio.New(cfg.Endpoint, &minio.Options{Creds: credentials.NewStaticV4(cfg.AccessKey, cfg.SecretKey, "")})
	require.NoError(t, err)
	return client
}

func keys(t *testing.T, client *minio.Client, bucket string) []string {
	t.Helper()
	var found []string
	for o := range client.ListObjects(t.Context(), bucket, minio.ListObjectsOptions{Recursive: true}) {
		require.NoError(t, o.Err)
		found = append(found, o.Key)
	}
	return found
}

func TestS3KeepsTheContract(t *testing.T) {
	blobtest.Run(t, func(t *testing.T) blobtest.Backend {
		t.Helper()
		cfg := testenv.MinIO(t)
		raw := rawClient(t, cfg)
		return blobtest.Backend{
			Store: openS3(t, cfg),
			Overwrite: func(key string, content []byte) {
				_, err := raw.PutObject(t.Context(), cfg.Bucket, key, bytes.NewReader(content), int64(len(content)), minio.PutObjectOptions{})
				require.NoError(t, err)
			},
			Keys: func() []string { return keys(t, raw, cfg.Bucket) },
		}
	})
}

// zeros is an endless source that costs no memory.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

func TestS3TakesALargeObjectInOneRequest(t *testing.T) {
	const size = 65 << 20 // the client would cut this into parts if we let it
	cfg, project := testenv.MinIO(t), uuid.New()
	store := openS3(t, cfg)
	digest, n, err := store.Put(t.Context(), project, io.LimitReader(zeros{}, size), size)
	require.NoError(t, err)
	require.EqualValues(t, size, n)
	body, _, err := store.Open(t.Context(), project, digest)
	require.NoError(t, err)
	defer body.Close()
	n, err = io.Copy(io.Discard, body)
	require.NoError(t, err)
	require.EqualValues(t, size, n)

	info, err := rawClient(t, cfg).StatObject(t.Context(), cfg.Bucket, blobtest.Key(project, digest), minio.StatObjectOptions{Checksum: true})
	require.NoError(t, err)
	sum, err := hex.DecodeString(digest)
	require.NoError(t, err)
	require.Equal(t, base64.StdEncoding.EncodeToString(sum), info.ChecksumSHA256, "the server checked the digest itself")
}

func TestS3BucketIsMadeOnceByMany(t *testing.T) {
	cfg := testenv.MinIO(t)
	var group errgroup.Group
	for range 8 {
		group.Go(func() error {
			store, err := blob.OpenS3(t.Context(), cfg)
			if err != nil {
				return err
			}
			return store.Close()
		})
	}
	require.NoError(t, group.Wait())
}

func TestS3LostBucketIsAFaultAndNotAMissingObject(t *testing.T) {
	cfg := testenv.MinIO(t)
	store := openS3(t, cfg)
	require.NoError(t, rawClient(t, cfg).RemoveBucket(t.Context(), cfg.Bucket))
	require.ErrorContains(t, store.Ping(t.Context()), "is gone")
	_, err := store.Get(t.Context(), uuid.New(), strings.Repeat("0", 64), 10)
	require.Error(t, err)
	require.NotErrorIs(t, err, blob.ErrNotFound)
}

func TestOpenS3Refuses(t *testing.T) {
	good := testenv.MinIO(t)
	for name, c := range map[string]struct {
		spoil func(*blob.S3Config)
		want  string
	}{
		"nothing set":  {func(c *blob.S3Config) { *c = blob.S3Config{} }, "the S3 endpoint is not set\nthe S3 bucket is not set"},
		"a URL":        {func(c *blob.S3Config) { c.Endpoint = "http://" + c.Endpoint }, "opening the S3 object store at"},
		"wrong secret": {func(c *blob.S3Config) { c.SecretKey = "wrong-and-secret" }, "looking for bucket"},
		"bad bucket":   {func(c *blob.S3Config) { c.Bucket = "UPPER/../x" }, "bucket"},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := good
			c.spoil(&cfg)
			_, err := blob.OpenS3(context.Background(), cfg)
			require.ErrorContains(t, err, c.want)
			require.NotContains(t, err.Error(), "wrong-and-secret")
			require.NotContains(t, err.Error(), good.SecretKey)
		})
	}
}
