package submit

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/planner"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/functions/submit/sql"
	"github.com/ostraka/ostraka/functions/tenant"
	"github.com/ostraka/ostraka/guardian"
)

// Rule makes follow-up jobs.
type Rule struct {
	Spec      planner.Rule `json:"spec"`
	ID        uuid.UUID    `json:"id"`
	Revision  int64        `json:"revision"`
	CreatedAt time.Time    `json:"created_at"`
	UpdatedAt time.Time    `json:"updated_at"`
}

// MaxRules is how many rules a project has: all of them are evaluated at the end of each job.
const MaxRules = 100

type ruleRow struct {
	ID        uuid.UUID
	Name      string
	Spec      planner.Rule
	Revision  int64
	CreatedAt time.Time
	UpdatedAt time.Time
}

func (r ruleRow) rule() Rule {
	return Rule{ID: r.ID, Spec: r.Spec, Revision: r.Revision, CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt}
}

// CreateRule stores a rule that compiles.
func (s *Service) CreateRule(ctx context.Context, by functions.Principal, project uuid.UUID, spec planner.Rule, idem functions.Idempotency) (r Rule, replayed bool, err error) {
	text, err := checkRule(spec)
	if err != nil {
		return r, false, err
	}
	id := base.NewID()
	err = s.env.Project(ctx, project, func(tx *store.Tx) error {
		// The limit and the name may be taken by the rule that an earlier request with this key made, so the key is looked up first.
		if id, replayed, err = base.RememberInProject(ctx, tx, project, "create-rule", idem, id); err != nil || replayed {
			return err
		}
		if err := s.env.Ask(ctx, tx, ruleIntent(by, project, guardian.ChangedRule{Name: spec.Name}, "create", text)); err != nil {
			return err
		}
		return insertRule(ctx, tx, by, id, spec.Name, text)
	})
	if err != nil {
		return Rule{}, false, err
	}
	r, err = s.GetRule(ctx, project, id)
	return r, replayed, err
}

func insertRule(ctx context.Context, tx *store.Tx, by functions.Principal, id uuid.UUID, name string, text []byte) error {
	if _, err := store.Exec(ctx, tx, sql.LockRules); err != nil {
		return err
	}
	n, _, err := store.Value[int64](ctx, tx, sql.CountRules)
	if err != nil {
		return err
	}
	if n >= MaxRules {
		return &functions.Error{Kind: functions.KindConflict, Code: "too_many_rules", Message: fmt.Sprintf("a project has at most %d rules", MaxRules), Hint: "delete one that is not used"}
	}
	if _, err := store.Exec(ctx, tx, sql.AddRule, id, name, text); err != nil {
		return tenant.NameTaken(err, "rule", name)
	}
	return base.Audit(ctx, tx, by.Actor(), "rule.create", id.String(), map[string]any{"name": name})
}

// ruleIntent is what happens with a rule for follow-ups, in the words of the guardian. spec is the rule as it is to be; nil: it is deleted.
func ruleIntent(by functions.Principal, project uuid.UUID, r guardian.ChangedRule, action string, spec []byte) base.Intent {
	i := base.Intent{By: by, Project: project, Kind: guardian.RuleChange, Subject: r.Name, Facts: guardian.RuleFacts{Rule: r, Action: action}}
	if spec != nil {
		i.Asked = json.RawMessage(spec)
	}
	return i
}

func checkRule(spec planner.Rule) ([]byte, error) {
	if err := functions.CheckName("rule", spec.Name); err != nil {
		return nil, err
	}
	if _, err := planner.Compile(spec); err != nil {
		return nil, &functions.Error{Kind: functions.KindInvalid, Code: "bad_rule", Message: err.Error(), Hint: "docs/follow-ups.md shows what an expression can see", Err: err}
	}
	if err := functions.CheckParams(spec.Then.Params); err != nil {
		return nil, err
	}
	text, err := json.Marshal(spec)
	if err != nil {
		return nil, fmt.Errorf("encoding the rule: %w", err)
	}
	return text, nil
}

// GetRule returns one rule.
func (s *Service) GetRule(ctx context.Context, project, id uuid.UUID) (r Rule, err error) {
	err = s.env.Project(ctx, project, func(tx *store.Tx) error {
		row, found, err := store.One[ruleRow](ctx, tx, sql.GetRule, id)
		if err != nil || !found {
			return base.OrNotFound(err, "rule", id)
		}
		r = row.rule()
		return nil
	})
	return r, err
}

// ListRules lists rules in the order of their IDs.
func (s *Service) ListRules(ctx context.Context, project uuid.UUID, page functions.ListPage) (list []Rule, err error) {
	after, err := base.AfterID(page)
	if err != nil {
		return nil, err
	}
	err = s.env.Project(ctx, project, func(tx *store.Tx) error {
		rows, err := store.Many[ruleRow](ctx, tx, sql.ListRules, after, base.PageLimit(page))
		list = make([]Rule, len(rows))
		for i, row := range rows {
			list[i] = row.rule()
		}
		return err
	})
	return list, err
}

// UpdateRule replaces a rule when its revision is still the one that the caller has read.
func (s *Service) UpdateRule(ctx context.Context, by functions.Principal, project, id uuid.UUID, spec planner.Rule, revision int64) (Rule, error) {
	text, err := checkRule(spec)
	if err != nil {
		return Rule{}, err
	}
	err = s.changeRule(ctx, by, project, id, "rule.update", text, func(tx *store.Tx) (int64, error) {
		n, err := store.Exec(ctx, tx, sql.UpdateRule, id, spec.Name, text, revision)
		return n, tenant.NameTaken(err, "rule", spec.Name)
	})
	if err != nil {
		return Rule{}, err
	}
	return s.GetRule(ctx, project, id)
}

// DeleteRule deletes a rule when its revision is still the one that the caller has read. Jobs that it made stay.
func (s *Service) DeleteRule(ctx context.Context, by functions.Principal, project, id uuid.UUID, revision int64) error {
	return s.changeRule(ctx, by, project, id, "rule.delete", nil, func(tx *store.Tx) (int64, error) {
		return store.Exec(ctx, tx, sql.DeleteRule, id, revision)
	})
}

func (s *Service) changeRule(ctx context.Context, by functions.Principal, project, id uuid.UUID, action string, spec []byte, change func(tx *store.Tx) (int64, error)) error {
	return s.env.Project(ctx, project, func(tx *store.Tx) error {
		row, found, err := store.One[ruleRow](ctx, tx, sql.GetRule, id)
		if err != nil || !found {
			return base.OrNotFound(err, "rule", id)
		}
		about := guardian.ChangedRule{ID: id.String(), Name: row.Name, Version: row.Revision}
		if err := s.env.Ask(ctx, tx, ruleIntent(by, project, about, strings.TrimPrefix(action, "rule."), spec)); err != nil {
			return err
		}
		n, err := change(tx)
		if err != nil {
			return err
		}
		if n == 0 {
			return functions.ErrRevision
		}
		return base.Audit(ctx, tx, by.Actor(), action, id.String(), nil)
	})
}
