package archive

import (
	"context"
	"fmt"

	"github.com/ostraka/ostraka/functions/archive/sql"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/partition"
	"github.com/ostraka/ostraka/functions/stepargs"
	"github.com/ostraka/ostraka/functions/store"
)

const (
	// removeBatch is how many rows of each table one transaction removes, beside the rows of a page of shards.
	removeBatch = 1000
	// removeLeaseBatch is the same for leases, each of which has submissions.
	removeLeaseBatch = 200
)

// remove removes the rows of a job whose archive is written, so many in one transaction.
func (s *Service) remove(ctx context.Context, args stepargs.ArchiveArgs) error {
	mine := base.NewSlice()
	for more := true; more; {
		err := s.env.Project(ctx, args.Project, func(tx *store.Tx) (err error) {
			more, err = removePart(ctx, tx, args)
			return err
		})
		if err != nil {
			return fmt.Errorf("removing the rows of archived job %s: %w", args.Job, err)
		}
		if err := mine.Over(); err != nil && more {
			return err
		}
	}
	return nil
}

// removePart does one transaction's share, in the order in which all steps lock rows, and says whether anything is left.
func removePart(ctx context.Context, tx *store.Tx, args stepargs.ArchiveArgs) (more bool, err error) {
	if archived, err := base.Archived(ctx, tx, args.Job); err != nil || !archived { // the job was deleted meanwhile
		return false, err
	}
	page, found, err := store.Value[int64](ctx, tx, sql.NextPage, args.Job)
	if err != nil {
		return false, err
	}
	if found {
		from := page * partition.PageSize
		if _, err := store.Exec(ctx, tx, sql.RemoveShards, args.Job, from, from+partition.PageSize); err != nil {
			return false, err
		}
		_, err := store.Exec(ctx, tx, sql.RemovePage, args.Job, from, from+partition.PageSize, page)
		return true, err
	}
	if n, err := store.Exec(ctx, tx, sql.RemoveLeases, args.Job, removeLeaseBatch); err != nil || n > 0 {
		return true, err
	}
	if n, _, err := store.Value[int64](ctx, tx, sql.RemoveRest, args.Job, removeBatch); err != nil || n > 0 {
		return true, err
	}
	if _, err := store.Exec(ctx, tx, sql.EndRemoving, args.Job); err != nil {
		return false, err
	}
	return false, base.Notify(ctx, tx, base.ChannelJobs, args.Job)
}
