package dispatch

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/dispatch/sql"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/runtime/bundle"
)

// UploadTries is how often an agent may store what each shard of a lease leaves: answers get lost, and agents start again.
const UploadTries = 3

// giveBackTime bounds how long it may take to note that nothing was stored after all.
const giveBackTime = 10 * time.Second

// uploadRoom is what may be stored for one shard of a lease.
func uploadRoom(l bundle.Limits) (objects, bytes int64) {
	return UploadTries * (1 + l.Files), UploadTries * (l.OutputBytes + l.ArtifactBytes)
}

// keepOutput notes what an agent stores. None of it counts against the project's bytes, since a hostile agent could use them up and have
// its owner's uploads and the results of others refused: the lease bounds it.
func (s *Service) keepOutput(ctx context.Context, project uuid.UUID) func(digest string, size int64) error {
	return func(digest string, _ int64) error {
		return s.env.Control(ctx, func(tx pgx.Tx) error { return s.registry.KeepObject(ctx, tx, project, digest, 0) })
	}
}

// beginUpload says how many bytes may still be stored under the lease.
func (s *Service) beginUpload(ctx context.Context, holder leaseHolder, agent, lease uuid.UUID, objects, bytes int64) (left int64, err error) {
	err = s.env.Project(ctx, holder.ProjectID, func(tx *store.Tx) error {
		gate, found, err := store.One[recordGate](ctx, tx, sql.GateRecord, lease, agent)
		if err != nil || !found {
			return base.OrLeaseOfDeleted(err)
		}
		if err := gate.open(); err != nil {
			return err
		}
		left, found, err = store.Value[int64](ctx, tx, sql.BeginUpload, lease, agent, objects, bytes)
		if err == nil && !found {
			err = tooManyUploads(objects, bytes)
		}
		return err
	})
	return left, err
}

// giveUploadBack takes back that one more object was stored under the lease: what was cut off or refused was not.
func (s *Service) giveUploadBack(ctx context.Context, holder leaseHolder, agent, lease uuid.UUID) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), giveBackTime) // the sender may be gone
	defer cancel()
	return s.env.Project(ctx, holder.ProjectID, func(tx *store.Tx) error {
		_, err := store.Exec(ctx, tx, sql.GiveUploadBack, lease, agent)
		return err
	})
}

func tooManyUploads(objects, bytes int64) *functions.Error {
	return &functions.Error{
		Kind: functions.KindTooLarge, Code: "too_many_outputs", Message: fmt.Sprintf("more was stored under the lease than its shards may leave: %d objects and %d bytes for each, repetitions included", objects, bytes),
		Hint: "store each output and each artifact once, and report what is above the function's limits with the status of the limit",
	}
}
