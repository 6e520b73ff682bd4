package schedule

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/schedule/sql"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/functions/submit"
	"github.com/ostraka/ostraka/guardian"
)

// RunSchedule submits the job of a schedule now, paused or not and whatever else of it runs. The times of the schedule stay as they are.
func (s *Service) RunSchedule(ctx context.Context, by functions.Principal, project, id uuid.UUID, idem functions.Idempotency) (job functions.Job, replayed bool, err error) {
	d, err := s.GetSchedule(ctx, project, id)
	if err != nil {
		return job, false, err
	}
	if use := d.Spec.Workflow; use != nil {
		return job, false, &functions.Error{
			Kind: functions.KindConflict, Code: "schedule_starts_workflow", Message: fmt.Sprintf("the schedule %s starts runs of the workflow %s, and submits no job", d.Spec.Name, use.Name),
			Hint: "start one: ostraka workflow start " + use.Name,
		}
	}
	prepared, err := s.submit.Prepare(ctx, project, d.Spec.Job)
	if err != nil {
		return job, false, err
	}
	made := prepared.ID()
	err = s.env.Project(ctx, project, func(tx *store.Tx) error {
		if made, replayed, err = base.RememberInProject(ctx, tx, project, "run-schedule", idem, prepared.ID()); err != nil || replayed {
			return err
		}
		r, err := lock(ctx, tx, id)
		if err != nil {
			return err
		}
		if _, err := store.Exec(ctx, tx, sql.AddFiring, id, r.Now, Submitted, true, prepared.ID(), nil, ""); err != nil {
			return err
		}
		if _, err := store.Exec(ctx, tx, sql.ForgetFirings, id, KeptFirings-1); err != nil {
			return err
		}
		if err := s.submit.Make(ctx, tx, base.Intent{By: by, Project: project, Kind: guardian.JobSubmit}, prepared, submit.Submitter{Actor: by.Actor(), WantedBy: by.Actor()}); err != nil {
			return err
		}
		server, err := tx.AsServer(ctx)
		if err != nil {
			return err
		}
		return s.submit.Open(ctx, server, project, prepared)
	})
	if err != nil {
		return job, false, fmt.Errorf("running schedule %s: %w", id, err)
	}
	job, err = s.jobs.GetJob(ctx, project, made)
	return job, replayed, err
}
