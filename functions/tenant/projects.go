package tenant

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/functions/tenant/sql"
	"github.com/ostraka/ostraka/functions/turns"
	"github.com/ostraka/ostraka/guardian"
	"github.com/ostraka/ostraka/migrations"
	"github.com/ostraka/ostraka/runtime/bundle"
	"github.com/ostraka/ostraka/runtime/monitor/threshold"
)

// CreateProject makes a project with its schema and role, and a first owner's key. The key is shown this once.
func (s *Service) CreateProject(ctx context.Context, by functions.Principal, name string, idem functions.Idempotency) (p functions.Project, ownerKey string, replayed bool, err error) {
	if err := functions.CheckName("project", name); err != nil {
		return functions.Project{}, "", false, err
	}
	// The schema is made first: a crash in between leaves an empty schema that nothing refers to, never a project without one.
	id := base.NewID()
	if err := migrations.CreateProject(ctx, s.env.Store.Pool, id); err != nil {
		var newer *migrations.TooNewError
		if errors.As(err, &newer) {
			return functions.Project{}, "", false, functions.ErrServerOutdated
		}
		return functions.Project{}, "", false, base.Translate(fmt.Errorf("creating the project's schema: %w", err), id)
	}
	err = s.env.Control(ctx, func(tx pgx.Tx) error {
		var existing uuid.UUID
		if existing, replayed, err = base.Remember(ctx, tx, uuid.Nil, "create-project", idem, id); err != nil {
			return err
		}
		if replayed {
			p, err = GetProject(ctx, tx, existing)
			return err
		}
		facts := guardian.SettingFacts{Setting: guardian.Setting{Name: "project"}}
		if err := s.env.AskControl(ctx, tx, base.Intent{By: by, Kind: guardian.ProjectCreate, Subject: name, Facts: facts}); err != nil {
			return err
		}
		if _, err := store.Exec(ctx, tx, sql.AddProject, id, name); err != nil {
			return NameTaken(err, "project", name)
		}
		if _, ownerKey, err = AddKey(ctx, tx, NewKey{Role: functions.RoleOwner, project: &id, Name: "first owner"}); err != nil {
			return err
		}
		if err := base.AuditServer(ctx, tx, by.Actor(), "project.create", id.String(), map[string]any{"name": name}); err != nil {
			return err
		}
		p, err = GetProject(ctx, tx, id)
		return err
	})
	// Only where the transaction has certainly made no project: when the database went away in the middle of the commit, it is not known.
	var refused *functions.Error
	if replayed || errors.As(err, &refused) && refused.Kind != functions.KindUnavailable {
		s.dropUnused(ctx, id)
	}
	return p, ownerKey, replayed, err
}

// dropUnused removes the schema of a project that was not made after all. What it leaves on failure is empty and harmless.
func (s *Service) dropUnused(ctx context.Context, id uuid.UUID) {
	name := migrations.ProjectSchema(id)
	if _, err := s.env.Store.Pool.Exec(context.WithoutCancel(ctx), "drop schema "+name+" cascade; drop role "+name); err != nil {
		s.env.Log.Warn("dropping the schema of a project that was not made", "project", id, "error", err)
	}
}

// NameTaken turns a unique violation into an error for the caller.
func NameTaken(err error, what, name string) error {
	var pg *pgconn.PgError
	if errors.As(err, &pg) && pg.Code == "23505" {
		return &functions.Error{Kind: functions.KindConflict, Code: "name_taken", Message: fmt.Sprintf("there is a %s %q already", what, name), Hint: "choose another name"}
	}
	return err
}

// GetProject reads a project within a transaction.
func GetProject(ctx context.Context, tx pgx.Tx, id uuid.UUID) (functions.Project, error) {
	p, found, err := store.One[functions.Project](ctx, tx, sql.GetProject, id)
	if err != nil || !found {
		return p, base.OrNotFound(err, "project", id)
	}
	return p, nil
}

// GetProject returns one project.
func (s *Service) GetProject(ctx context.Context, id uuid.UUID) (p functions.Project, err error) {
	err = s.env.Control(ctx, func(tx pgx.Tx) error {
		p, err = GetProject(ctx, tx, id)
		return err
	})
	return p, err
}

// ListProjects lists projects in the order of their IDs.
func (s *Service) ListProjects(ctx context.Context, page functions.ListPage) ([]functions.Project, error) {
	return base.ListControl[functions.Project](ctx, s.env, sql.ListProjects, page)
}

// ProjectChange is what is to change about a project. Fields that are nil stay as they are.
type ProjectChange struct {
	FollowupsEnabled *bool                       `json:"followups_enabled,omitempty"`
	AgentsOpen       *bool                       `json:"agents_open,omitempty"`
	MinIsolation     *string                     `json:"min_isolation,omitempty"`
	Monitor          *threshold.Rules            `json:"monitor,omitempty"` // without any threshold: none from now on
	Heuristics       *functions.HeuristicsPolicy `json:"heuristics,omitempty"`
	Weight           *int                        `json:"weight,omitempty"`            // an operator's to say
	RecheckSeconds   *int64                      `json:"recheck_seconds,omitempty"`   // as well; 0: the server's
	ArchiveJobsDays  *int                        `json:"archive_jobs_days,omitempty"` // 0: never; -1: what the server says
	AuditDays        *int                        `json:"audit_days,omitempty"`        // 0: records keep their content until somebody prunes them; -1: what the server says
	KeepJobsDays     *int                        `json:"keep_jobs_days,omitempty"`    // 0: ended jobs are kept until somebody deletes them
}

// fields are the names of what is to change.
func (c ProjectChange) fields() (names []string) {
	for _, f := range []struct {
		name  string
		given bool
	}{
		{"followups_enabled", c.FollowupsEnabled != nil},
		{"agents_open", c.AgentsOpen != nil},
		{"min_isolation", c.MinIsolation != nil},
		{"monitor", c.Monitor != nil},
		{"heuristics", c.Heuristics != nil},
		{"weight", c.Weight != nil},
		{"recheck_seconds", c.RecheckSeconds != nil},
		{"keep_jobs_days", c.KeepJobsDays != nil},
		{"archive_jobs_days", c.ArchiveJobsDays != nil},
		{"audit_days", c.AuditDays != nil},
	} {
		if f.given {
			names = append(names, f.name)
		}
	}
	return names
}

// settingIntent is a change of a project's settings in the words of the guardian. values are what they become.
func settingIntent(by functions.Principal, project uuid.UUID, name string, changed []string, values any) base.Intent {
	facts := guardian.SettingFacts{Setting: guardian.Setting{Name: name, Changed: changed}}
	return base.Intent{By: by, Project: project, Kind: guardian.SettingChange, Subject: name, Facts: facts, Asked: values}
}

// UpdateProject changes a project's settings when its revision is still the one that the caller has read.
func (s *Service) UpdateProject(ctx context.Context, by functions.Principal, id uuid.UUID, change ProjectChange, revision int64) (p functions.Project, err error) {
	if change.MinIsolation != nil {
		if _, err := bundle.ParseIsolation(*change.MinIsolation); err != nil {
			return p, functions.Invalid("bad_isolation", err.Error(), "name a level of isolation that there is")
		}
	}
	if err := checkWeight(by, change.Weight); err != nil {
		return p, err
	}
	if err := checkRecheckSeconds(by, change.RecheckSeconds); err != nil {
		return p, err
	}
	if err := checkKeepJobsDays(change.KeepJobsDays); err != nil {
		return p, err
	}
	if err := checkArchiveJobsDays(change.ArchiveJobsDays); err != nil {
		return p, err
	}
	if err := checkAuditDays(change.AuditDays); err != nil {
		return p, err
	}
	var monitor []byte
	if change.Monitor != nil {
		if err := change.Monitor.Check(); err != nil {
			return p, functions.Invalid("bad_thresholds", err.Error(), "correct the threshold that is named")
		}
		if monitor, err = json.Marshal(change.Monitor); err != nil {
			return p, fmt.Errorf("encoding thresholds: %w", err)
		}
	}
	heuristics, err := s.heuristicsCheck(ctx, id, change.Heuristics)
	if err != nil {
		return p, err
	}
	err = s.env.DoControl(ctx, settingIntent(by, id, "project", change.fields(), change), func(tx pgx.Tx) error {
		if p, err = GetProject(ctx, tx, id); err != nil {
			return err
		}
		if err := s.askPruning(ctx, tx, by, id, change.AuditDays); err != nil {
			return err
		}
		changed, err := store.Exec(ctx, tx, sql.UpdateProject, id, change.FollowupsEnabled, revision, change.AgentsOpen, change.MinIsolation, monitor, heuristics, change.Weight, change.RecheckSeconds, change.KeepJobsDays, change.ArchiveJobsDays, change.AuditDays)
		if err != nil {
			return err
		}
		if changed == 0 {
			return functions.ErrRevision
		}
		if err := base.AuditServer(ctx, tx, by.Actor(), "project.update", id.String(), map[string]any{
			"followups_enabled": change.FollowupsEnabled, "agents_open": change.AgentsOpen, "min_isolation": change.MinIsolation, "monitor": change.Monitor, "heuristics": change.Heuristics, "weight": change.Weight, "recheck_seconds": change.RecheckSeconds,
			"keep_jobs_days": change.KeepJobsDays, "archive_jobs_days": change.ArchiveJobsDays, "audit_days": change.AuditDays,
		}); err != nil {
			return err
		}
		p, err = GetProject(ctx, tx, id)
		return err
	})
	return p, err
}

// MaxKeepJobsDays is for how many days a project may keep ended jobs where it does not keep them until somebody deletes them: a century.
const MaxKeepJobsDays = 36_500

func checkKeepJobsDays(days *int) error {
	if days != nil && (*days < 0 || *days > MaxKeepJobsDays) {
		return functions.Invalid("bad_keep_jobs", fmt.Sprintf("%d days", *days), fmt.Sprintf("choose 1 to %d days, or 0 to keep ended jobs until somebody deletes them", MaxKeepJobsDays))
	}
	return nil
}

// checkArchiveJobsDays says whether a project's jobs may become archives after so many days; -1 is the server's number.
func checkArchiveJobsDays(days *int) error {
	if days != nil && (*days < -1 || *days > MaxKeepJobsDays) {
		return functions.Invalid("bad_archive_jobs", fmt.Sprintf("%d days", *days), fmt.Sprintf("choose 1 to %d days, 0 to have no job become an archive by itself, or -1 for what the server says", MaxKeepJobsDays))
	}
	return nil
}

// checkAuditDays says whether a project's log may keep the content of records for so many days; -1 is the server's number.
func checkAuditDays(days *int) error {
	if days != nil && (*days < -1 || *days > MaxKeepJobsDays) {
		return functions.Invalid("bad_audit_days", fmt.Sprintf("%d days", *days), fmt.Sprintf("choose 1 to %d days, 0 to keep what records say until somebody prunes them, or -1 for what the server says", MaxKeepJobsDays))
	}
	return nil
}

// askPruning asks the guardian about what a change of a project's audit_days has pruned from then on, in the words of pruning by hand: a rule about
// that is not gone around by waiting for the server. The day is a whole one, so that a yes is for the same when it is asked for again.
func (s *Service) askPruning(ctx context.Context, tx pgx.Tx, by functions.Principal, project uuid.UUID, given *int) error {
	if given == nil {
		return nil
	}
	days := *given
	if days < 0 {
		days = s.auditDays
	}
	if days == 0 {
		return nil
	}
	before := base.PruneBefore(s.env.Now(), days)
	return s.env.AskControl(ctx, tx, base.Intent{
		By: by, Project: project, Kind: guardian.AuditPrune, Subject: project.String(),
		Facts: guardian.DataFacts{Data: guardian.Data{Type: "audit", Before: before}}, Asked: map[string]int{"audit_days": *given},
	})
}

// MaxRecheckSeconds is the largest budget of a project, in seconds a day: what a thousand servers can do.
const MaxRecheckSeconds = 1000 * 24 * 60 * 60

// checkRecheckSeconds says whether a project's budget may be set so.
func checkRecheckSeconds(by functions.Principal, seconds *int64) error {
	switch {
	case seconds == nil:
		return nil
	case by.Role != functions.RoleOperator:
		return operatorSets("budget of server seconds")
	case *seconds < 0 || *seconds > MaxRecheckSeconds:
		return functions.Invalid("bad_recheck_seconds", fmt.Sprintf("%d seconds a day", *seconds), fmt.Sprintf("choose 1 to %d, or 0 for what the server says", MaxRecheckSeconds))
	default:
		return nil
	}
}

// HeuristicsOf is the policy of a project.
func (s *Service) HeuristicsOf(ctx context.Context, project uuid.UUID) (functions.HeuristicsPolicy, error) {
	p, err := s.GetProject(ctx, project)
	if err != nil || p.Heuristics == nil {
		return s.heuristics, err
	}
	return *p.Heuristics, nil
}

// operatorSets refuses to change what only an operator may.
func operatorSets(what string) error {
	return &functions.Error{
		Kind: functions.KindForbidden, Code: "operator_sets", Message: "a project's " + what + " is for an operator to set", Hint: "leave it out, or ask an operator",
	}
}

// checkWeight says whether a project's weight may be set so.
func checkWeight(by functions.Principal, weight *int) error {
	switch {
	case weight == nil:
		return nil
	case by.Role != functions.RoleOperator:
		return operatorSets("weight")
	case *weight < turns.MinWeight || *weight > turns.MaxWeight:
		return functions.Invalid("bad_weight", fmt.Sprintf("weight %d", *weight), fmt.Sprintf("choose a weight from %d to %d; %d is usual", turns.MinWeight, turns.MaxWeight, turns.DefaultWeight))
	default:
		return nil
	}
}
