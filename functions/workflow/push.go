package workflow

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/functions/workflow/graph"
	"github.com/ostraka/ostraka/functions/workflow/sql"
	"github.com/ostraka/ostraka/guardian"
)

// PushWorkflow makes a version of a workflow, in one transaction, out of its definition and of what was pushed before. What is the newest
// version already makes none, with created false; its rules are as it has them then.
func (s *Service) PushWorkflow(ctx context.Context, by functions.Principal, project uuid.UUID, push Push) (w Workflow, created bool, err error) {
	d, err := graph.Parse([]byte(push.Text))
	if err != nil {
		return w, false, badWorkflow(err)
	}
	if err := checkPins(d, push.Functions); err != nil {
		return w, false, err
	}
	parts, err := s.pin(ctx, project, d, push)
	if err != nil {
		return w, false, err
	}
	err = s.env.Project(ctx, project, func(tx *store.Tx) error {
		created, err = s.push(ctx, tx, by, project, d, push, parts)
		return err
	})
	if err != nil {
		return w, false, fmt.Errorf("pushing the workflow %s: %w", d.Name, err)
	}
	w, err = s.GetWorkflow(ctx, project, d.Name, 0)
	return w, created, err
}

// checkPins wants a version for each function of the definition, and none besides.
func checkPins(d *graph.Definition, pins []Pin) error {
	given := map[string]bool{}
	for _, p := range pins {
		if _, known := d.Functions[p.Name]; !known || given[p.Name] {
			return functions.Invalid("bad_workflow", fmt.Sprintf("functions: %.63q is no function of the workflow, or is given twice", p.Name), pushHint)
		}
		if p.Version < 1 {
			return functions.Invalid("bad_workflow", fmt.Sprintf("functions: %s has no version", p.Name), pushHint)
		}
		given[p.Name] = true
	}
	for _, name := range slices.Sorted(maps.Keys(d.Functions)) {
		if !given[name] {
			return functions.Invalid("bad_workflow", fmt.Sprintf("functions: there is no version of %s", name), pushHint)
		}
	}
	return nil
}

func (s *Service) push(ctx context.Context, tx *store.Tx, by functions.Principal, project uuid.UUID, d *graph.Definition, push Push, parts *pinnedParts) (created bool, err error) {
	encoded, err := parts.encoded()
	if err != nil {
		return false, err
	}
	sum := sha256.Sum256(graph.Digest([]byte(push.Text), encoded...))
	digest := hex.EncodeToString(sum[:])
	if _, err := store.Exec(ctx, tx, sql.LockWorkflows); err != nil {
		return false, err
	}
	was, found, err := store.One[workflowRow](ctx, tx, sql.GetWorkflow, d.Name, 0)
	if err != nil {
		return false, err
	}
	if found && was.Digest == digest { // its rules and schedules may have been changed by themselves
		if err := s.submit.SyncRules(ctx, tx, by, project, was.ID, parts.rules(d)); err != nil {
			return false, err
		}
		return false, s.schedules(ctx, tx, by, project, was.ID, d.Name, d.Schedules, push.Paused)
	}
	if !found {
		if err := within(ctx, tx, sql.CountWorkflows, MaxWorkflows, "too_many_workflows", "a project has at most %d workflows", "delete one that is not used: ostraka workflow delete NAME"); err != nil {
			return false, err
		}
		was = workflowRow{ID: base.NewID()}
	}
	facts := guardian.WorkflowFacts{Workflow: factsOf(d, was.Newest+1, digest, parts.functions)}
	if err := s.env.Ask(ctx, tx, base.Intent{By: by, Project: project, Kind: guardian.WorkflowPublish, Subject: d.Name, Facts: facts}); err != nil {
		return false, err
	}
	if !found {
		_, err = store.Exec(ctx, tx, sql.AddWorkflow, was.ID, d.Name, by.Actor())
	} else {
		_, err = store.Exec(ctx, tx, sql.SetNewest, was.ID, was.Newest+1)
	}
	if err != nil {
		return false, err
	}
	if _, err := store.Exec(ctx, tx, sql.AddVersion, was.ID, was.Newest+1, digest, push.Text, encoded[0], by.Actor(), encoded[1], encoded[2]); err != nil {
		return false, err
	}
	if err := s.submit.SyncRules(ctx, tx, by, project, was.ID, parts.rules(d)); err != nil {
		return false, err
	}
	if _, err := store.Exec(ctx, tx, sql.ForgetVersions, was.ID, KeptVersions); err != nil {
		return false, err
	}
	if err := base.Audit(ctx, tx, by.Actor(), "workflow.push", d.Name, map[string]any{"version": was.Newest + 1, "digest": digest}); err != nil {
		return false, err
	}
	return true, s.schedules(ctx, tx, by, project, was.ID, d.Name, d.Schedules, push.Paused)
}

func factsOf(d *graph.Definition, version int, digest string, list []PinnedFunction) guardian.Workflow {
	facts := guardian.Workflow{Name: d.Name, Version: int64(version), Digest: digest, Steps: int64(len(d.Steps)), Functions: []string{}}
	for _, f := range list {
		facts.Functions = append(facts.Functions, f.Function)
	}
	return facts
}

// within refuses one more of what there are as many of as there may be.
func within(ctx context.Context, tx *store.Tx, count store.Query, most int64, code, message, hint string) error {
	n, _, err := store.Value[int64](ctx, tx, count)
	if err != nil || n < most {
		return err
	}
	return &functions.Error{Kind: functions.KindConflict, Code: code, Message: fmt.Sprintf(message, most), Hint: hint}
}
