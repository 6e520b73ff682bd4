package functions

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/functions/turns"
	"github.com/ostraka/ostraka/migrations"
	"github.com/ostraka/ostraka/runtime/bundle"
	"github.com/ostraka/ostraka/runtime/monitor/threshold"
)

// CreateProject makes a project with its schema and role, and a first owner's key. The key is shown this once.
func (s *Service) CreateProject(ctx context.Context, by Principal, name string, idem Idempotency) (p Project, ownerKey string, replayed bool, err error) {
	if err := checkName("project", name); err != nil {
		return Project{}, "", false, err
	}
	// The schema is made first: a crash in between leaves an empty schema that nobody knows of, never a project without one.
	id := newID()
	if err := migrations.CreateProject(ctx, s.store.Pool, id); err != nil {
		var newer *migrations.TooNewError
		if errors.As(err, &newer) {
			return Project{}, "", false, ErrServerOutdated
		}
		return Project{}, "", false, translate(fmt.Errorf("creating the project's schema: %w", err), id)
	}
	err = s.control(ctx, func(tx pgx.Tx) error {
		var existing uuid.UUID
		if existing, replayed, err = remember(ctx, tx, uuid.Nil, "create-project", idem, id); err != nil {
			return err
		}
		if replayed {
			p, err = getProject(ctx, tx, existing)
			return err
		}
		if _, err := store.Exec(ctx, tx, store.AddProject, id, name); err != nil {
			return taken(err, "project", name)
		}
		if _, ownerKey, err = addKey(ctx, tx, newKey{role: RoleOwner, project: &id, name: "first owner"}); err != nil {
			return err
		}
		if err := auditServer(ctx, tx, by.Actor(), "project.create", id.String(), map[string]any{"name": name}); err != nil {
			return err
		}
		p, err = getProject(ctx, tx, id)
		return err
	})
	// Only where the transaction has certainly made no project: when the database went away in the middle of the commit, nobody knows.
	var refused *Error
	if replayed || errors.As(err, &refused) && refused.Kind != KindUnavailable {
		s.dropUnused(ctx, id)
	}
	return p, ownerKey, replayed, err
}

// dropUnused removes the schema of a project that was not made after all. What it leaves on failure is empty and harmless.
func (s *Service) dropUnused(ctx context.Context, id uuid.UUID) {
	name := migrations.ProjectSchema(id)
	if _, err := s.store.Pool.Exec(context.WithoutCancel(ctx), "drop schema "+name+" cascade; drop role "+name); err != nil {
		s.log.Warn("dropping the schema of a project that was not made", "project", id, "error", err)
	}
}

// taken turns a unique violation into an error for the caller.
func taken(err error, what, name string) error {
	var pg *pgconn.PgError
	if errors.As(err, &pg) && pg.Code == "23505" {
		return &Error{Kind: KindConflict, Code: "name_taken", Message: fmt.Sprintf("there is a %s %q already", what, name), Hint: "choose another name"}
	}
	return err
}

// getProject reads a project within a transaction.
func getProject(ctx context.Context, tx pgx.Tx, id uuid.UUID) (Project, error) {
	p, found, err := store.One[Project](ctx, tx, store.GetProject, id)
	if err != nil || !found {
		return p, orNotFound(err, "project", id)
	}
	return p, nil
}

// GetProject returns one project.
func (s *Service) GetProject(ctx context.Context, id uuid.UUID) (p Project, err error) {
	err = s.control(ctx, func(tx pgx.Tx) error {
		p, err = getProject(ctx, tx, id)
		return err
	})
	return p, err
}

// ListProjects lists projects in the order of their IDs.
func (s *Service) ListProjects(ctx context.Context, page ListPage) ([]Project, error) {
	return listControl[Project](ctx, s, store.ListProjects, page)
}

// ProjectChange is what is to change about a project. Fields that are nil stay as they are.
type ProjectChange struct {
	FollowupsEnabled *bool
	AgentsOpen       *bool
	MinIsolation     *string
	Monitor          *threshold.Rules // without any threshold: none from now on
	Heuristics       *HeuristicsPolicy
	Weight           *int   // an operator's to say
	RecheckSeconds   *int64 // as well; 0: the server's
}

// UpdateProject changes a project's settings when its revision is still the one that the caller has read.
func (s *Service) UpdateProject(ctx context.Context, by Principal, id uuid.UUID, change ProjectChange, revision int64) (p Project, err error) {
	if change.MinIsolation != nil {
		if _, err := bundle.ParseIsolation(*change.MinIsolation); err != nil {
			return p, Invalid("bad_isolation", err.Error(), "name a level of isolation that there is")
		}
	}
	if err := checkWeight(by, change.Weight); err != nil {
		return p, err
	}
	if err := checkRecheckSeconds(by, change.RecheckSeconds); err != nil {
		return p, err
	}
	var monitor []byte
	if change.Monitor != nil {
		if err := change.Monitor.Check(); err != nil {
			return p, Invalid("bad_thresholds", err.Error(), "correct the threshold that is named")
		}
		if monitor, err = json.Marshal(change.Monitor); err != nil {
			return p, fmt.Errorf("encoding thresholds: %w", err)
		}
	}
	heuristics, err := s.heuristicsCheck(ctx, id, change.Heuristics)
	if err != nil {
		return p, err
	}
	err = s.control(ctx, func(tx pgx.Tx) error {
		if p, err = getProject(ctx, tx, id); err != nil {
			return err
		}
		changed, err := store.Exec(ctx, tx, store.UpdateProject, id, change.FollowupsEnabled, revision, change.AgentsOpen, change.MinIsolation, monitor, heuristics, change.Weight, change.RecheckSeconds)
		if err != nil {
			return err
		}
		if changed == 0 {
			return ErrRevision
		}
		if err := auditServer(ctx, tx, by.Actor(), "project.update", id.String(), map[string]any{
			"followups_enabled": change.FollowupsEnabled, "agents_open": change.AgentsOpen, "min_isolation": change.MinIsolation, "monitor": change.Monitor, "heuristics": change.Heuristics, "weight": change.Weight, "recheck_seconds": change.RecheckSeconds,
		}); err != nil {
			return err
		}
		p, err = getProject(ctx, tx, id)
		return err
	})
	return p, err
}

// expired says whether a time limit has passed.
func expired(at *time.Time) bool { return at != nil && !at.After(time.Now()) }

// MaxRecheckSeconds is the largest budget of a project, in seconds a day: what a thousand servers can do.
const MaxRecheckSeconds = 1000 * 24 * 60 * 60

// checkRecheckSeconds says whether a project's budget may be set so.
func checkRecheckSeconds(by Principal, seconds *int64) error {
	switch {
	case seconds == nil:
		return nil
	case by.Role != RoleOperator:
		return operatorSets("budget of server seconds")
	case *seconds < 0 || *seconds > MaxRecheckSeconds:
		return Invalid("bad_recheck_seconds", fmt.Sprintf("%d seconds a day", *seconds), fmt.Sprintf("choose 1 to %d, or 0 for what the server says", MaxRecheckSeconds))
	default:
		return nil
	}
}

// heuristicsOf is the policy of a project.
func (s *Service) heuristicsOf(ctx context.Context, project uuid.UUID) (HeuristicsPolicy, error) {
	p, err := s.GetProject(ctx, project)
	if err != nil || p.Heuristics == nil {
		return s.heuristics, err
	}
	return *p.Heuristics, nil
}

// operatorSets refuses to change what only an operator may.
func operatorSets(what string) error {
	return &Error{
		Kind: KindForbidden, Code: "operator_sets", Message: "a project's " + what + " is for an operator to set", Hint: "leave it out, or ask an operator",
	}
}

// checkWeight says whether a project's weight may be set so.
func checkWeight(by Principal, weight *int) error {
	switch {
	case weight == nil:
		return nil
	case by.Role != RoleOperator:
		return operatorSets("weight")
	case *weight < turns.MinWeight || *weight > turns.MaxWeight:
		return Invalid("bad_weight", fmt.Sprintf("weight %d", *weight), fmt.Sprintf("choose a weight from %d to %d; %d is usual", turns.MinWeight, turns.MaxWeight, turns.DefaultWeight))
	default:
		return nil
	}
}
