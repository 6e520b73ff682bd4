// Package archive is the room of jobs that ended long ago: it writes what is known of their shards into the object store, has it read from there,
// and removes the rows. Before that it packs the attempts of jobs that ended a while ago, which are read as before.
//
// It writes archives and the objects that they refer to, and pages of packed attempts, and removes shards, attempts, pages, leases and what belongs to them of jobs whose
// archive is written.
package archive

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/blob"
	"github.com/ostraka/ostraka/functions/auditlog"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/jobs"
	"github.com/ostraka/ostraka/functions/store"
)

// MaxBytes is how long the file of an archive may be: what an object store takes in one request.
const MaxBytes = blob.MaxObject

// Receipts is what the room asks of that of proofs.
type Receipts interface {
	// ReceiptText is the receipt of a job without the lines of its shards; empty where none was made.
	ReceiptText(ctx context.Context, project, job uuid.UUID) (string, error)
	// KeepImported writes what agents have signed of the receipt of an imported job.
	KeepImported(ctx context.Context, tx *store.Tx, job uuid.UUID, w auditlog.WholeReceipt) error
	// LogKey is the key by which the log of a project is verified.
	LogKey(ctx context.Context, project uuid.UUID) (string, error)
}

// Options are what a Service is made of.
type Options struct {
	// MaxBytes is how long a file may be; 0 means MaxBytes.
	MaxBytes int64
	// Days is after how many days ended jobs of projects that say nothing become archives; 0: never.
	Days int
	// PackAfter is how long attempts of ended jobs stay rows; 0 means DefaultPackAfter.
	PackAfter time.Duration
}

// Service is the room.
type Service struct {
	env      *base.Env
	jobs     *jobs.Service
	receipts Receipts
	maxBytes int64
	days     int
	// packAfter is how long attempts of ended jobs stay rows.
	packAfter time.Duration
	importing *importTurns
}

// New makes the room.
func New(env *base.Env, j *jobs.Service, receipts Receipts, o Options) *Service {
	if o.MaxBytes == 0 {
		o.MaxBytes = MaxBytes
	}
	if o.PackAfter == 0 {
		o.PackAfter = DefaultPackAfter
	}
	return &Service{env: env, jobs: j, receipts: receipts, maxBytes: o.MaxBytes, days: o.Days, packAfter: o.PackAfter, importing: newTurns()}
}
