package trust

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/functions/trust/sql"
	"github.com/ostraka/ostraka/functions/verify"
)

// Limits of one transaction that lets evidence fade.
const (
	fadeAgents   = 500 // agents
	fadeProjects = 500 // projects that are listed at a time
)

type fadingRow struct {
	trustRow
	AgeSeconds int64
}

// FadeTrust halves the evidence of all projects that is a half-life old. Nothing happens to what is younger, so that running it often, or
// late, comes to the same.
func (s *Service) FadeTrust(ctx context.Context) error {
	var failed []error // one project that cannot be written must not keep the others
	last := uuid.Nil
	for {
		var projects []uuid.UUID
		err := s.env.Control(ctx, func(tx pgx.Tx) (err error) {
			projects, err = store.Values[uuid.UUID](ctx, tx, store.ProjectIDs, last, fadeProjects)
			return err
		})
		if err != nil {
			return fmt.Errorf("listing projects whose evidence fades: %w", err)
		}
		for _, project := range projects {
			last = project
			if err := s.fadeProject(ctx, project); err != nil {
				failed = append(failed, fmt.Errorf("letting the evidence of project %s fade: %w", project, err))
			}
		}
		if len(projects) < fadeProjects {
			return errors.Join(failed...)
		}
	}
}

func (s *Service) fadeProject(ctx context.Context, project uuid.UUID) error {
	for more := true; more; {
		err := s.env.Project(ctx, project, func(tx *store.Tx) error {
			rows, err := store.Many[fadingRow](ctx, tx, sql.FadingTrust, verify.HalfLife, fadeAgents)
			more = len(rows) == fadeAgents
			for _, r := range rows {
				if err := r.fade(ctx, tx); err != nil {
					return err
				}
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// fade writes what is left. How often an agent was audited altogether stays as it is for people to read; what it was excused at moves so
// that the record behind it fades.
func (r fadingRow) fade(ctx context.Context, tx *store.Tx) error {
	halvings := verify.Halvings(time.Duration(r.AgeSeconds) * time.Second)
	e, audited := r.evidence(false).Fade(halvings), r.evidence(true).Fade(halvings)
	_, err := store.Exec(ctx, tx, sql.FadeTrust, r.AgentID, e.Passed, e.Failed, e.SinceFailure,
		e.Passed-e.Record, r.AuditsPassed-audited.Record, time.Duration(halvings)*verify.HalfLife, min(halvings, 62))
	return err
}
