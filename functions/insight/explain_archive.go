package insight

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/archive"
	"github.com/ostraka/ostraka/functions/base"
)

// explainArchive says where the shards of an ended job are, and why they are still in the database where its project wants an archive.
func (s *Service) explainArchive(ctx context.Context, project uuid.UUID, job functions.Job, e *functions.Explanation) error {
	if !job.State.Ended() || job.FinishedAt == nil || job.State == functions.JobDeleting {
		return nil
	}
	if a := job.Archive; a != nil {
		e.Reasons = append([]functions.Reason{archiveReason(*a)}, e.Reasons...)
		return nil
	}
	var days int
	err := s.env.Control(ctx, func(tx pgx.Tx) (err error) {
		days, err = s.archive.DaysOf(ctx, tx, project)
		return err
	})
	if err != nil || days == 0 || time.Since(*job.FinishedAt) < time.Duration(days)*24*time.Hour {
		return err
	}
	err = s.archive.Waits(ctx, project, job.ID)
	var why *functions.Error
	if !errors.Is(err, archive.ErrWaits) || !errors.As(err, &why) {
		return err
	}
	e.Reasons = append(e.Reasons, functions.Reason{
		Code: why.Code, Text: fmt.Sprintf("The job ended more than %s ago, and is no archive yet: %s.", base.Plural(int64(days), "day", "days"), why.Message), Hint: why.Hint,
	})
	return nil
}

func archiveReason(a functions.JobArchive) functions.Reason {
	id := a.Job.String()
	switch a.State {
	case functions.ArchiveFailed:
		return functions.Reason{Code: "archive_failed", Text: "The job could not become an archive: " + a.Error, Hint: "when that is mended: ostraka job archive " + id}
	case functions.ArchiveWriting:
		return functions.Reason{Code: "archiving", Text: "An archive of the job is being written; until then it is read as ever."}
	default:
		return functions.Reason{
			Code: "archived", Text: "The job is archived: its shards are in a file and not in the database any more.",
			Hint: "ostraka job results " + id + " reads the results from there; ostraka archive download " + id + " fetches all that is known of the shards",
		}
	}
}
