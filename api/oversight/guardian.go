package oversight

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/api/rest"
	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/policy"
	"github.com/ostraka/ostraka/guardian"
)

// Guardian is what the API asks of the domain about what decides before anything happens. The nil project is the whole installation.
type Guardian interface {
	GuardianStatus(ctx context.Context, project uuid.UUID) (policy.GuardianStatus, error)
	ListGuardianRules(ctx context.Context, project uuid.UUID) ([]policy.GuardianRule, error)
	GetGuardianRule(ctx context.Context, project uuid.UUID, name string) ([]policy.GuardianRule, error)
	// PublishGuardianRule and WithdrawGuardianRule test a change against the newest decisions first; where some would have been others it must be confirmed.
	PublishGuardianRule(ctx context.Context, by functions.Principal, project uuid.UUID, rule guardian.Rule, version int64, confirmed bool) (policy.GuardianRule, error)
	WithdrawGuardianRule(ctx context.Context, by functions.Principal, project uuid.UUID, name string, version int64, confirmed bool) error
	TestGuardianRule(ctx context.Context, project uuid.UUID, rule guardian.Rule) (policy.RuleTest, error)
	SetFourEyes(ctx context.Context, by functions.Principal, project uuid.UUID, on bool) error
	ListOverrides(ctx context.Context, project uuid.UUID, page functions.ListPage) ([]policy.GuardianOverride, error)
	AddOverride(ctx context.Context, by functions.Principal, project uuid.UUID, n policy.NewOverride, idem functions.Idempotency) (policy.GuardianOverride, bool, error)
	EndOverride(ctx context.Context, by functions.Principal, project, id uuid.UUID) error
}

// NewGuardianRule is a rule that is to be made, changed or tried.
type NewGuardianRule struct {
	On         []guardian.Kind     `json:"on,omitempty" maxItems:"100" doc:"The operations that it is about; left out: all."`
	When       string              `json:"when,omitempty" maxLength:"4096" doc:"A CEL expression over the facts of these operations; left out: always." example:"job.shards > 1000"`
	Risk       guardian.Risk       `json:"risk,omitempty" enum:"LOW,MEDIUM,HIGH,CRITICAL" doc:"Raises the risk of the operation."`
	Then       guardian.Verdict    `json:"then" enum:"allow,ask,deny"`
	Conditions guardian.Conditions `json:"conditions,omitzero" doc:"What is allowed must keep to them."`
	Reason     string              `json:"reason" minLength:"1" maxLength:"300" doc:"People read it when the rule applies."`
	Enabled    bool                `json:"enabled"`
}

func (n NewGuardianRule) rule(name string) guardian.Rule {
	return guardian.Rule{Name: name, On: n.On, When: n.When, Risk: n.Risk, Then: n.Then, Conditions: n.Conditions, Reason: n.Reason, Enabled: n.Enabled}
}

// GuardianRuleName names a rule.
type GuardianRuleName struct {
	Name string `path:"name" maxLength:"63"`
}

// SetGuardianRule is a rule in place of the version that was read.
type SetGuardianRule struct {
	GuardianRuleName
	Body struct {
		NewGuardianRule
		Replaces int64 `json:"replaces,omitempty" minimum:"0" doc:"The version that was read; left out: there is no such rule yet."`
		Confirm  bool  `json:"confirm,omitempty" doc:"That it may decide otherwise than was decided lately. It is tested against the newest 1,000 decisions first: where some would have been others, it is published only with this."`
	} `nameHint:"SetGuardianRule"`
}

// DeleteGuardianRule names the version of a rule that was read.
type DeleteGuardianRule struct {
	GuardianRuleName
	Version int64 `query:"version" minimum:"1" required:"true" doc:"The version that was read."`
	Confirm bool  `query:"confirm" doc:"That what was decided lately may be decided otherwise without it."`
}

// TestGuardianRule is a rule that is tried.
type TestGuardianRule struct {
	Body struct {
		NewGuardianRule
		Name string `json:"name" maxLength:"63" doc:"One that there is: it is tried in its place."`
	} `nameHint:"TestGuardianRule"`
}

// NewOverride is an exception that is to be made.
type NewOverride struct {
	Body struct {
		Rule       string   `json:"rule" maxLength:"63" doc:"The rule that is not to hold."`
		Operations []string `json:"operations,omitempty" maxItems:"100" doc:"For which operations; left out: all."`
		Subject    string   `json:"subject,omitempty" maxLength:"500" doc:"For what they are done to; left out: anything."`
		Reason     string   `json:"reason" minLength:"1" maxLength:"1000"`
		Seconds    int64    `json:"seconds" minimum:"1" maximum:"2678400" doc:"How long it is in force: at most 31 days."`
	} `nameHint:"NewOverride"`
}

// OverrideName names an exception.
type OverrideName struct {
	Override rest.PathID `path:"override"`
}

// GuardianSettings are those of a project, or of the installation.
type GuardianSettings struct {
	Body struct {
		FourEyes bool `json:"four_eyes" doc:"Whether who asks for an approval may not give it."`
	} `nameHint:"GuardianSettings"`
}

type guardianStatusOutput struct {
	Body policy.GuardianStatus
}

type guardianRuleOutput struct {
	Body policy.GuardianRule
}

type guardianRulesOutput struct {
	Body rest.List[policy.GuardianRule]
}

type ruleTestOutput struct {
	Body policy.RuleTest
}

type overrideOutput struct {
	rest.Replayed
	Body policy.GuardianOverride
}

// The inputs of what is about a project.
type (
	// SetGuardianRuleInProject is a rule of a project.
	SetGuardianRuleInProject struct {
		rest.InProject
		SetGuardianRule
	}
	// GuardianRuleInProject names a rule of a project.
	GuardianRuleInProject struct {
		rest.InProject
		GuardianRuleName
	}
	// DeleteGuardianRuleInProject names a rule of a project.
	DeleteGuardianRuleInProject struct {
		rest.InProject
		DeleteGuardianRule
	}
	// TestGuardianRuleInProject is a rule that is tried in a project.
	TestGuardianRuleInProject struct {
		rest.InProject
		TestGuardianRule
	}
	// NewOverrideInProject is an exception in a project.
	NewOverrideInProject struct {
		rest.InProject
		NewOverride
	}
	// OverrideInProject names an exception in a project.
	OverrideInProject struct {
		rest.InProject
		OverrideName
	}
	// GuardianSettingsInProject are those of a project.
	GuardianSettingsInProject struct {
		rest.InProject
		GuardianSettings
	}
)

func (s *server) guardianStatus(ctx context.Context, project uuid.UUID) (*guardianStatusOutput, error) {
	status, err := s.service.GuardianStatus(ctx, project)
	if err != nil {
		return nil, err
	}
	return &guardianStatusOutput{Body: status}, nil
}

func (s *server) listGuardianRules(ctx context.Context, project uuid.UUID) (*guardianRulesOutput, error) {
	rules, err := s.service.ListGuardianRules(ctx, project)
	if err != nil {
		return nil, err
	}
	return rulesOutput(rules), nil
}

func (s *server) getGuardianRule(ctx context.Context, project uuid.UUID, name string) (*guardianRulesOutput, error) {
	versions, err := s.service.GetGuardianRule(ctx, project, name)
	if err != nil {
		return nil, err
	}
	return rulesOutput(versions), nil
}

func rulesOutput(rules []policy.GuardianRule) *guardianRulesOutput {
	if rules == nil {
		rules = []policy.GuardianRule{}
	}
	return &guardianRulesOutput{Body: rest.List[policy.GuardianRule]{Items: rules}}
}

func (s *server) setGuardianRule(ctx context.Context, c *rest.Call, project uuid.UUID, in SetGuardianRule) (*guardianRuleOutput, error) {
	rule, err := s.service.PublishGuardianRule(ctx, c.Principal, project, in.Body.rule(in.Name), in.Body.Replaces, in.Body.Confirm)
	if err != nil {
		return nil, err
	}
	return &guardianRuleOutput{Body: rule}, nil
}

func (s *server) deleteGuardianRule(ctx context.Context, c *rest.Call, project uuid.UUID, in DeleteGuardianRule) (*rest.Nothing, error) {
	return nil, s.service.WithdrawGuardianRule(ctx, c.Principal, project, in.Name, in.Version, in.Confirm)
}

func (s *server) testGuardianRule(ctx context.Context, project uuid.UUID, in TestGuardianRule) (*ruleTestOutput, error) {
	test, err := s.service.TestGuardianRule(ctx, project, in.Body.rule(in.Body.Name))
	if err != nil {
		return nil, err
	}
	return &ruleTestOutput{Body: test}, nil
}

func (s *server) setGuardianSettings(ctx context.Context, c *rest.Call, project uuid.UUID, in GuardianSettings) (*guardianStatusOutput, error) {
	if err := s.service.SetFourEyes(ctx, c.Principal, project, in.Body.FourEyes); err != nil {
		return nil, err
	}
	return s.guardianStatus(ctx, project)
}

func (s *server) listOverrides(ctx context.Context, c *rest.Call, project uuid.UUID, in rest.Paging) (*rest.Listed[policy.GuardianOverride], error) {
	page, err := in.Page(rest.CursorOfID)
	if err != nil {
		return nil, err
	}
	list, err := s.service.ListOverrides(ctx, project, page)
	if err != nil {
		return nil, err
	}
	return rest.AnswerList(c, page, list, rest.CursorOfID, func(o policy.GuardianOverride) string { return o.ID.String() }), nil
}

func (s *server) addOverride(ctx context.Context, c *rest.Call, project uuid.UUID, in NewOverride) (*overrideOutput, error) {
	b := in.Body
	o, again, err := s.service.AddOverride(ctx, c.Principal, project, policy.NewOverride{
		Rule: b.Rule, Kinds: b.Operations, Subject: b.Subject, Reason: b.Reason, For: time.Duration(b.Seconds) * time.Second,
	}, c.Idem)
	if err != nil {
		return nil, err
	}
	return &overrideOutput{Replayed: rest.ReplayedAs(again), Body: o}, nil
}

func (s *server) endOverride(ctx context.Context, c *rest.Call, project uuid.UUID, in OverrideName) (*rest.Nothing, error) {
	id, err := rest.ReadID("override", in.Override)
	if err != nil {
		return nil, err
	}
	return nil, s.service.EndOverride(ctx, c.Principal, project, id)
}
