package policy

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/guardian"
)

// protecting are the operations that only stop, end or take away.
var protecting = []guardian.Kind{
	guardian.SwitchOn, guardian.JobCancel, guardian.SandboxTerminate, guardian.KeyRevoke, guardian.TokenRevoke, guardian.SessionRevoke,
	guardian.AgentPause, guardian.AgentExclude, guardian.AgentRevoke, guardian.OverrideEnd, guardian.WebhookStop,
}

// protects says whether an operation only stops, ends or takes away. No rule of a project or an operator refuses that, so that no mistake in
// one can keep people from stopping something: only rules that ship with the program decide about it.
func protects(op guardian.Operation) bool {
	said, decides := op.Facts.(guardian.DecisionFacts)
	return slices.Contains(protecting, op.Kind) || decides && op.Kind == guardian.ApprovalDecide && said.Decision.Verdict == ApprovalDenied
}

// inForce are the layers that an operation is judged by.
type inForce struct {
	operator, project *layer
}

func (by inForce) versions() base.RuleVersions {
	return base.RuleVersions{Operator: by.operator.version, Project: by.project.version}
}

// Decide implements base.Guardian.
func (s *Service) Decide(ctx context.Context, tx *store.Tx, op guardian.Operation) (guardian.Decision, error) {
	began := time.Now()
	project, err := projectOf(op)
	if err != nil {
		return guardian.Decision{}, err
	}
	was := tx.Server()
	by, err := s.read(ctx, tx, project)
	if err != nil {
		return guardian.Decision{}, fmt.Errorf("reading the guardian's rules: %w", err)
	}
	j, err := s.judge(ctx, tx, by, op)
	if err != nil {
		return guardian.Decision{}, err
	}
	j.took = time.Since(began)
	if !j.passes() {
		return j.decision, s.refuse(j)
	}
	if err := s.enter(ctx, tx, j); err != nil {
		return guardian.Decision{}, fmt.Errorf("recording a decision of the guardian: %w", err)
	}
	return j.decision, tx.SetServer(ctx, was)
}

// Judge implements base.Guardian.
func (s *Service) Judge(ctx context.Context, tx *store.Tx, read base.RuleVersions, op guardian.Operation) (out base.Judgement, err error) {
	began := time.Now()
	project, err := projectOf(op)
	if err != nil {
		return out, err
	}
	by := inForce{operator: s.known(uuid.Nil, read.Operator), project: s.known(project, read.Project)}
	if by.operator == nil || by.project == nil {
		if by, err = s.read(ctx, tx, project); err != nil {
			return out, fmt.Errorf("reading the guardian's rules: %w", err)
		}
	}
	j, err := s.judge(ctx, tx, by, op)
	if err != nil {
		return out, err
	}
	if j.took = time.Since(began); !j.passes() {
		return out, s.refuse(j)
	}
	out = base.Judgement{Decision: j.decision, By: j.versions, Actor: j.actor(), Action: decideAction}
	out.Detail, err = j.detail()
	return out, err
}

// read reads the layers in force, and leaves the transaction where the operation's record belongs: in the project, or on the control schema.
func (s *Service) read(ctx context.Context, tx *store.Tx, project uuid.UUID) (by inForce, err error) {
	by.project = &layer{}
	if project != uuid.Nil && !tx.Server() {
		if by.project, err = s.layerOf(ctx, tx, project); err != nil {
			return by, err
		}
	}
	was := tx.Server()
	if _, err := tx.AsServer(ctx); err != nil {
		return by, err
	}
	if by.operator, err = s.layerOf(ctx, tx, uuid.Nil); err != nil || project == uuid.Nil {
		return by, err
	}
	if err := tx.AsProject(ctx); err != nil {
		return by, err
	}
	if was {
		by.project, err = s.layerOf(ctx, tx, project)
	}
	return by, err
}

// judged is a decision that is not recorded yet.
type judged struct {
	op       guardian.Operation
	project  uuid.UUID
	decision guardian.Decision
	versions base.RuleVersions
	took     time.Duration
}

// passes says whether the operation goes on: it may happen, or it waits by itself for a person.
func (j judged) passes() bool {
	return j.decision.Verdict == guardian.Allow || j.decision.Verdict == guardian.Ask && waits(j.op.Kind)
}

// waits says whether what is asked about goes on as something that waits: a job.
func waits(kind guardian.Kind) bool {
	return kind == guardian.JobSubmit || kind == guardian.JobFollowUp
}

// judge decides, with the approvals that there are. tx is where the operation's record belongs.
func (s *Service) judge(ctx context.Context, tx *store.Tx, by inForce, op guardian.Operation) (j judged, err error) {
	j = judged{op: op, versions: by.versions()}
	if j.project, err = projectOf(op); err != nil {
		return j, err
	}
	p, err := s.policyFor(by, op)
	if err != nil {
		return j, err
	}
	c := s.circumstances(by)
	j.decision = p.Decide(ctx, op, c)
	if j.decision.Verdict == guardian.Ask && !waits(op.Kind) {
		if c.Approvals, err = s.approvalsOf(ctx, tx, j); err != nil {
			return j, err
		}
		if len(c.Approvals) > 0 {
			j.decision = p.Decide(ctx, op, c)
		}
	}
	keepTo(&j)
	return j, nil
}

func (s *Service) circumstances(by inForce) guardian.Circumstances {
	return guardian.Circumstances{Now: s.now(), Overrides: slices.Concat(by.operator.overrides, by.project.overrides)}
}

// policyFor are the rules that decide about an operation. What protects is left to those that ship with the program. A project's rules do not
// bind operators, and operators' own do not bind them where rules are changed: one that refuses everything must be taken back by somebody.
func (s *Service) policyFor(by inForce, op guardian.Operation) (*guardian.Policy, error) {
	rules := slices.Clone(s.builtin)
	operator := op.Actor.Role == string(functions.RoleOperator)
	aboutRules := op.Kind == guardian.GuardRuleChange || op.Kind == guardian.OverrideGrant
	if !protects(op) && (!operator || !aboutRules) {
		rules = append(rules, by.operator.rules...)
	}
	if !protects(op) && !operator {
		rules = append(rules, by.project.rules...)
	}
	if dropsFourEyes(by, op) {
		rule, err := fourEyesRule()
		if err != nil {
			return nil, fmt.Errorf("compiling the rule of four eyes: %w", err)
		}
		rules = append(rules, rule)
	}
	return guardian.NewPolicy(rules...)
}

// keepTo denies what is allowed on conditions that the operation does not keep and cannot be made to.
func keepTo(j *judged) {
	facts, is := j.op.Facts.(guardian.JobFacts)
	if j.decision.Verdict != guardian.Allow && j.decision.Verdict != guardian.Ask || !is || !waits(j.op.Kind) {
		return
	}
	l := facts.Function.Limits
	broken := j.decision.Conditions.Broken(guardian.Planned{Limits: l, Shards: facts.Job.Shards})
	if len(broken) > 0 {
		j.decision.Verdict, j.decision.Approvals, j.decision.Reason = guardian.Deny, nil, strings.Join(broken, "; ")
		j.decision.Rule = conditional(j.decision)
	}
}

// conditional is a rule that was applied, for the record: which of them set the condition is told by its reason.
func conditional(d guardian.Decision) *guardian.Applied {
	if d.Rule != nil || len(d.Applied) == 0 {
		return d.Rule
	}
	return &d.Applied[len(d.Applied)-1]
}

func projectOf(op guardian.Operation) (uuid.UUID, error) {
	if op.Project == "" {
		return uuid.Nil, nil
	}
	id, err := uuid.Parse(op.Project)
	if err != nil {
		return id, fmt.Errorf("reading the project of an operation: %w", err)
	}
	return id, nil
}

var _ base.Guardian = (*Service)(nil)
