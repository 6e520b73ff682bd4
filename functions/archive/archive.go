package archive

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/archive/sql"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/stepargs"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/guardian"
)

// ErrWaits is for a job that cannot become an archive as it is.
var ErrWaits = &functions.Error{
	Kind: functions.KindConflict, Code: "archive_waits", Message: "the job cannot become an archive yet",
	Hint: "wait until it has ended and nothing of it is under way any more, and close its flags: ostraka job explain JOB says what there is",
}

// ErrNoArchive is for a job without an archive.
var ErrNoArchive = &functions.Error{
	Kind: functions.KindConflict, Code: "no_archive", Message: "the job has no archive",
	Hint: "ostraka job archive JOB makes one of a job that has ended",
}

// blockers are what keeps a job from becoming an archive.
type blockers struct {
	Flags      int64
	Folding    bool
	Receipt    bool
	Awaited    bool
	Unfolded   bool
	Rechecks   bool
	Settling   bool
	Unmeasured bool
}

// wait is nil where nothing keeps the job.
func (b blockers) wait(job uuid.UUID) error {
	soon := func(what string) error {
		e := ErrWaits.With("job %s cannot become an archive yet: %s", job, what)
		e.Hint = "wait some seconds, and ask again"
		return e
	}
	switch {
	case b.Flags > 0:
		e := ErrWaits.With("job %s stays as it is: %s that somebody has to look at", job, base.Plural(b.Flags, "flag is open", "flags are open"))
		e.Hint = fmt.Sprintf("close them first: ostraka flag list --job %s, then ostraka flag resolve", job)
		return e
	case b.Folding:
		return soon("its results are being folded again")
	case b.Receipt:
		return soon("its receipt is being made")
	case b.Awaited: // checks and folds of the run read its shards
		e := ErrWaits.With("job %s stays as it is: it is a step of a workflow's run that goes on", job)
		e.Hint = "wait until the run has ended: ostraka workflow runs"
		return e
	case b.Unfolded: // the fold is in the rows that would go
		return soon("the run of a workflow that it is part of has not folded its answer yet")
	case b.Rechecks:
		return soon("the server is about to execute shards of it")
	case b.Settling:
		return soon("its last shards are being settled")
	case b.Unmeasured:
		return soon("what follows from its end is under way")
	default:
		return nil
	}
}

// ArchiveJob has an ended job become an archive. Its results and its receipt are read as before; its shards are in the archive alone once it is
// written. Asking twice is harmless.
func (s *Service) ArchiveJob(ctx context.Context, by functions.Principal, project, job uuid.UUID) (a functions.JobArchive, err error) {
	err = s.env.Project(ctx, project, func(tx *store.Tx) error {
		state, found, err := store.Value[functions.JobState](ctx, tx, store.LockJob, job)
		if err != nil || !found || state == functions.JobDeleting {
			return base.OrNotFound(err, "job", job)
		}
		if !state.Ended() {
			return ErrWaits.With("job %s is %s, and only jobs that have ended become archives", job, state)
		}
		there, found, err := store.Value[functions.JobArchive](ctx, tx, sql.GetArchive, job)
		if err != nil || found && there.State != functions.ArchiveFailed {
			a = there
			return err
		}
		if err := mayArchive(ctx, tx, job); err != nil {
			return err
		}
		facts := guardian.DataFacts{Data: guardian.Data{Type: "job", Name: job.String()}}
		if err := s.env.Ask(ctx, tx, base.Intent{By: by, Project: project, Kind: guardian.DataArchive, Subject: job.String(), Facts: facts}); err != nil {
			return err
		}
		a, err = s.begin(ctx, tx, by.Actor(), project, job)
		return err
	})
	return a, err
}

// Waits says why a job that has ended cannot become an archive yet; nil: nothing keeps it.
func (s *Service) Waits(ctx context.Context, project, job uuid.UUID) error {
	return s.env.Project(ctx, project, func(tx *store.Tx) error { return mayArchive(ctx, tx, job) })
}

func mayArchive(ctx context.Context, tx *store.Tx, job uuid.UUID) error {
	b, _, err := store.One[blockers](ctx, tx, sql.ArchiveBlockers, job)
	if err != nil {
		return err
	}
	return b.wait(job)
}

// begin notes that an ended job, whose row is locked, is to become an archive. It is the last thing that a transaction does.
func (s *Service) begin(ctx context.Context, tx *store.Tx, by string, project, job uuid.UUID) (a functions.JobArchive, err error) {
	begun, err := store.Exec(ctx, tx, sql.AskArchive, job, by)
	if err != nil {
		return a, err
	}
	if a, _, err = store.Value[functions.JobArchive](ctx, tx, sql.GetArchive, job); err != nil || begun == 0 {
		return a, err
	}
	if err := base.Audit(ctx, tx, by, "job.archive", job.String(), nil); err != nil {
		return a, err
	}
	return a, s.env.Enqueue(ctx, tx, stepargs.ArchiveArgs{Project: project, Job: job})
}

// GetArchive returns the archive of a job, as far as it is.
func (s *Service) GetArchive(ctx context.Context, project, job uuid.UUID) (a functions.JobArchive, err error) {
	err = s.env.Project(ctx, project, func(tx *store.Tx) error {
		if err := base.NotDeleted(ctx, tx, job); err != nil {
			return err
		}
		var found bool
		if a, found, err = store.Value[functions.JobArchive](ctx, tx, sql.GetArchive, job); err == nil && !found {
			err = ErrNoArchive.With("job %s has no archive", job)
		}
		return err
	})
	return a, err
}

// ListArchives lists archives, those of the newest jobs first.
func (s *Service) ListArchives(ctx context.Context, project uuid.UUID, page functions.ListPage) (list []functions.JobArchive, err error) {
	var before *uuid.UUID
	if page.After != "" {
		id, err := base.AfterID(page)
		if err != nil {
			return nil, err
		}
		before = &id
	}
	err = s.env.Project(ctx, project, func(tx *store.Tx) error {
		list, err = store.Values[functions.JobArchive](ctx, tx, sql.ListArchives, before, base.PageLimit(page))
		return err
	})
	return list, err
}
