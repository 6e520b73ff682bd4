package blob

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
)

// s3Attempts is how often a request is tried: enough for a server that
// restarts, few enough that a caller hears of one that is gone.
const s3Attempts = 4

// bucket keeps objects in a bucket of an S3 server.
type bucket struct {
	client    *minio.Client
	core      minio.Core
	transport *http.Transport
	name      string
	region    string
}

// OpenS3 returns a store that keeps its objects in a bucket, which it makes when
// missing. Its credentials need to list, read, write and delete there.
func OpenS3(ctx context.Context, cfg S3Config) (*Store, error) {
	if err := cfg.validate(); err != nil {
		return nil, fmt.Errorf("opening the S3 object store: %w", err)
	}
	transport, err := minio.DefaultTransport(!cfg.Plaintext)
	if err != nil {
		return nil, fmt.Errorf("opening the S3 object store: %w", err)
	}
	client, err := minio.New(cfg.Endpoint, &minio.Options{
		Creds:      credentials.NewStaticV4(cfg.AccessKey, cfg.SecretKey, ""),
		Secure:     !cfg.Plaintext,
		Region:     cfg.Region,
		Transport:  transport,
		MaxRetries: s3Attempts,
		// Without these the client refuses to send checksums.
		TrailingHeaders: true,
	})
	if err != nil {
		return nil, fmt.Errorf("opening the S3 object store at %s: %w", cfg.Endpoint, err)
	}
	b := &bucket{client: client, core: minio.Core{Client: client}, transport: transport, name: cfg.Bucket, region: cfg.Region}
	if err := b.ensure(ctx); err != nil {
		return nil, fmt.Errorf("opening the S3 object store at %s: %w", cfg.Endpoint, err)
	}
	return &Store{backend: b}, nil
}

// ensure makes the bucket; another server may be making it as well.
func (b *bucket) ensure(ctx context.Context) error {
	exists, err := b.client.BucketExists(ctx, b.name)
	if err != nil {
		return fmt.Errorf("looking for bucket %s: %w", b.name, err)
	}
	if exists {
		return nil
	}
	err = b.client.MakeBucket(ctx, b.name, minio.MakeBucketOptions{Region: b.region})
	if err != nil && minio.ToErrorResponse(err).Code != minio.BucketAlreadyOwnedByYou {
		return fmt.Errorf("making bucket %s: %w", b.name, err)
	}
	return nil
}

// spool makes a file that has no name, so that nothing is left of it after a kill.
func (b *bucket) spool() (*os.File, error) {
	f, err := os.CreateTemp("", "ostraka-put-")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(f.Name()); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

func (b *bucket) discard(f *os.File) { f.Close() }

// commit sends the object in one request, whose SHA-256 the server checks before
// it keeps anything. Uploads in parts have no checksum of the whole, and a kill
// leaves their parts behind, unseen and paid for.
func (b *bucket) commit(ctx context.Context, f *os.File, key string, sum [sha256.Size]byte, size int64) error {
	_, err := b.client.PutObject(ctx, b.name, key, io.NewSectionReader(f, 0, size), size, minio.PutObjectOptions{
		ContentType:      "application/octet-stream",
		DisableMultipart: true,
		UserMetadata:     map[string]string{minio.ChecksumSHA256.Key(): base64.StdEncoding.EncodeToString(sum[:])},
	})
	return err
}

func (b *bucket) open(ctx context.Context, key string) (io.ReadCloser, int64, error) {
	body, info, _, err := b.core.GetObject(ctx, b.name, key, minio.GetObjectOptions{})
	if err != nil {
		return nil, 0, noSuchKey(err)
	}
	if info.Size < 0 {
		body.Close()
		return nil, 0, errors.New("the server does not say how large it is")
	}
	return body, info.Size, nil
}

func (b *bucket) stat(ctx context.Context, key string) (int64, error) {
	info, err := b.client.StatObject(ctx, b.name, key, minio.StatObjectOptions{})
	if err != nil {
		return 0, noSuchKey(err)
	}
	return info.Size, nil
}

// noSuchKey tells a missing object from a missing bucket, which is a fault.
func noSuchKey(err error) error {
	if minio.ToErrorResponse(err).Code == minio.NoSuchKey {
		return ErrNotFound
	}
	return err
}

func (b *bucket) remove(ctx context.Context, key string) error {
	return b.client.RemoveObject(ctx, b.name, key, minio.RemoveObjectOptions{})
}

// removeAll lists and deletes hand in hand, so memory stays flat however many
// objects there are, and a second call goes on where the first was cut.
func (b *bucket) removeAll(ctx context.Context, prefix string) error {
	listCtx, cancel := context.WithCancel(ctx)
	defer cancel()
	doomed, listed := make(chan minio.ObjectInfo), make(chan error, 1)
	go func() {
		defer close(doomed)
		listed <- b.list(listCtx, prefix, doomed)
	}()
	var first error
	failed := 0
	for e := range b.client.RemoveObjects(ctx, b.name, doomed, minio.RemoveObjectsOptions{}) {
		if failed++; first == nil {
			first = e.Err
		}
	}
	cancel() // a removal that gave up early leaves the listing waiting
	err := <-listed
	if first != nil {
		return fmt.Errorf("%d objects could not be deleted, the first because: %w", failed, first)
	}
	return errors.Join(context.Cause(ctx), err)
}

func (b *bucket) list(ctx context.Context, prefix string, to chan<- minio.ObjectInfo) error {
	for o := range b.client.ListObjects(ctx, b.name, minio.ListObjectsOptions{Prefix: prefix, Recursive: true}) {
		if o.Err != nil {
			return fmt.Errorf("listing them: %w", o.Err)
		}
		select {
		case to <- o:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

func (b *bucket) ping(ctx context.Context) error {
	exists, err := b.client.BucketExists(ctx, b.name)
	if err != nil {
		return err
	}
	if !exists {
		return fmt.Errorf("bucket %s is gone", b.name)
	}
	return nil
}

func (b *bucket) close() error {
	b.transport.CloseIdleConnections()
	return nil
}
