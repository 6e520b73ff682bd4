package policy

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/guardian"
)

const (
	// decideAction is the action of the records of decisions.
	decideAction = "guardian.decide"
	// RecordedFindings is how many findings of a function a record keeps, the heaviest first.
	RecordedFindings = 20
	// refusalEvery is how often a server records that a step or an agent was refused the same by the same rule: agents ask every moment.
	refusalEvery = time.Hour
	// maxTold is how many of these refusals it remembers.
	maxTold = 4096
)

// refusalKey is what makes two refusals the same.
type refusalKey struct {
	project  uuid.UUID
	kind     guardian.Kind
	subject  string
	actor    string
	rule     string
	versions base.RuleVersions
}

// detail is what the log keeps of a decision. The names agent, job and function are those by which records are found.
type detail struct {
	Decision    guardian.Verdict     `json:"decision"`
	Operation   guardian.Kind        `json:"operation"`
	Risk        guardian.Risk        `json:"risk"`
	Layer       guardian.Layer       `json:"layer,omitempty"`
	Rule        string               `json:"rule,omitempty"`
	RuleVersion int64                `json:"rule_version,omitempty"`
	Reason      string               `json:"reason"`
	Conditions  *guardian.Conditions `json:"conditions,omitempty"`
	Applied     []string             `json:"applied,omitempty"`
	Overrides   []string             `json:"overrides,omitempty"`
	Approval    string               `json:"approval,omitempty"`
	Actor       guardian.Actor       `json:"by"`
	Facts       guardian.Facts       `json:"facts"`
	Findings    int                  `json:"findings,omitempty"`
	Policy      base.RuleVersions    `json:"policy"`
	Micros      int64                `json:"took_us"`
	Agent       string               `json:"agent,omitempty"`
	Job         string               `json:"job,omitempty"`
	Function    string               `json:"function,omitempty"`
}

// actor is who asked, as the log names people and programs.
func (j judged) actor() string {
	switch a := j.op.Actor; a.Kind {
	case "agent":
		return "agent:" + a.ID
	case "step":
		return "server"
	default:
		return a.Role + ":" + a.ID
	}
}

func (j judged) detail() (json.RawMessage, error) {
	d := j.decision
	out := detail{
		Decision: d.Verdict, Operation: j.op.Kind, Risk: d.Risk, Reason: d.Reason, Approval: d.Approval, Actor: j.op.Actor, Policy: j.versions,
		Micros: j.took.Microseconds(),
	}
	if d.Rule != nil {
		out.Layer, out.Rule, out.RuleVersion = d.Rule.Layer, d.Rule.Name, d.Rule.Version
	}
	if !d.Conditions.Empty() {
		out.Conditions = &d.Conditions
	}
	for _, a := range d.Applied {
		out.Applied = append(out.Applied, fmt.Sprintf("%s/%s@%d", a.Layer, a.Name, a.Version))
		if a.Override != "" && !slices.Contains(out.Overrides, a.Override) {
			out.Overrides = append(out.Overrides, a.Override)
		}
	}
	out.keepFacts(j.op.Facts)
	text, err := json.Marshal(out)
	if err != nil {
		return nil, fmt.Errorf("encoding a decision about %s: %w", j.op.Kind, err)
	}
	return text, nil
}

// keepFacts keeps the facts with as many findings as a record has room for.
func (d *detail) keepFacts(facts guardian.Facts) {
	switch f := facts.(type) {
	case guardian.FunctionFacts:
		d.Function = f.Function.Name
		f.Findings, d.Findings = heaviest(f.Findings), len(f.Findings)
		d.Facts = f
	case guardian.JobFacts:
		d.Function, d.Job = f.Function.Name, f.Job.ID
		f.Findings, d.Findings = heaviest(f.Findings), len(f.Findings)
		d.Facts = f
	case guardian.DispatchFacts:
		d.Function, d.Job, d.Agent = f.Function.Name, f.Job.ID, f.Agent.ID
		f.Findings, d.Findings = heaviest(f.Findings), len(f.Findings)
		d.Facts = f
	case guardian.RecheckFacts:
		d.Function, d.Job = f.Function.Name, f.Job.ID
		f.Findings, d.Findings = heaviest(f.Findings), len(f.Findings)
		d.Facts = f
	case guardian.AgentFacts:
		d.Agent = f.Agent.ID
		d.Facts = f
	default:
		d.Facts = facts
	}
}

func heaviest(all []guardian.Finding) []guardian.Finding {
	if len(all) <= RecordedFindings {
		return all
	}
	all = slices.Clone(all)
	slices.SortStableFunc(all, func(a, b guardian.Finding) int {
		switch {
		case a.Weight > b.Weight:
			return -1
		case a.Weight < b.Weight:
			return 1
		default:
			return 0
		}
	})
	return all[:RecordedFindings]
}

// enter writes the record of a decision that is carried out, marks the approval that it used, and has what waits ask for one.
func (s *Service) enter(ctx context.Context, tx *store.Tx, j judged) error {
	if j.decision.Approval != "" && partOf(j.op) == nil {
		if err := useApproval(ctx, tx, j.decision.Approval); err != nil {
			return err
		}
	}
	return record(ctx, tx, j)
}

// record writes the record of a decision into the log of its project, or that of the server. tx is there.
func record(ctx context.Context, tx *store.Tx, j judged) error {
	text, err := j.detail()
	if err != nil {
		return err
	}
	if j.project == uuid.Nil {
		return base.AuditServerText(ctx, tx, j.actor(), decideAction, j.op.Subject, text)
	}
	return base.AuditText(ctx, tx, j.actor(), decideAction, j.op.Subject, text)
}

// refuse is the error of an operation that may not happen; its transaction ends with it, after which the refusal is recorded in its own.
func (s *Service) refuse(j judged) error {
	refused := &base.Refused{Err: denied(j)}
	var id uuid.UUID
	if j.decision.Verdict == guardian.Ask {
		id = base.NewID()
		refused.Err = asked(j)
	}
	refused.Record = func(ctx context.Context) error {
		if s.toldLately(j) {
			return nil
		}
		return s.place(ctx, j.project, func(tx *store.Tx) error {
			if j.decision.Verdict == guardian.Ask {
				known, err := s.requestApproval(ctx, tx, j, id, partOf(j.op))
				if err != nil {
					return err
				}
				j.decision.Approval = known.String()
				*refused.Err = *askedWith(j, known)
			}
			return record(ctx, tx, j)
		})
	}
	return refused
}

// place runs fn where what is about a project belongs; the nil project: on the control schema.
func (s *Service) place(ctx context.Context, project uuid.UUID, fn func(tx *store.Tx) error) error {
	return s.env.In(ctx, project, fn)
}

// toldLately says whether the refusal of a step or an agent is in the log already; it will be.
func (s *Service) toldLately(j judged) bool {
	if j.op.Actor.Kind != "step" && j.op.Actor.Kind != "agent" {
		return false
	}
	key := refusalKey{project: j.project, kind: j.op.Kind, subject: j.op.Subject, actor: j.op.Actor.ID, versions: j.versions}
	if j.decision.Rule != nil {
		key.rule = j.decision.Rule.Name
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	if at, known := s.told[key]; known && now.Sub(at) < refusalEvery {
		return true
	}
	if len(s.told) >= maxTold {
		clear(s.told)
	}
	s.told[key] = now
	return false
}

// denied tells the caller who refused, why, and what to do.
func denied(j judged) *functions.Error {
	e := &functions.Error{Kind: functions.KindForbidden, Code: "denied_by_guardian", Message: fmt.Sprintf("the guardian refuses %s of %s: %s", j.op.Kind, about(j.op), j.decision.Reason)}
	layer := guardian.Builtin
	if r := j.decision.Rule; r != nil {
		layer = r.Layer
		e.Message += fmt.Sprintf(" (%s)", ruleName(r))
	}
	switch layer {
	case guardian.ProjectLayer:
		e.Hint = "an owner of the project can change the rule, or make an exception from it: ostraka guardian override add --rule " + j.decision.Rule.Name + " --reason WHY --for 1h"
	case guardian.OperatorLayer:
		e.Hint = "the rule is the operator's: ask them for an exception, or change what is asked for"
	default:
		e.Hint = "the rule ships with the program: change what is asked for; docs/guardian.md says what it is about"
	}
	return e
}

// asked tells the caller that a person must say yes first.
func asked(j judged) *functions.Error { return askedWith(j, uuid.Nil) }

func askedWith(j judged, id uuid.UUID) *functions.Error {
	return &functions.Error{
		Kind: functions.KindConflict, Code: "approval_needed",
		Message: fmt.Sprintf("%s of %s needs a person's yes: %s (%s); approval %s waits for it", j.op.Kind, about(j.op), j.decision.Reason, ruleName(j.decision.Rule), id),
		Hint:    fmt.Sprintf("%s can say yes: %s --reason WHY; then send the same request again", WhoDecides(layerAsking(j.decision)), approveCommand(j.project, id)),
	}
}

func about(op guardian.Operation) string {
	if op.Subject == "" {
		return "this"
	}
	return op.Subject
}

func ruleName(r *guardian.Applied) string {
	if r == nil {
		return "no rule"
	}
	return fmt.Sprintf("rule %s, version %d, %s", r.Name, r.Version, map[guardian.Layer]string{
		guardian.Builtin: "which ships with the program", guardian.OperatorLayer: "of the operator", guardian.ProjectLayer: "of the project",
	}[r.Layer])
}

// approveCommand is how somebody says yes.
func approveCommand(project, id uuid.UUID) string {
	if project == uuid.Nil {
		return "ostraka approval approve " + id.String() + " --operator"
	}
	return "ostraka approval approve " + id.String()
}

func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return string([]rune(text)[:min(len([]rune(text)), most/4)]) + "…"
}
