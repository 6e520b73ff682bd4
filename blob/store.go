package blob

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/google/uuid"
)

var (
	// ErrNotFound says that the project has no object of that digest.
	ErrNotFound = errors.New("no such object")
	// ErrCorrupt says that the stored bytes are not those that the digest names.
	ErrCorrupt = errors.New("the stored object is corrupt")
	// ErrTooLarge says that an object exceeds the limit that the caller set.
	ErrTooLarge = errors.New("the object is too large")
	// ErrMismatch says that the bytes offered are not those that the digest names.
	ErrMismatch = errors.New("the content does not match its digest")
	// ErrBadDigest says that a string is not a digest at all.
	ErrBadDigest = errors.New("not a SHA-256 digest (64 lower-case hex characters)")
)

// MaxObject is the largest object in bytes, whatever limit a caller names: what
// S3 takes in one request, which keeps an upload atomic and its checksum whole.
const MaxObject = 5 << 30

// Store keeps objects. It is safe for concurrent use.
type Store struct{ backend backend }

// backend keeps bytes under keys; what they mean is the Store's affair.
type backend interface {
	// spool makes a temporary file for an object whose key is not yet known.
	spool() (*os.File, error)
	// commit makes the spooled file the object at key, replacing any other, and
	// returns once it is durable.
	commit(ctx context.Context, f *os.File, key string, sum [sha256.Size]byte, size int64) error
	// discard removes a spooled file, committed or not.
	discard(f *os.File)
	// open and stat return ErrNotFound when there is no such key.
	open(ctx context.Context, key string) (io.ReadCloser, int64, error)
	stat(ctx context.Context, key string) (int64, error)
	openAt(ctx context.Context, key string) (ReaderAt, int64, error)
	// remove and removeAll succeed when there is nothing to remove.
	remove(ctx context.Context, key string) error
	removeAll(ctx context.Context, prefix string) error
	// folders are the names directly below a prefix that ends in a slash.
	folders(ctx context.Context, prefix string) ([]string, error)
	ping(ctx context.Context) error
	close() error
}

// Put stores what r holds and returns its digest and size. It refuses more than
// max bytes, or more than MaxObject, with ErrTooLarge. Storing the same bytes again is harmless, and
// mends a corrupt copy.
func (s *Store) Put(ctx context.Context, project uuid.UUID, r io.Reader, max int64) (digest string, size int64, err error) {
	return s.put(ctx, project, "", r, max, nil)
}

// PutAdmitted is Put, or PutDigest where digest is not empty, that asks admit once all has come and before anything is stored under its
// name: an error of it is returned as it is, and nothing is stored.
func (s *Store) PutAdmitted(ctx context.Context, project uuid.UUID, digest string, r io.Reader, max int64, admit func(digest string, size int64) error) (string, int64, error) {
	if digest != "" {
		if err := CheckDigest(digest); err != nil {
			return "", 0, fmt.Errorf("storing an object: %w", err)
		}
	}
	return s.put(ctx, project, digest, r, max, admit)
}

// PutDigest is Put for content whose digest is known; it stores nothing and
// returns ErrMismatch when the content is another.
func (s *Store) PutDigest(ctx context.Context, project uuid.UUID, digest string, r io.Reader, max int64) (size int64, err error) {
	if err := CheckDigest(digest); err != nil {
		return 0, fmt.Errorf("storing an object: %w", err)
	}
	_, size, err = s.put(ctx, project, digest, r, max, nil)
	return size, err
}

func (s *Store) put(ctx context.Context, project uuid.UUID, want string, r io.Reader, max int64, admit func(string, int64) error) (string, int64, error) {
	if err := checkProject(project); err != nil {
		return "", 0, fmt.Errorf("storing an object: %w", err)
	}
	f, err := s.backend.spool()
	if err != nil {
		return "", 0, fmt.Errorf("storing an object: making a temporary file: %w", err)
	}
	defer s.backend.discard(f)
	sum, size, err := spool(ctx, f, r, min(max, MaxObject))
	if err != nil {
		return "", 0, fmt.Errorf("storing an object: %w", err)
	}
	digest := hex.EncodeToString(sum[:])
	if want != "" && want != digest {
		return "", 0, fmt.Errorf("storing an object: %w: expected %s, got %s", ErrMismatch, want, digest)
	}
	if admit != nil {
		if err := admit(digest, size); err != nil {
			return "", 0, err
		}
	}
	if err := s.backend.commit(ctx, f, objectKey(project, digest), sum, size); err != nil {
		return "", 0, fmt.Errorf("storing object %s: %w", digest, err)
	}
	return digest, size, nil
}

// spool copies r to f while hashing, and reads no further than one byte past max.
func spool(ctx context.Context, f io.Writer, r io.Reader, max int64) (sum [sha256.Size]byte, size int64, err error) {
	if max < 0 {
		return sum, 0, tooLarge(max)
	}
	hash := sha256.New()
	in := io.LimitReader(contextReader{ctx, r}, max)
	if size, err = io.Copy(io.MultiWriter(f, hash), in); err != nil {
		return sum, size, fmt.Errorf("receiving its content: %w", err)
	}
	var one [1]byte
	switch _, err := io.ReadFull(contextReader{ctx, r}, one[:]); {
	case err == nil:
		return sum, size, tooLarge(max)
	case !errors.Is(err, io.EOF):
		return sum, size, fmt.Errorf("receiving its content: %w", err)
	}
	hash.Sum(sum[:0])
	return sum, size, nil
}

func tooLarge(max int64) error {
	return fmt.Errorf("%w: the limit is %d bytes", ErrTooLarge, max)
}

// Open returns the object and its size. The reader hashes what it hands out and
// keeps the last part back until the whole has proved right; otherwise it ends
// with ErrCorrupt. Who stops before io.EOF has unverified bytes.
func (s *Store) Open(ctx context.Context, project uuid.UUID, digest string) (io.ReadCloser, int64, error) {
	key, err := checkedKey(project, digest)
	if err != nil {
		return nil, 0, fmt.Errorf("opening an object: %w", err)
	}
	body, size, err := s.backend.open(ctx, key)
	if err != nil {
		return nil, 0, fmt.Errorf("opening object %s: %w", digest, err)
	}
	return newVerifier(ctx, body, digest, size), size, nil
}

// Get returns the whole object, verified. It refuses one of more than max bytes
// with ErrTooLarge before reading it.
func (s *Store) Get(ctx context.Context, project uuid.UUID, digest string, max int64) ([]byte, error) {
	body, size, err := s.Open(ctx, project, digest)
	if err != nil {
		return nil, err
	}
	defer body.Close()
	if size > max {
		return nil, fmt.Errorf("reading object %s of %d bytes: %w", digest, size, tooLarge(max))
	}
	b := bytes.NewBuffer(make([]byte, 0, size+bytes.MinRead))
	if _, err := b.ReadFrom(body); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// Stat returns the object's size. It does not verify the content.
func (s *Store) Stat(ctx context.Context, project uuid.UUID, digest string) (int64, error) {
	key, err := checkedKey(project, digest)
	if err != nil {
		return 0, fmt.Errorf("looking for an object: %w", err)
	}
	size, err := s.backend.stat(ctx, key)
	if err != nil {
		return 0, fmt.Errorf("looking for object %s: %w", digest, err)
	}
	return size, nil
}

// Delete removes an object; one that is not there is fine.
func (s *Store) Delete(ctx context.Context, project uuid.UUID, digest string) error {
	key, err := checkedKey(project, digest)
	if err != nil {
		return fmt.Errorf("deleting an object: %w", err)
	}
	if err := s.backend.remove(ctx, key); err != nil {
		return fmt.Errorf("deleting object %s: %w", digest, err)
	}
	return nil
}

// DeleteProject removes everything of a project. One that was interrupted is
// finished by calling it again. Objects put meanwhile may survive: stop the
// project's work first.
func (s *Store) DeleteProject(ctx context.Context, project uuid.UUID) error {
	if err := checkProject(project); err != nil {
		return fmt.Errorf("deleting a project's objects: %w", err)
	}
	if err := s.backend.removeAll(ctx, projectPrefix(project)); err != nil {
		return fmt.Errorf("deleting the objects of project %s: %w", project, err)
	}
	return nil
}

// Ping tells whether the store can be used.
func (s *Store) Ping(ctx context.Context) error {
	if err := s.backend.ping(ctx); err != nil {
		return fmt.Errorf("reaching the object store: %w", err)
	}
	return nil
}

// Close releases what the store holds on to. Readers and writers must be done.
func (s *Store) Close() error {
	if err := s.backend.close(); err != nil {
		return fmt.Errorf("closing the object store: %w", err)
	}
	return nil
}

// contextReader stops reading when the context ends.
type contextReader struct {
	ctx context.Context
	r   io.Reader
}

func (c contextReader) Read(p []byte) (int, error) {
	if err := context.Cause(c.ctx); err != nil {
		return 0, err
	}
	return c.r.Read(p)
}
