package api_test

import (
	"context"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/policy"
	"github.com/ostraka/ostraka/guardian"
)

func (f *fake) GuardianStatus(context.Context, uuid.UUID) (policy.GuardianStatus, error) {
	return policy.GuardianStatus{Rules: []policy.GuardianRule{}, Overrides: []policy.GuardianOverride{}, Decisions: []policy.DecisionCount{}}, f.begin()
}

func (f *fake) ListGuardianRules(context.Context, uuid.UUID) ([]policy.GuardianRule, error) {
	return nil, f.begin()
}

func (f *fake) GetGuardianRule(context.Context, uuid.UUID, string) ([]policy.GuardianRule, error) {
	return nil, f.begin()
}

func (f *fake) PublishGuardianRule(_ context.Context, _ functions.Principal, _ uuid.UUID, rule guardian.Rule, _ int64, _ bool) (policy.GuardianRule, error) {
	return policy.GuardianRule{Rule: rule}, f.begin()
}

func (f *fake) WithdrawGuardianRule(context.Context, functions.Principal, uuid.UUID, string, int64, bool) error {
	return f.begin()
}

func (f *fake) TestGuardianRule(context.Context, uuid.UUID, guardian.Rule) (policy.RuleTest, error) {
	return policy.RuleTest{Differences: []policy.DecidedOtherwise{}}, f.begin()
}

func (f *fake) SetFourEyes(context.Context, functions.Principal, uuid.UUID, bool) error {
	return f.begin()
}

func (f *fake) ListOverrides(_ context.Context, _ uuid.UUID, page functions.ListPage) ([]policy.GuardianOverride, error) {
	return list(f, page, func(int) policy.GuardianOverride { return policy.GuardianOverride{ID: thingID} })
}

func (f *fake) AddOverride(_ context.Context, _ functions.Principal, _ uuid.UUID, n policy.NewOverride, idem functions.Idempotency) (policy.GuardianOverride, bool, error) {
	f.idem = idem
	return policy.GuardianOverride{ID: thingID, Rule: n.Rule}, f.replayed, f.begin()
}

func (f *fake) EndOverride(context.Context, functions.Principal, uuid.UUID, uuid.UUID) error {
	return f.begin()
}

func (f *fake) ListApprovals(_ context.Context, _ uuid.UUID, _ string, page functions.ListPage) ([]policy.GuardianApproval, error) {
	return list(f, page, func(int) policy.GuardianApproval { return policy.GuardianApproval{ID: thingID} })
}

func (f *fake) GetApproval(context.Context, uuid.UUID, uuid.UUID) (policy.GuardianApproval, error) {
	return policy.GuardianApproval{ID: thingID}, f.begin()
}

func (f *fake) DecideApproval(context.Context, functions.Principal, uuid.UUID, uuid.UUID, bool, string) (policy.GuardianApproval, error) {
	return policy.GuardianApproval{ID: thingID}, f.begin()
}
