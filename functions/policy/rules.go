package policy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/policy/sql"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/guardian"
)

// GuardianRule is a rule of the guardian as it stands, or as it stood.
type GuardianRule struct {
	guardian.Rule
	Deleted   bool      `json:"deleted,omitempty" doc:"This version says that the rule was deleted."`
	CreatedBy string    `json:"created_by,omitempty"`
	CreatedAt time.Time `json:"created_at,omitzero"`
}

type ruleRow struct {
	Name      string
	Version   int64
	Spec      *guardian.Rule
	CreatedBy string
	CreatedAt time.Time
}

// rule is the row as a rule of its layer.
func (r ruleRow) rule(layer guardian.Layer) guardian.Rule {
	var rule guardian.Rule
	if r.Spec != nil {
		rule = *r.Spec
	}
	rule.ID, rule.Name, rule.Version, rule.Layer = r.Name, r.Name, r.Version, layer
	return rule
}

func (r ruleRow) shown(layer guardian.Layer) GuardianRule {
	return GuardianRule{Rule: r.rule(layer), Deleted: r.Spec == nil, CreatedBy: r.CreatedBy, CreatedAt: r.CreatedAt}
}

// layerName is the layer whose rules are kept in a project, or for the installation.
func layerName(project uuid.UUID) guardian.Layer {
	if project == uuid.Nil {
		return guardian.OperatorLayer
	}
	return guardian.ProjectLayer
}

// ListGuardianRules lists the rules that decide in a project, by layer and name: those that ship with the program, the operators' and the
// project's own. For the nil project: the first two.
func (s *Service) ListGuardianRules(ctx context.Context, project uuid.UUID) (list []GuardianRule, err error) {
	for _, c := range s.builtin {
		list = append(list, GuardianRule{Rule: c.Rule()})
	}
	layers := []uuid.UUID{uuid.Nil}
	if project != uuid.Nil {
		layers = append(layers, project)
	}
	for _, l := range layers {
		err := s.place(ctx, l, func(tx *store.Tx) error {
			rows, err := store.Many[ruleRow](ctx, tx, sql.CurrentRules)
			for _, r := range rows {
				list = append(list, r.shown(layerName(l)))
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return list, nil
}

// GetGuardianRule returns a rule of the project, or of the operators, with its former versions, the newest first.
func (s *Service) GetGuardianRule(ctx context.Context, project uuid.UUID, name string) (versions []GuardianRule, err error) {
	err = s.place(ctx, project, func(tx *store.Tx) error {
		rows, err := store.Many[ruleRow](ctx, tx, sql.RuleVersions, name, MaxRuleVersions)
		if err == nil && len(rows) == 0 {
			return functions.NotFound("guardian rule", name)
		}
		for _, r := range rows {
			versions = append(versions, r.shown(layerName(project)))
		}
		return err
	})
	return versions, err
}

// MaxRuleVersions is how many versions of a rule are shown.
const MaxRuleVersions = 100

// SetGuardianRule makes a rule, or replaces the version of it that the caller has read; version 0 says that there is none.
func (s *Service) SetGuardianRule(ctx context.Context, by functions.Principal, project uuid.UUID, rule guardian.Rule, version int64) (GuardianRule, error) {
	rule.Layer, rule.Version, rule.ID = layerName(project), version+1, rule.Name
	if _, err := guardian.Compile(rule); err != nil {
		return GuardianRule{}, badRule(err)
	}
	for _, kind := range rule.On {
		if protects(guardian.Operation{Kind: kind}) && rule.Then != guardian.Allow {
			return GuardianRule{}, badRule(fmt.Errorf("on: %s protects, and what protects is never refused (leave it out)", kind))
		}
	}
	spec, err := json.Marshal(rule)
	if err != nil {
		return GuardianRule{}, fmt.Errorf("encoding the rule: %w", err)
	}
	action := "replace"
	if version == 0 {
		action = "create"
	}
	return s.changeRule(ctx, by, project, rule, version, action, spec)
}

// DeleteGuardianRule takes a rule away, in the version that the caller has read. Its versions are kept, since decisions name them.
func (s *Service) DeleteGuardianRule(ctx context.Context, by functions.Principal, project uuid.UUID, name string, version int64) error {
	_, err := s.changeRule(ctx, by, project, guardian.Rule{Name: name, Version: version + 1}, version, "delete", nil)
	return err
}

func (s *Service) changeRule(ctx context.Context, by functions.Principal, project uuid.UUID, rule guardian.Rule, version int64, action string, spec []byte) (changed GuardianRule, err error) {
	facts := guardian.RuleFacts{Action: action, Rule: guardian.ChangedRule{ID: rule.Name, Name: rule.Name, Version: version + 1, Layer: string(layerName(project)), Then: string(rule.Then)}}
	intent := base.Intent{By: by, Project: project, Kind: guardian.GuardRuleChange, Subject: rule.Name, Facts: facts}
	if spec != nil {
		intent.Asked = json.RawMessage(spec)
	}
	err = s.place(ctx, project, func(tx *store.Tx) error {
		if _, err := store.Exec(ctx, tx, sql.LockPolicy); err != nil { // one change at a time: the limit and the versions hold
			return err
		}
		row, found, err := store.One[ruleRow](ctx, tx, sql.LockRule, rule.Name)
		if err != nil {
			return err
		}
		if exists := found && row.Spec != nil; !exists && version > 0 || exists && row.Version != version {
			return ruleRevision(exists, rule.Name, version)
		}
		if err := s.env.Ask(ctx, tx, intent); err != nil {
			return err
		}
		if err := s.room(ctx, tx, found && row.Spec != nil || spec == nil); err != nil {
			return err
		}
		if _, err := store.Exec(ctx, tx, sql.RetireRule, rule.Name); err != nil {
			return err
		}
		next, _, err := store.One[ruleRow](ctx, tx, sql.AddGuardianRule, rule.Name, row.Version+1, spec, by.Actor())
		if err != nil {
			return err
		}
		changed = next.shown(layerName(project))
		return touch(ctx, tx)
	})
	return changed, err
}

// ruleRevision says that a rule is not what the caller takes it for.
func ruleRevision(exists bool, name string, version int64) error {
	if !exists {
		return functions.NotFound("guardian rule", name)
	}
	if version == 0 {
		return &functions.Error{Kind: functions.KindConflict, Code: "name_taken", Message: fmt.Sprintf("there is a guardian rule %q already", name), Hint: "replace it, or choose another name"}
	}
	return functions.ErrRevision
}

// room refuses one rule more than a layer has.
func (s *Service) room(ctx context.Context, tx *store.Tx, replaces bool) error {
	if replaces {
		return nil
	}
	n, _, err := store.Value[int](ctx, tx, sql.CountGuardianRules)
	if err == nil && n >= guardian.MaxRules {
		return &functions.Error{Kind: functions.KindConflict, Code: "too_many_rules", Message: fmt.Sprintf("there are %d guardian rules, and all of them are looked at for each operation", n), Hint: "delete one, or put some together"}
	}
	return err
}

// touch makes a new version of the layer: what was compiled of the one before decides nothing any more.
func touch(ctx context.Context, tx *store.Tx) error {
	_, err := store.Exec(ctx, tx, sql.TouchPolicy)
	return err
}

func badRule(err error) error {
	var wrong *guardian.RuleError
	if errors.As(err, &wrong) {
		return &functions.Error{Kind: functions.KindInvalid, Code: "bad_guardian_rule", Message: err.Error(), Hint: wrong.Hint, Err: err}
	}
	return &functions.Error{Kind: functions.KindInvalid, Code: "bad_guardian_rule", Message: err.Error(), Hint: "docs/guardian.md shows what a rule can say", Err: err}
}

// RuleTest is what a rule would have decided differently.
type RuleTest struct {
	Decisions   int                `json:"decisions" doc:"How many of the newest decisions were looked at."`
	Differences []DecidedOtherwise `json:"differences"`
}

// DecidedOtherwise is one decision that would have been another.
type DecidedOtherwise struct {
	Seq       int64            `json:"seq" doc:"Of the record in the audit log."`
	At        time.Time        `json:"at"`
	Operation string           `json:"operation"`
	Subject   string           `json:"subject"`
	Actor     string           `json:"actor"`
	Before    guardian.Verdict `json:"before" enum:"allow,ask,deny"`
	After     guardian.Verdict `json:"after" enum:"allow,ask,deny"`
	Reason    string           `json:"reason"`
}

// MaxTested is how many decisions a rule is tested against: the newest.
const MaxTested = 1000

type decisionRow struct {
	Seq       int64
	At        time.Time
	Actor     string
	Subject   string
	Operation json.RawMessage
}

// TestGuardianRule says what would have been decided differently of the newest decisions, had there been the rule as well, or in place of the
// one of its name. Exceptions count as they are now.
func (s *Service) TestGuardianRule(ctx context.Context, project uuid.UUID, rule guardian.Rule) (t RuleTest, err error) {
	rule.Layer, rule.ID = layerName(project), rule.Name
	compiled, err := guardian.Compile(rule)
	if err != nil {
		return t, badRule(err)
	}
	var rows []decisionRow
	var by inForce
	err = s.place(ctx, project, func(tx *store.Tx) error {
		if rows, err = store.Many[decisionRow](ctx, tx, newest(project), MaxTested); err != nil {
			return err
		}
		by, err = s.read(ctx, tx, project)
		return err
	})
	if err != nil {
		return t, err
	}
	return s.compare(ctx, project, by, with(by, compiled), rows)
}

func newest(project uuid.UUID) store.Query {
	if project == uuid.Nil {
		return sql.NewestServerDecisions
	}
	return sql.NewestDecisions
}

// with are the layers with one more rule, or with one replaced.
func with(by inForce, c *guardian.Compiled) inForce {
	changed := func(l *layer) *layer {
		other := *l
		other.rules = []*guardian.Compiled{c}
		for _, known := range l.rules {
			if known.Rule().Name != c.Rule().Name {
				other.rules = append(other.rules, known)
			}
		}
		return &other
	}
	if c.Rule().Layer == guardian.OperatorLayer {
		return inForce{operator: changed(by.operator), project: by.project}
	}
	return inForce{operator: by.operator, project: changed(by.project)}
}

func (s *Service) compare(ctx context.Context, project uuid.UUID, before, after inForce, rows []decisionRow) (t RuleTest, err error) {
	t.Differences = []DecidedOtherwise{}
	for _, r := range rows {
		var op guardian.Operation
		if json.Unmarshal(r.Operation, &op) != nil {
			continue // of a version of this program that knew other operations
		}
		if project != uuid.Nil {
			op.Project = project.String()
		}
		a, err := s.wouldDecide(ctx, before, op)
		if err != nil {
			return t, err
		}
		b, err := s.wouldDecide(ctx, after, op)
		if err != nil {
			return t, err
		}
		t.Decisions++
		if a.Verdict != b.Verdict {
			t.Differences = append(t.Differences, DecidedOtherwise{
				Seq: r.Seq, At: r.At, Operation: string(op.Kind), Subject: r.Subject, Actor: r.Actor, Before: a.Verdict, After: b.Verdict, Reason: b.Reason,
			})
		}
	}
	return t, nil
}

func (s *Service) wouldDecide(ctx context.Context, by inForce, op guardian.Operation) (guardian.Decision, error) {
	p, err := s.policyFor(by, op)
	if err != nil {
		return guardian.Decision{}, err
	}
	j := judged{op: op, decision: p.Decide(ctx, op, s.circumstances(by))}
	keepTo(&j)
	return j.decision, nil
}
