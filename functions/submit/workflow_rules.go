package submit

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/planner"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/functions/submit/sql"
	"github.com/ostraka/ostraka/functions/tenant"
	"github.com/ostraka/ostraka/guardian"
)

// SyncRules has a workflow have these rules, and no others: in the transaction that makes a version of it. Rules that are as they shall be
// stay untouched.
func (s *Service) SyncRules(ctx context.Context, tx *store.Tx, by functions.Principal, project, workflow uuid.UUID, specs []planner.Rule) error {
	if _, err := store.Exec(ctx, tx, sql.LockRules); err != nil {
		return err
	}
	rows, err := store.Many[ruleRow](ctx, tx, sql.RulesOfWorkflow, workflow)
	if err != nil {
		return err
	}
	old := map[string]ruleRow{}
	for _, r := range rows {
		old[r.Name] = r
	}
	for _, spec := range specs {
		row, known := old[spec.Name]
		delete(old, spec.Name)
		if err := s.syncRule(ctx, tx, by, project, workflow, spec, row, known); err != nil {
			return fmt.Errorf("rule %s: %w", spec.Name, err)
		}
	}
	for _, row := range rows {
		if _, left := old[row.Name]; !left {
			continue
		}
		about := guardian.ChangedRule{ID: row.ID.String(), Name: row.Name, Version: row.Revision}
		if err := s.env.Ask(ctx, tx, ruleIntent(by, project, about, "delete", nil)); err != nil {
			return err
		}
		if _, err := store.Exec(ctx, tx, sql.DeleteRule, row.ID, row.Revision); err != nil {
			return err
		}
		if err := base.Audit(ctx, tx, by.Actor(), "rule.delete", row.ID.String(), nil); err != nil {
			return err
		}
	}
	return nil
}

// syncRule makes one rule, or changes the one that there is.
func (s *Service) syncRule(ctx context.Context, tx *store.Tx, by functions.Principal, project, workflow uuid.UUID, spec planner.Rule, row ruleRow, known bool) error {
	text, err := checkRule(spec)
	if err != nil {
		return err
	}
	if known {
		if was, err := checkRule(row.Spec); err == nil && string(was) == string(text) {
			return nil
		}
		about := guardian.ChangedRule{ID: row.ID.String(), Name: row.Name, Version: row.Revision}
		if err := s.env.Ask(ctx, tx, ruleIntent(by, project, about, "update", text)); err != nil {
			return err
		}
		if _, err := store.Exec(ctx, tx, sql.UpdateRule, row.ID, spec.Name, text, row.Revision); err != nil {
			return tenant.NameTaken(err, "rule", spec.Name)
		}
		return base.Audit(ctx, tx, by.Actor(), "rule.update", row.ID.String(), nil)
	}
	if err := s.env.Ask(ctx, tx, ruleIntent(by, project, guardian.ChangedRule{Name: spec.Name}, "create", text)); err != nil {
		return err
	}
	id := base.NewID()
	if err := insertRule(ctx, tx, by, id, spec.Name, text); err != nil {
		return err
	}
	_, err = store.Exec(ctx, tx, sql.OwnRule, id, workflow)
	return err
}
