package oversight

import (
	"context"
	"net/http"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/api/rest"
	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/policy"
)

// ProjectGuardianOperations are those about one project.
func (s *server) projectGuardianOperations() {
	const path = "/v1/projects/{project}"
	read := rest.Roles(functions.RoleOwner, functions.RoleSubmitter, functions.RoleViewer, functions.RoleAuditor, functions.RoleReviewer, functions.RoleOperator)
	write, review := rest.Roles(functions.RoleOwner, functions.RoleOperator), rest.Roles(functions.RoleOwner, functions.RoleReviewer, functions.RoleOperator)
	rest.Register(s.Server, rest.Operation{
		ID: "getGuardian", Method: http.MethodGet, Path: path + "/guardian", Tag: "guardian", Summary: "Say how the guardian stands", Access: read, About: "By which rules is decided, which exceptions are in force, how many approvals wait, and what was decided in a day.",
	}, func(ctx context.Context, _ *rest.Call, in *rest.InProject) (*guardianStatusOutput, error) {
		project, err := in.ID()
		if err != nil {
			return nil, err
		}
		return s.guardianStatus(ctx, project)
	})
	rest.Register(s.Server, rest.Operation{
		ID: "changeGuardian", Method: http.MethodPut, Path: path + "/guardian", Tag: "guardian", Summary: "Change the settings of the guardian", Access: write, Body: rest.Body{Limit: rest.MaxJSONBody},
	}, func(ctx context.Context, c *rest.Call, in *GuardianSettingsInProject) (*guardianStatusOutput, error) {
		project, err := in.ID()
		if err != nil {
			return nil, err
		}
		return s.setGuardianSettings(ctx, c, project, in.GuardianSettings)
	})
	rest.Register(s.Server, rest.Operation{
		ID: "listGuardianRules", Method: http.MethodGet, Path: path + "/guardian/rules", Tag: "guardian", Summary: "List the rules of the guardian", Access: read, About: "By layer and name: those that ship with the program, the operators' and the project's.",
	}, func(ctx context.Context, _ *rest.Call, in *rest.InProject) (*guardianRulesOutput, error) {
		project, err := in.ID()
		if err != nil {
			return nil, err
		}
		return s.listGuardianRules(ctx, project)
	})
	rest.Register(s.Server, rest.Operation{
		ID: "getGuardianRule", Method: http.MethodGet, Path: path + "/guardian/rules/{name}", Tag: "guardian", Summary: "Get the versions of a rule of the guardian", Access: read, About: "The newest first.",
	}, func(ctx context.Context, _ *rest.Call, in *GuardianRuleInProject) (*guardianRulesOutput, error) {
		project, err := in.ID()
		if err != nil {
			return nil, err
		}
		return s.getGuardianRule(ctx, project, in.Name)
	})
	rest.Register(s.Server, rest.Operation{
		ID: "setGuardianRule", Method: http.MethodPut, Path: path + "/guardian/rules/{name}", Tag: "guardian", Summary: "Make or replace a rule of the guardian", Access: write, About: "The expression is checked at once; an error shows its line and column. Then the rule is tested against the newest 1,000 decisions: where some would have been others, it takes `confirm`.", Body: rest.Body{Limit: rest.MaxJSONBody},
	}, func(ctx context.Context, c *rest.Call, in *SetGuardianRuleInProject) (*guardianRuleOutput, error) {
		project, err := in.ID()
		if err != nil {
			return nil, err
		}
		return s.setGuardianRule(ctx, c, project, in.SetGuardianRule)
	})
	rest.Register(s.Server, rest.Operation{
		ID: "deleteGuardianRule", Method: http.MethodDelete, Path: path + "/guardian/rules/{name}", Tag: "guardian", Summary: "Delete a rule of the guardian", Access: write, About: "Its versions are kept: decisions name them. Where some of the newest 1,000 decisions would have been others without it, it takes `confirm`.", Status: http.StatusNoContent,
	}, func(ctx context.Context, c *rest.Call, in *DeleteGuardianRuleInProject) (*rest.Nothing, error) {
		project, err := in.ID()
		if err != nil {
			return nil, err
		}
		return s.deleteGuardianRule(ctx, c, project, in.DeleteGuardianRule)
	})
	rest.Register(s.Server, rest.Operation{
		ID: "testGuardianRule", Method: http.MethodPost, Path: path + "/guardian/rule-tests", Tag: "guardian", Summary: "Say what a rule would have decided differently", Access: read, About: "The newest 1,000 decisions are decided again with it. Nothing is kept.", Body: rest.Body{Limit: rest.MaxJSONBody},
	}, func(ctx context.Context, _ *rest.Call, in *TestGuardianRuleInProject) (*ruleTestOutput, error) {
		project, err := in.ID()
		if err != nil {
			return nil, err
		}
		return s.testGuardianRule(ctx, project, in.TestGuardianRule)
	})
	rest.Register(s.Server, rest.Operation{
		ID: "listOverrides", Method: http.MethodGet, Path: path + "/guardian/overrides", Tag: "guardian", Summary: "List exceptions from rules of the guardian", Access: read, About: "Those that have ended too.",
	}, func(ctx context.Context, c *rest.Call, in *rest.ListInProject) (*rest.Listed[policy.GuardianOverride], error) {
		project, err := in.ID()
		if err != nil {
			return nil, err
		}
		return s.listOverrides(ctx, c, project, in.Paging)
	})
	rest.Register(s.Server, rest.Operation{
		ID: "addOverride", Method: http.MethodPost, Path: path + "/guardian/overrides", Tag: "guardian", Summary: "Make an exception from a rule of the guardian", Access: write, About: "It ends by itself.", Body: rest.Body{Limit: rest.MaxJSONBody}, Retry: rest.RetryWithKey, Status: http.StatusCreated,
	}, func(ctx context.Context, c *rest.Call, in *NewOverrideInProject) (*overrideOutput, error) {
		project, err := in.ID()
		if err != nil {
			return nil, err
		}
		return s.addOverride(ctx, c, project, in.NewOverride)
	})
	rest.Register(s.Server, rest.Operation{
		ID: "endOverride", Method: http.MethodDelete, Path: path + "/guardian/overrides/{override}", Tag: "guardian", Summary: "End an exception before its time", Access: write, Status: http.StatusNoContent,
	}, func(ctx context.Context, c *rest.Call, in *OverrideInProject) (*rest.Nothing, error) {
		project, err := in.ID()
		if err != nil {
			return nil, err
		}
		return s.endOverride(ctx, c, project, in.OverrideName)
	})
	rest.Register(s.Server, rest.Operation{
		ID: "listApprovals", Method: http.MethodGet, Path: path + "/approvals", Tag: "guardian", Summary: "List what rules of the guardian ask about", Access: read,
	}, func(ctx context.Context, c *rest.Call, in *ListApprovalsInProject) (*rest.Listed[policy.GuardianApproval], error) {
		project, err := in.ID()
		if err != nil {
			return nil, err
		}
		return s.listApprovals(ctx, c, project, in.ListApprovals)
	})
	rest.Register(s.Server, rest.Operation{
		ID: "getApproval", Method: http.MethodGet, Path: path + "/approvals/{approval}", Tag: "guardian", Summary: "Get an approval", Access: read,
	}, func(ctx context.Context, _ *rest.Call, in *ApprovalInProject) (*approvalOutput, error) {
		project, err := in.ID()
		if err != nil {
			return nil, err
		}
		return s.getApproval(ctx, project, in.ApprovalName)
	})
	rest.Register(s.Server, rest.Operation{
		ID: "decideApproval", Method: http.MethodPost, Path: path + "/approvals/{approval}/decide", Tag: "guardian", Summary: "Say yes or no to what a rule asks about", Access: review, About: "A job that waits for it is lent, or cancelled. Of anything else the same request passes once, when it is sent again.", Body: rest.Body{Limit: rest.MaxJSONBody},
	}, func(ctx context.Context, c *rest.Call, in *DecideApprovalInProject) (*approvalOutput, error) {
		project, err := in.ID()
		if err != nil {
			return nil, err
		}
		return s.decideApproval(ctx, c, project, in.DecideApproval)
	})
}

// ServerGuardianOperations are those about the whole installation.
func (s *server) serverGuardianOperations() {
	const path = "/v1"
	operators := rest.Roles(functions.RoleOperator)
	rest.Register(s.Server, rest.Operation{
		ID: "getServerGuardian", Method: http.MethodGet, Path: path + "/guardian", Tag: "guardian", Summary: "Say how the guardian stands, of the installation", Access: operators, About: "By which rules is decided, which exceptions are in force, how many approvals wait, and what was decided in a day.",
	}, func(ctx context.Context, _ *rest.Call, _ *struct{}) (*guardianStatusOutput, error) {
		return s.guardianStatus(ctx, uuid.Nil)
	})
	rest.Register(s.Server, rest.Operation{
		ID: "changeServerGuardian", Method: http.MethodPut, Path: path + "/guardian", Tag: "guardian", Summary: "Change the settings of the guardian, of the installation", Access: operators, Body: rest.Body{Limit: rest.MaxJSONBody},
	}, func(ctx context.Context, c *rest.Call, in *GuardianSettings) (*guardianStatusOutput, error) {
		return s.setGuardianSettings(ctx, c, uuid.Nil, *in)
	})
	rest.Register(s.Server, rest.Operation{
		ID: "listServerGuardianRules", Method: http.MethodGet, Path: path + "/guardian/rules", Tag: "guardian", Summary: "List the rules of the guardian, of the installation", Access: operators, About: "By layer and name: those that ship with the program, the operators' and the project's.",
	}, func(ctx context.Context, _ *rest.Call, _ *struct{}) (*guardianRulesOutput, error) {
		return s.listGuardianRules(ctx, uuid.Nil)
	})
	rest.Register(s.Server, rest.Operation{
		ID: "getServerGuardianRule", Method: http.MethodGet, Path: path + "/guardian/rules/{name}", Tag: "guardian", Summary: "Get the versions of a rule of the guardian, of the installation", Access: operators, About: "The newest first.",
	}, func(ctx context.Context, _ *rest.Call, in *GuardianRuleName) (*guardianRulesOutput, error) {
		return s.getGuardianRule(ctx, uuid.Nil, in.Name)
	})
	rest.Register(s.Server, rest.Operation{
		ID: "setServerGuardianRule", Method: http.MethodPut, Path: path + "/guardian/rules/{name}", Tag: "guardian", Summary: "Make or replace a rule of the guardian, of the installation", Access: operators, About: "The expression is checked at once; an error shows its line and column. Then the rule is tested against the newest 1,000 decisions: where some would have been others, it takes `confirm`.", Body: rest.Body{Limit: rest.MaxJSONBody},
	}, func(ctx context.Context, c *rest.Call, in *SetGuardianRule) (*guardianRuleOutput, error) {
		return s.setGuardianRule(ctx, c, uuid.Nil, *in)
	})
	rest.Register(s.Server, rest.Operation{
		ID: "deleteServerGuardianRule", Method: http.MethodDelete, Path: path + "/guardian/rules/{name}", Tag: "guardian", Summary: "Delete a rule of the guardian, of the installation", Access: operators, About: "Its versions are kept: decisions name them. Where some of the newest 1,000 decisions would have been others without it, it takes `confirm`.", Status: http.StatusNoContent,
	}, func(ctx context.Context, c *rest.Call, in *DeleteGuardianRule) (*rest.Nothing, error) {
		return s.deleteGuardianRule(ctx, c, uuid.Nil, *in)
	})
	rest.Register(s.Server, rest.Operation{
		ID: "testServerGuardianRule", Method: http.MethodPost, Path: path + "/guardian/rule-tests", Tag: "guardian", Summary: "Say what a rule would have decided differently, of the installation", Access: operators, About: "The newest 1,000 decisions are decided again with it. Nothing is kept.", Body: rest.Body{Limit: rest.MaxJSONBody},
	}, func(ctx context.Context, _ *rest.Call, in *TestGuardianRule) (*ruleTestOutput, error) {
		return s.testGuardianRule(ctx, uuid.Nil, *in)
	})
	rest.Register(s.Server, rest.Operation{
		ID: "listServerOverrides", Method: http.MethodGet, Path: path + "/guardian/overrides", Tag: "guardian", Summary: "List exceptions from rules of the guardian, of the installation", Access: operators, About: "Those that have ended too.",
	}, func(ctx context.Context, c *rest.Call, in *rest.Paging) (*rest.Listed[policy.GuardianOverride], error) {
		return s.listOverrides(ctx, c, uuid.Nil, *in)
	})
	rest.Register(s.Server, rest.Operation{
		ID: "addServerOverride", Method: http.MethodPost, Path: path + "/guardian/overrides", Tag: "guardian", Summary: "Make an exception from a rule of the guardian, of the installation", Access: operators, About: "It ends by itself.", Body: rest.Body{Limit: rest.MaxJSONBody}, Retry: rest.RetryWithKey, Status: http.StatusCreated,
	}, func(ctx context.Context, c *rest.Call, in *NewOverride) (*overrideOutput, error) {
		return s.addOverride(ctx, c, uuid.Nil, *in)
	})
	rest.Register(s.Server, rest.Operation{
		ID: "endServerOverride", Method: http.MethodDelete, Path: path + "/guardian/overrides/{override}", Tag: "guardian", Summary: "End an exception before its time, of the installation", Access: operators, Status: http.StatusNoContent,
	}, func(ctx context.Context, c *rest.Call, in *OverrideName) (*rest.Nothing, error) {
		return s.endOverride(ctx, c, uuid.Nil, *in)
	})
	rest.Register(s.Server, rest.Operation{
		ID: "listServerApprovals", Method: http.MethodGet, Path: path + "/approvals", Tag: "guardian", Summary: "List what rules of the guardian ask about, of the installation", Access: operators,
	}, func(ctx context.Context, c *rest.Call, in *ListApprovals) (*rest.Listed[policy.GuardianApproval], error) {
		return s.listApprovals(ctx, c, uuid.Nil, *in)
	})
	rest.Register(s.Server, rest.Operation{
		ID: "getServerApproval", Method: http.MethodGet, Path: path + "/approvals/{approval}", Tag: "guardian", Summary: "Get an approval, of the installation", Access: operators,
	}, func(ctx context.Context, _ *rest.Call, in *ApprovalName) (*approvalOutput, error) {
		return s.getApproval(ctx, uuid.Nil, *in)
	})
	rest.Register(s.Server, rest.Operation{
		ID: "decideServerApproval", Method: http.MethodPost, Path: path + "/approvals/{approval}/decide", Tag: "guardian", Summary: "Say yes or no to what a rule asks about, of the installation", Access: operators, About: "A job that waits for it is lent, or cancelled. Of anything else the same request passes once, when it is sent again.", Body: rest.Body{Limit: rest.MaxJSONBody},
	}, func(ctx context.Context, c *rest.Call, in *DecideApproval) (*approvalOutput, error) {
		return s.decideApproval(ctx, c, uuid.Nil, *in)
	})
}
