package registry

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/registry/sql"
	"github.com/ostraka/ostraka/functions/stepargs"
	"github.com/ostraka/ostraka/functions/store"
)

const (
	// CollectBatch is how many objects of a project one run looks at, so that each project gets its turn; the next run continues with those that
	// wait longest.
	CollectBatch = 500
	// objectStays is how long an object stays to which nothing refers.
	objectStays = 24 * time.Hour
	// usedAgain is when an object is looked at again that something refers to: most are referred to for good.
	usedAgain = 7 * 24 * time.Hour
	// removeTime is how long removing an object may take: well below the minute after which Postgres ends a transaction that is idle.
	removeTime = 20 * time.Second
)

// collected is what a run has removed of one project.
type collected struct{ objects, bytes int64 }

// Collect removes objects that nothing has referred to for a day: uploads that were never used, files that were replaced, what leases left
// that died. Each object is a transaction: a run that is cut off has lost nothing, and the next one goes on.
func (s *Service) Collect(ctx context.Context, _ stepargs.CollectArgs) error {
	err := s.tenant.EachProject(ctx, func(project uuid.UUID) error { return s.collectProject(ctx, project) })
	if err != nil {
		return fmt.Errorf("collecting objects: %w", err)
	}
	return nil
}

func (s *Service) collectProject(ctx context.Context, project uuid.UUID) error {
	var digests []string
	err := s.env.Project(ctx, project, func(tx *store.Tx) error {
		unkept, _, err := store.Value[bool](ctx, tx, sql.FilesUnkept)
		if err != nil || unkept {
			return err
		}
		server, err := tx.AsServer(ctx)
		if err != nil {
			return err
		}
		digests, err = store.Values[string](ctx, server, sql.ObjectsToLookAt, project, CollectBatch)
		return err
	})
	var gone collected
	for _, digest := range digests {
		if err != nil {
			break
		}
		err = s.collectObject(ctx, project, digest, &gone)
	}
	if gone.objects == 0 {
		return err
	}
	s.env.Observe.Collected(gone.objects, gone.bytes)
	s.env.Log.Info("objects were removed that nothing referred to", "project", project, "objects", gone.objects, "bytes", gone.bytes)
	return errors.Join(err, s.env.Project(ctx, project, func(tx *store.Tx) error {
		return base.Audit(ctx, tx, "server", "objects.collect", project.String(), map[string]any{"objects": gone.objects, "bytes": gone.bytes})
	}))
}

// collectObject removes one object, unless something refers to it, is about to, or it was stored again. Requests that store it or ask for
// it meanwhile wait for the row.
func (s *Service) collectObject(ctx context.Context, project uuid.UUID, digest string, gone *collected) error {
	var size int64
	var removed bool
	err := s.env.Project(ctx, project, func(tx *store.Tx) error {
		removed = false
		server, err := tx.AsServer(ctx)
		if err != nil {
			return err
		}
		if may, _, err := store.Value[bool](ctx, server, sql.MayCollect); err != nil || !may {
			return err // a backup is copying objects
		}
		var due bool
		if size, due, err = store.Value[int64](ctx, server, sql.LockObject, project, digest); err != nil || !due {
			return err
		}
		if err := tx.AsProject(ctx); err != nil {
			return err
		}
		used, _, err := store.Value[bool](ctx, tx, sql.ObjectIsUsed, digest)
		if err != nil {
			return err
		}
		if !used { // a job over files that was submitted since has not noted yet what it reads
			if used, _, err = store.Value[bool](ctx, tx, sql.FilesUnkept); err != nil {
				return err
			}
		}
		if server, err = tx.AsServer(ctx); err != nil {
			return err
		}
		if used {
			_, err := store.Exec(ctx, server, sql.LookLater, project, digest, usedAgain)
			return err
		}
		// A crash from here on leaves the row: the object is looked at again, and is stored as new where it is stored.
		if err := s.removeObject(ctx, project, digest); err != nil {
			return fmt.Errorf("removing object %s: %w", digest, err)
		}
		removed = true
		_, err = store.Exec(ctx, server, sql.ForgetObject, project, digest)
		return err
	})
	if err != nil {
		return fmt.Errorf("looking at object %s of project %s: %w", digest, project, err)
	}
	if removed {
		gone.objects, gone.bytes = gone.objects+1, gone.bytes+size
	}
	return nil
}

// removeObject gives up before the database takes the lock of the row away, after which somebody may store the object again.
func (s *Service) removeObject(ctx context.Context, project uuid.UUID, digest string) error {
	ctx, cancel := context.WithTimeout(ctx, removeTime)
	defer cancel()
	return s.env.Blobs.Delete(ctx, project, digest)
}
