package policy

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
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
	verdict  guardian.Verdict
	rules    [sha256.Size]byte // of those that deny or ask, by layer and name
	versions base.RuleVersions
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

// enter writes the record of a decision that is carried out, and marks the approvals that it used.
func (s *Service) enter(ctx context.Context, tx *store.Tx, j judged) error {
	if partOf(j.op) != nil { // they are for all of the job
		return record(ctx, tx, j)
	}
	for _, id := range j.decision.Approvals {
		if err := useApproval(ctx, tx, id); err != nil {
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
	refused := &base.Refused{Err: denied(j), Decision: j.decision}
	if j.decision.Verdict == guardian.Ask {
		refused.Err = asked(j, nil)
	}
	refused.Record = func(ctx context.Context) error {
		if s.toldLately(j) {
			return nil
		}
		if err := s.recordRefusal(ctx, j, refused); err != nil {
			return err
		}
		s.tell(j)
		return nil
	}
	return refused
}

func (s *Service) recordRefusal(ctx context.Context, j judged, refused *base.Refused) error {
	if j.decision.Verdict == guardian.Ask {
		return s.recordAsked(ctx, j, refused)
	}
	return s.place(ctx, j.project, func(tx *store.Tx) error { return record(ctx, tx, j) })
}

// recordAsked keeps what is asked, with the record of the refusal. Where that cannot be kept the refusal is recorded all the same, and the
// caller is told why.
func (s *Service) recordAsked(ctx context.Context, j judged, refused *base.Refused) error {
	var ids []uuid.UUID
	failed := s.place(ctx, j.project, func(tx *store.Tx) error {
		by, err := requesterOf(ctx, tx, j, partOf(j.op))
		if err != nil {
			return err
		}
		if ids, err = s.requestApprovals(ctx, tx, j, partOf(j.op), by); err != nil {
			return err
		}
		waiting := j
		waiting.decision.Approvals = texts(ids)
		return record(ctx, tx, waiting)
	})
	if failed == nil {
		*refused.Err = *asked(j, ids)
		return nil
	}
	if err := s.place(ctx, j.project, func(tx *store.Tx) error { return record(ctx, tx, j) }); err != nil {
		return errors.Join(failed, err)
	}
	var why *functions.Error
	if !errors.As(failed, &why) {
		return failed
	}
	*refused.Err = *why
	return nil
}

func texts(ids []uuid.UUID) (list []string) {
	for _, id := range ids {
		list = append(list, id.String())
	}
	return list
}

// place runs fn where what is about a project belongs; the nil project: on the control schema.
func (s *Service) place(ctx context.Context, project uuid.UUID, fn func(tx *store.Tx) error) error {
	return s.env.In(ctx, project, fn)
}

// toldLately says whether the refusal of a step or an agent is in the log already.
func (s *Service) toldLately(j judged) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	at, known := s.told[j.refusalKey()]
	return known && s.now().Sub(at) < refusalEvery
}

// tell remembers a refusal that is in the log now. Those of people are recorded each time.
func (s *Service) tell(j judged) {
	if j.op.Actor.Kind != "step" && j.op.Actor.Kind != "agent" {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.told) >= maxTold {
		clear(s.told)
	}
	s.told[j.refusalKey()] = s.now()
}

func (j judged) refusalKey() refusalKey {
	key := refusalKey{project: j.project, kind: j.op.Kind, subject: j.op.Subject, actor: j.op.Actor.ID, verdict: j.decision.Verdict, versions: j.versions}
	var rules []guardian.Applied
	if j.decision.Verdict == guardian.Ask {
		rules = j.decision.Asking()
	} else if j.decision.Rule != nil {
		rules = []guardian.Applied{*j.decision.Rule}
	}
	var names strings.Builder
	for _, r := range rules {
		names.WriteString(string(r.Layer) + "/" + r.Name + " ")
	}
	key.rules = sha256.Sum256([]byte(names.String()))
	return key
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

// asked tells the caller that people must say yes first, one for each rule that asks. ids are the approvals that wait for them; none: they
// were asked for before.
func asked(j judged, ids []uuid.UUID) *functions.Error {
	e := &functions.Error{Kind: functions.KindConflict, Code: "approval_needed", Message: fmt.Sprintf("%s of %s needs a person's yes: ", j.op.Kind, about(j.op))}
	rules := j.decision.Asking()
	for i := range rules {
		if i > 0 {
			e.Message += "; and "
			e.Hint += "; "
		}
		e.Message += fmt.Sprintf("%s (%s)", rules[i].Reason, ruleName(&rules[i]))
		e.Hint += WhoDecides(rules[i].Layer) + " can say yes"
		if i < len(ids) {
			e.Message += fmt.Sprintf("; approval %s waits for it", ids[i])
			e.Hint += ": " + approveCommand(j.project, ids[i]) + " --reason WHY"
		}
	}
	e.Hint += "; then send the same request again"
	return e
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
