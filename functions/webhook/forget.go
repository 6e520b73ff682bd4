package webhook

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/functions/webhook/sql"
)

const (
	// forgetEvents is how many events of a project one transaction forgets.
	forgetEvents = 1000
	// forgetProjects is how many projects are listed at a time.
	forgetProjects = 500
)

// ForgetWebhookEvents deletes what happened so long ago that it is kept no longer, with its deliveries, in all projects: also where there is
// no webhook any more.
func (s *Service) ForgetWebhookEvents(ctx context.Context) error {
	var failed []error // one project that cannot be written must not keep the others
	for last, n := uuid.Nil, forgetProjects; n == forgetProjects; {
		var projects []uuid.UUID
		err := s.env.Control(ctx, func(tx pgx.Tx) (err error) {
			projects, err = store.Values[uuid.UUID](ctx, tx, store.ProjectIDs, last, forgetProjects)
			return err
		})
		if err != nil {
			return fmt.Errorf("listing projects that forget events: %w", err)
		}
		for _, project := range projects {
			last = project
			if err := s.forget(ctx, project); err != nil {
				failed = append(failed, fmt.Errorf("forgetting old events of project %s: %w", project, err))
			}
		}
		n = len(projects)
	}
	return errors.Join(failed...)
}

func (s *Service) forget(ctx context.Context, project uuid.UUID) error {
	for n := int64(forgetEvents); n == forgetEvents; {
		err := s.env.Project(ctx, project, func(tx *store.Tx) (err error) {
			if err := gate(ctx, tx); err != nil { // their deliveries go with them, which others lock in another order
				return err
			}
			n, err = store.Exec(ctx, tx, sql.ForgetEvents, KeptFor, forgetEvents)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}
