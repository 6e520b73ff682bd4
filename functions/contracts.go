package functions

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/ostraka/ostraka/blob"
	"github.com/ostraka/ostraka/runtime/harness"
	"github.com/ostraka/ostraka/runtime/model"
	"github.com/ostraka/ostraka/runtime/recheck"
)

// ModelUse is the external model and what each project may spend on it in a day. The zero value is off.
type ModelUse struct {
	Client *model.Client
	Calls  int64
	Tokens int64
}

// Snooze says that a step cannot be carried out now, through no fault of its own, and when to try again.
type Snooze struct {
	For time.Duration
	Err error
}

// Error implements error.
func (s *Snooze) Error() string { return fmt.Sprintf("trying again in %v: %v", s.For, s.Err) }

// Unwrap gives the reason.
func (s *Snooze) Unwrap() error { return s.Err }

// LongestSnooze is for how long a step is put off at most, whatever it waits for.
const LongestSnooze = time.Minute

// Rechecker executes shards in the server's own sandbox: runtime/docker, or the agents' strongest level. A recheck.Executor is one.
type Rechecker interface {
	// Describe says what results are made in; every verdict of the server names it.
	Describe() recheck.Description
	// Recheck executes shards as agents do. Its error is operational and never a verdict.
	Recheck(ctx context.Context, batch recheck.Batch) ([]harness.Result, error)
	// Health says why nothing could be executed now.
	Health(ctx context.Context) error
}

// Step is the argument of a River job: the kind names the step, the fields say what it works on. Steps stand beside the code that
// carries them out; queue/ registers workers that only call it.
type Step interface{ Kind() string }

// Delayed is a step that is not to be carried out before a certain time.
type Delayed interface{ NotBefore() time.Time }

// Queue enqueues steps in the transaction that makes them necessary.
type Queue interface {
	Enqueue(ctx context.Context, tx pgx.Tx, steps ...Step) error
	// Settle says which of the steps that it has kept for a request were carried out, and which are left to workers.
	Settle(ctx context.Context, carried, left []KeptStep) error
}

// Blobs is the object store. All objects belong to a project and are named by their SHA-256.
type Blobs interface {
	Put(ctx context.Context, project uuid.UUID, r io.Reader, max int64) (digest string, size int64, err error)
	PutDigest(ctx context.Context, project uuid.UUID, digest string, r io.Reader, max int64) (size int64, err error)
	// PutAdmitted asks before anything is stored under its name.
	PutAdmitted(ctx context.Context, project uuid.UUID, digest string, r io.Reader, max int64, admit func(digest string, size int64) error) (string, int64, error)
	Delete(ctx context.Context, project uuid.UUID, digest string) error
	Open(ctx context.Context, project uuid.UUID, digest string) (io.ReadCloser, int64, error)
	Get(ctx context.Context, project uuid.UUID, digest string, max int64) ([]byte, error)
	// OpenAt opens an object to be read in parts, which are not verified.
	OpenAt(ctx context.Context, project uuid.UUID, digest string) (blob.ReaderAt, int64, error)
	Stat(ctx context.Context, project uuid.UUID, digest string) (int64, error)
	// GrantUpload, Adopt and DropUpload are for uploads past the server; a store that takes none says blob.ErrNoDirectUpload.
	GrantUpload(ctx context.Context, project, upload uuid.UUID, digest string, size int64, valid time.Duration) (blob.Grant, error)
	Adopt(ctx context.Context, project, upload uuid.UUID, digest string, size int64) error
	DropUpload(ctx context.Context, project, upload uuid.UUID) error
	Ping(ctx context.Context) error
}

// Observer counts what the steps do. Its methods must be cheap and safe to call at once.
type Observer interface {
	Results(status string, n int)
	Verdicts(decision string, n int)
	Audits(outcome string, n int)
	Caught()
	Collected(objects, bytes int64)
}
