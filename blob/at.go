package blob

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/google/uuid"
	"github.com/minio/minio-go/v7"
)

// ReaderAt reads an object from anywhere. What it reads is not verified: only a whole object has a digest.
type ReaderAt interface {
	io.ReaderAt
	io.Closer
}

// OpenAt returns an object that is read in parts, and its size. Its readers check what they read by other means.
func (s *Store) OpenAt(ctx context.Context, project uuid.UUID, digest string) (ReaderAt, int64, error) {
	key, err := checkedKey(project, digest)
	if err != nil {
		return nil, 0, fmt.Errorf("opening an object: %w", err)
	}
	in, size, err := s.backend.openAt(ctx, key)
	if err != nil {
		return nil, 0, fmt.Errorf("opening object %s: %w", digest, err)
	}
	return in, size, nil
}

func (d *directory) openAt(ctx context.Context, key string) (ReaderAt, int64, error) {
	in, size, err := d.open(ctx, key)
	if err != nil {
		return nil, 0, err
	}
	file, ok := in.(*os.File)
	if !ok {
		return nil, 0, errors.Join(errors.New("the directory opens no file"), in.Close())
	}
	return file, size, nil
}

func (b *bucket) openAt(ctx context.Context, key string) (ReaderAt, int64, error) {
	size, err := b.stat(ctx, key)
	if err != nil {
		return nil, 0, err
	}
	return &ranges{ctx: ctx, bucket: b, key: key, size: size}, size, nil
}

// ranges reads an object of a bucket with a request for each read. It ends with the context that it was opened with.
type ranges struct {
	ctx    context.Context //nolint:containedctx // io.ReaderAt takes none
	bucket *bucket
	key    string
	size   int64
}

// ReadAt implements io.ReaderAt.
func (r *ranges) ReadAt(p []byte, at int64) (int, error) {
	if at < 0 || at >= r.size {
		return 0, io.EOF
	}
	want := min(int64(len(p)), r.size-at)
	if want == 0 {
		return 0, nil
	}
	var o minio.GetObjectOptions
	if err := o.SetRange(at, at+want-1); err != nil {
		return 0, fmt.Errorf("asking for a part of an object: %w", err)
	}
	body, _, _, err := r.bucket.core.GetObject(r.ctx, r.bucket.name, r.key, o)
	if err != nil {
		return 0, noSuchKey(err)
	}
	defer body.Close()
	n, err := io.ReadFull(body, p[:want])
	if err == nil && n < len(p) {
		err = io.EOF
	}
	return n, err
}

// Close implements io.Closer.
func (r *ranges) Close() error { return nil }
