package registry

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/blob"
	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/guardian"
)

// MaxObjectBytes is the largest object that a client may store.
const MaxObjectBytes = 1 << 30

// DigestPattern is how a SHA-256 is written.
var DigestPattern = regexp.MustCompile(`^[0-9a-f]{64}$`)

// CheckDigest refuses what is not a SHA-256 in hexadecimal.
func CheckDigest(digest string) error {
	if !DigestPattern.MatchString(digest) {
		return functions.Invalid("bad_digest", fmt.Sprintf("%q is not a digest", digest), "write the SHA-256 as 64 lower-case hexadecimal characters")
	}
	return nil
}

// StoreObject is PutObject for somebody, whom the guardian allows it first.
func (s *Service) StoreObject(ctx context.Context, by functions.Principal, project uuid.UUID, digest string, r io.Reader) (functions.Object, error) {
	if err := s.AskUpload(ctx, by, project, guardian.File{Digest: digest, Bytes: -1}, FileCondition{}); err != nil {
		return functions.Object{}, err
	}
	return s.PutObject(ctx, project, digest, r)
}

// PutObject stores what it reads; digest, when not empty, must be the SHA-256 of it.
func (s *Service) PutObject(ctx context.Context, project uuid.UUID, digest string, r io.Reader) (functions.Object, error) {
	return s.putObject(ctx, project, digest, r, MaxObjectBytes)
}

func (s *Service) putObject(ctx context.Context, project uuid.UUID, digest string, r io.Reader, most int64) (o functions.Object, err error) {
	o.Digest = digest
	if digest == "" {
		o.Digest, o.Size, err = s.env.Blobs.Put(ctx, project, r, most)
	} else {
		if err := CheckDigest(digest); err != nil {
			return o, err
		}
		o.Size, err = s.env.Blobs.PutDigest(ctx, project, digest, r, most)
	}
	return o, ObjectError(err, digest)
}

// ObjectError turns what went wrong with an object into an error for the caller.
func ObjectError(err error, digest string) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, blob.ErrTooLarge):
		return &functions.Error{Kind: functions.KindTooLarge, Code: "object_too_large", Message: err.Error(), Hint: "split the data into several objects", Err: err}
	case errors.Is(err, blob.ErrMismatch):
		return &functions.Error{Kind: functions.KindInvalid, Code: "digest_mismatch", Message: "the bytes do not have the digest that was stated", Hint: "nothing was stored; send the object again", Err: err}
	case errors.Is(err, blob.ErrNotFound):
		missing := functions.NotFound("object", digest)
		missing.Err = err
		return missing
	case errors.Is(err, blob.ErrCorrupt):
		damaged := functions.ErrObjectDamaged.With("what is stored as object %.12s… is not what its digest names", digest)
		damaged.Err = err
		return damaged
	default:
		return err
	}
}

// checkedAhead is up to which size an object is read and checked before any of it is handed out: an answer that has begun cannot say any
// more that what follows is damaged.
const checkedAhead = 1 << 20

// OpenObject opens an object of the project. Its reader fails at the end when the stored bytes are not what they should be; of one of at
// most checkedAhead bytes it is said at once.
func (s *Service) OpenObject(ctx context.Context, project uuid.UUID, digest string) (io.ReadCloser, int64, error) {
	return s.OpenChecked(ctx, project, digest, checkedAhead)
}

// OpenChecked checks an object of so many bytes at most before it hands out any.
func (s *Service) OpenChecked(ctx context.Context, project uuid.UUID, digest string, ahead int64) (io.ReadCloser, int64, error) {
	if err := CheckDigest(digest); err != nil {
		return nil, 0, err
	}
	r, size, err := s.env.Blobs.Open(ctx, project, digest)
	if err != nil || size > ahead {
		return r, size, ObjectError(err, digest)
	}
	defer r.Close()
	content, err := io.ReadAll(r)
	if err != nil {
		return nil, 0, ObjectError(err, digest)
	}
	return io.NopCloser(bytes.NewReader(content)), size, nil
}

// AfterNumber reads the cursor of a list that is ordered by a number. It is -1 at the start.
func AfterNumber(page functions.ListPage) (int64, error) {
	if page.After == "" {
		return -1, nil
	}
	n, err := strconv.ParseInt(page.After, 10, 64)
	if err != nil || n < 0 {
		return 0, base.BadCursor()
	}
	return n, nil
}
