package blob

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/google/uuid"
	"github.com/minio/minio-go/v7"
)

// ErrNoDirectUpload says that the store takes no uploads past the server.
var ErrNoDirectUpload = errors.New("the object store takes no uploads past the server")

// Grant lets its holder send one object's bytes straight to the store. Its
// URL is a secret until it expires; it appears in no error and no log.
type Grant struct {
	URL     string
	Headers map[string]string // to be sent exactly so, besides Content-Length
}

// uploader is a backend that takes uploads past the server.
type uploader interface {
	grant(ctx context.Context, key string, sum []byte, size int64, valid time.Duration) (Grant, error)
	// adopt makes the object at staged, which has the sum and the size, the one
	// at key, and removes staged.
	adopt(ctx context.Context, staged, key string, sum []byte, size int64) error
}

// GrantUpload lets a client upload the object of that digest and size, under a
// name of its own that is not read, until Adopt has checked it. A store that
// cannot answers with ErrNoDirectUpload.
func (s *Store) GrantUpload(ctx context.Context, project, upload uuid.UUID, digest string, size int64, valid time.Duration) (Grant, error) {
	sum, err := uploadSum(project, digest, size)
	if err != nil {
		return Grant{}, fmt.Errorf("granting an upload: %w", err)
	}
	direct, ok := s.backend.(uploader)
	if !ok {
		return Grant{}, ErrNoDirectUpload
	}
	g, err := direct.grant(ctx, stagingKey(project, upload), sum, size, valid)
	if err != nil {
		return Grant{}, fmt.Errorf("granting an upload: %w", err)
	}
	return g, nil
}

// Adopt checks what was uploaded and puts it into its place. ErrNotFound says
// that nothing was, ErrMismatch that it is something else, which is then gone.
func (s *Store) Adopt(ctx context.Context, project, upload uuid.UUID, digest string, size int64) error {
	sum, err := uploadSum(project, digest, size)
	if err != nil {
		return fmt.Errorf("taking in an upload: %w", err)
	}
	direct, ok := s.backend.(uploader)
	if !ok {
		return fmt.Errorf("taking in an upload: %w", ErrNoDirectUpload)
	}
	staged := stagingKey(project, upload)
	err = direct.adopt(ctx, staged, objectKey(project, digest), sum, size)
	if errors.Is(err, ErrMismatch) {
		err = errors.Join(err, s.backend.remove(ctx, staged))
	}
	if err != nil {
		return fmt.Errorf("taking in an upload of object %s: %w", digest, err)
	}
	return nil
}

// DropUpload removes what was uploaded and not taken in; nothing is fine.
func (s *Store) DropUpload(ctx context.Context, project, upload uuid.UUID) error {
	if err := checkProject(project); err != nil {
		return fmt.Errorf("dropping an upload: %w", err)
	}
	if _, ok := s.backend.(uploader); !ok {
		return nil
	}
	if err := s.backend.remove(ctx, stagingKey(project, upload)); err != nil {
		return fmt.Errorf("dropping an upload: %w", err)
	}
	return nil
}

func uploadSum(project uuid.UUID, digest string, size int64) ([]byte, error) {
	if err := errors.Join(checkProject(project), CheckDigest(digest)); err != nil {
		return nil, err
	}
	if size < 0 || size > MaxObject {
		return nil, tooLarge(MaxObject)
	}
	return hex.DecodeString(digest)
}

// stagingKey is where an upload waits to be taken in.
func stagingKey(project, upload uuid.UUID) string {
	return projectPrefix(project) + "staging/" + upload.String()
}

// grant signs the checksum and the length along with the URL, so that the server
// takes these bytes and no others.
func (b *bucket) grant(ctx context.Context, key string, sum []byte, size int64, valid time.Duration) (Grant, error) {
	checksum := base64.StdEncoding.EncodeToString(sum)
	headers := http.Header{}
	headers.Set(minio.ChecksumSHA256.Key(), checksum)
	headers.Set("Content-Length", strconv.FormatInt(size, 10))
	u, err := b.client.PresignHeader(ctx, http.MethodPut, b.name, key, valid, nil, headers)
	if err != nil {
		return Grant{}, err
	}
	return Grant{URL: u.String(), Headers: map[string]string{minio.ChecksumSHA256.Key(): checksum}}, nil
}

func (b *bucket) adopt(ctx context.Context, staged, key string, sum []byte, size int64) error {
	info, err := b.client.StatObject(ctx, b.name, staged, minio.StatObjectOptions{Checksum: true})
	if err != nil {
		return noSuchKey(err)
	}
	if info.Size != size {
		return fmt.Errorf("%w: it has %d bytes instead of %d", ErrMismatch, info.Size, size)
	}
	if info.ChecksumSHA256 == "" { // a server that keeps none
		err = b.checkSum(ctx, staged, sum, size)
	} else if info.ChecksumSHA256 != base64.StdEncoding.EncodeToString(sum) {
		err = fmt.Errorf("%w: the server has the checksum of other bytes", ErrMismatch)
	}
	if err != nil {
		return err
	}
	// The tag makes sure that what is copied is what was checked.
	_, err = b.client.CopyObject(ctx, minio.CopyDestOptions{Bucket: b.name, Object: key}, minio.CopySrcOptions{Bucket: b.name, Object: staged, MatchETag: info.ETag})
	if err != nil {
		return fmt.Errorf("moving it into place: %w", noSuchKey(err))
	}
	return b.remove(ctx, staged)
}

// checkSum reads what was uploaded.
func (b *bucket) checkSum(ctx context.Context, key string, sum []byte, size int64) error {
	body, _, err := b.open(ctx, key)
	if err != nil {
		return err
	}
	defer body.Close()
	hash := sha256.New()
	if _, err := io.Copy(hash, io.LimitReader(contextReader{ctx, body}, size+1)); err != nil {
		return fmt.Errorf("reading it: %w", err)
	}
	if got := hash.Sum(nil); string(got) != string(sum) {
		return fmt.Errorf("%w: it has the digest %x", ErrMismatch, got)
	}
	return nil
}
