package policy

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/guardian"
)

// ErrRuleUnconfirmed is for a change of a rule by which lately something else would have been decided, which nobody has said to want.
var ErrRuleUnconfirmed = &functions.Error{
	Kind: functions.KindConflict, Code: "rule_unconfirmed", Message: "by this change of a rule the newest decisions would have been others",
	Hint: "see which with ostraka guardian rule test, and say that you want it: --yes, or confirm in the request",
}

// PublishGuardianRule is SetGuardianRule after a test against the newest decisions: where some of them would have been others, who publishes the rule
// has to know, and to say so.
func (s *Service) PublishGuardianRule(ctx context.Context, by functions.Principal, project uuid.UUID, rule guardian.Rule, version int64, confirmed bool) (GuardianRule, error) {
	if err := s.tested(ctx, project, rule, confirmed); err != nil {
		return GuardianRule{}, err
	}
	return s.SetGuardianRule(ctx, by, project, rule, version)
}

// WithdrawGuardianRule is DeleteGuardianRule after the same test, without the rule.
func (s *Service) WithdrawGuardianRule(ctx context.Context, by functions.Principal, project uuid.UUID, name string, version int64, confirmed bool) error {
	without := guardian.Rule{Name: name, Then: guardian.Allow, Reason: "it is deleted"} // one that is not enabled decides nothing
	if err := s.tested(ctx, project, without, confirmed); err != nil {
		return err
	}
	return s.DeleteGuardianRule(ctx, by, project, name, version)
}

// tested refuses a change by which some of the newest decisions would have been others, unless somebody wants that.
func (s *Service) tested(ctx context.Context, project uuid.UUID, rule guardian.Rule, confirmed bool) error {
	t, err := s.TestGuardianRule(ctx, project, rule)
	if err != nil || len(t.Differences) == 0 || confirmed {
		return err
	}
	first := t.Differences[0]
	return ErrRuleUnconfirmed.With("of the newest %d decisions %d would have been others, the newest of them %s of %s: %s, and not %s", t.Decisions, len(t.Differences), first.Operation,
		shortened(first.Subject), first.After, first.Before)
}

// shortened is a subject as a sentence has room for it.
func shortened(subject string) string {
	if subject == "" {
		return "everything"
	}
	return fmt.Sprintf("%.80q", subject)
}
