package api

import (
	"context"
	"net/http"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/policy"
)

// projectGuardianOperations are those about one project.
func (s *server) projectGuardianOperations() {
	const path = "/v1/projects/{project}"
	read := roles(functions.RoleOwner, functions.RoleSubmitter, functions.RoleViewer, functions.RoleAuditor, functions.RoleReviewer, functions.RoleOperator)
	write, review := roles(functions.RoleOwner, functions.RoleOperator), roles(functions.RoleOwner, functions.RoleReviewer, functions.RoleOperator)
	register(s, operation{
		id: "getGuardian", method: http.MethodGet, path: path + "/guardian", tag: "guardian", summary: "Say how the guardian stands", access: read, about: "By which rules is decided, which exceptions are in force, how many approvals wait, and what was decided in a day.",
	}, func(ctx context.Context, _ *call, in *InProject) (*guardianStatusOutput, error) {
		project, err := in.id()
		if err != nil {
			return nil, err
		}
		return s.guardianStatus(ctx, project)
	})
	register(s, operation{
		id: "changeGuardian", method: http.MethodPut, path: path + "/guardian", tag: "guardian", summary: "Change the settings of the guardian", access: write, body: body{limit: MaxJSONBody},
	}, func(ctx context.Context, c *call, in *GuardianSettingsInProject) (*guardianStatusOutput, error) {
		project, err := in.id()
		if err != nil {
			return nil, err
		}
		return s.setGuardianSettings(ctx, c, project, in.GuardianSettings)
	})
	register(s, operation{
		id: "listGuardianRules", method: http.MethodGet, path: path + "/guardian/rules", tag: "guardian", summary: "List the rules of the guardian", access: read, about: "By layer and name: those that ship with the program, the operators' and the project's.",
	}, func(ctx context.Context, _ *call, in *InProject) (*guardianRulesOutput, error) {
		project, err := in.id()
		if err != nil {
			return nil, err
		}
		return s.listGuardianRules(ctx, project)
	})
	register(s, operation{
		id: "getGuardianRule", method: http.MethodGet, path: path + "/guardian/rules/{name}", tag: "guardian", summary: "Get the versions of a rule of the guardian", access: read, about: "The newest first.",
	}, func(ctx context.Context, _ *call, in *GuardianRuleInProject) (*guardianRulesOutput, error) {
		project, err := in.id()
		if err != nil {
			return nil, err
		}
		return s.getGuardianRule(ctx, project, in.Name)
	})
	register(s, operation{
		id: "setGuardianRule", method: http.MethodPut, path: path + "/guardian/rules/{name}", tag: "guardian", summary: "Make or replace a rule of the guardian", access: write, about: "The expression is checked at once; an error shows its line and column.", body: body{limit: MaxJSONBody},
	}, func(ctx context.Context, c *call, in *SetGuardianRuleInProject) (*guardianRuleOutput, error) {
		project, err := in.id()
		if err != nil {
			return nil, err
		}
		return s.setGuardianRule(ctx, c, project, in.SetGuardianRule)
	})
	register(s, operation{
		id: "deleteGuardianRule", method: http.MethodDelete, path: path + "/guardian/rules/{name}", tag: "guardian", summary: "Delete a rule of the guardian", access: write, about: "Its versions are kept: decisions name them.", status: http.StatusNoContent,
	}, func(ctx context.Context, c *call, in *DeleteGuardianRuleInProject) (*nothing, error) {
		project, err := in.id()
		if err != nil {
			return nil, err
		}
		return s.deleteGuardianRule(ctx, c, project, in.DeleteGuardianRule)
	})
	register(s, operation{
		id: "testGuardianRule", method: http.MethodPost, path: path + "/guardian/rule-tests", tag: "guardian", summary: "Say what a rule would have decided differently", access: read, about: "The newest 1,000 decisions are decided again with it. Nothing is kept.", body: body{limit: MaxJSONBody},
	}, func(ctx context.Context, _ *call, in *TestGuardianRuleInProject) (*ruleTestOutput, error) {
		project, err := in.id()
		if err != nil {
			return nil, err
		}
		return s.testGuardianRule(ctx, project, in.TestGuardianRule)
	})
	register(s, operation{
		id: "listOverrides", method: http.MethodGet, path: path + "/guardian/overrides", tag: "guardian", summary: "List exceptions from rules of the guardian", access: read, about: "Those that have ended too.",
	}, func(ctx context.Context, c *call, in *ListInProject) (*Listed[policy.GuardianOverride], error) {
		project, err := in.id()
		if err != nil {
			return nil, err
		}
		return s.listOverrides(ctx, c, project, in.Paging)
	})
	register(s, operation{
		id: "addOverride", method: http.MethodPost, path: path + "/guardian/overrides", tag: "guardian", summary: "Make an exception from a rule of the guardian", access: write, about: "It ends by itself.", body: body{limit: MaxJSONBody}, retry: retryWithKey, status: http.StatusCreated,
	}, func(ctx context.Context, c *call, in *NewOverrideInProject) (*overrideOutput, error) {
		project, err := in.id()
		if err != nil {
			return nil, err
		}
		return s.addOverride(ctx, c, project, in.NewOverride)
	})
	register(s, operation{
		id: "endOverride", method: http.MethodDelete, path: path + "/guardian/overrides/{override}", tag: "guardian", summary: "End an exception before its time", access: write, status: http.StatusNoContent,
	}, func(ctx context.Context, c *call, in *OverrideInProject) (*nothing, error) {
		project, err := in.id()
		if err != nil {
			return nil, err
		}
		return s.endOverride(ctx, c, project, in.OverrideName)
	})
	register(s, operation{
		id: "listApprovals", method: http.MethodGet, path: path + "/approvals", tag: "guardian", summary: "List what rules of the guardian ask about", access: read,
	}, func(ctx context.Context, c *call, in *ListApprovalsInProject) (*Listed[policy.GuardianApproval], error) {
		project, err := in.id()
		if err != nil {
			return nil, err
		}
		return s.listApprovals(ctx, c, project, in.ListApprovals)
	})
	register(s, operation{
		id: "getApproval", method: http.MethodGet, path: path + "/approvals/{approval}", tag: "guardian", summary: "Get an approval", access: read,
	}, func(ctx context.Context, _ *call, in *ApprovalInProject) (*approvalOutput, error) {
		project, err := in.id()
		if err != nil {
			return nil, err
		}
		return s.getApproval(ctx, project, in.ApprovalName)
	})
	register(s, operation{
		id: "decideApproval", method: http.MethodPost, path: path + "/approvals/{approval}/decide", tag: "guardian", summary: "Say yes or no to what a rule asks about", access: review, about: "A job that waits for it is lent, or cancelled. Of anything else the same request passes once, when it is sent again.", body: body{limit: MaxJSONBody},
	}, func(ctx context.Context, c *call, in *DecideApprovalInProject) (*approvalOutput, error) {
		project, err := in.id()
		if err != nil {
			return nil, err
		}
		return s.decideApproval(ctx, c, project, in.DecideApproval)
	})
}

// serverGuardianOperations are those about the whole installation.
func (s *server) serverGuardianOperations() {
	const path = "/v1"
	operators := roles(functions.RoleOperator)
	register(s, operation{
		id: "getServerGuardian", method: http.MethodGet, path: path + "/guardian", tag: "guardian", summary: "Say how the guardian stands, of the installation", access: operators, about: "By which rules is decided, which exceptions are in force, how many approvals wait, and what was decided in a day.",
	}, func(ctx context.Context, _ *call, _ *struct{}) (*guardianStatusOutput, error) {
		return s.guardianStatus(ctx, uuid.Nil)
	})
	register(s, operation{
		id: "changeServerGuardian", method: http.MethodPut, path: path + "/guardian", tag: "guardian", summary: "Change the settings of the guardian, of the installation", access: operators, body: body{limit: MaxJSONBody},
	}, func(ctx context.Context, c *call, in *GuardianSettings) (*guardianStatusOutput, error) {
		return s.setGuardianSettings(ctx, c, uuid.Nil, *in)
	})
	register(s, operation{
		id: "listServerGuardianRules", method: http.MethodGet, path: path + "/guardian/rules", tag: "guardian", summary: "List the rules of the guardian, of the installation", access: operators, about: "By layer and name: those that ship with the program, the operators' and the project's.",
	}, func(ctx context.Context, _ *call, _ *struct{}) (*guardianRulesOutput, error) {
		return s.listGuardianRules(ctx, uuid.Nil)
	})
	register(s, operation{
		id: "getServerGuardianRule", method: http.MethodGet, path: path + "/guardian/rules/{name}", tag: "guardian", summary: "Get the versions of a rule of the guardian, of the installation", access: operators, about: "The newest first.",
	}, func(ctx context.Context, _ *call, in *GuardianRuleName) (*guardianRulesOutput, error) {
		return s.getGuardianRule(ctx, uuid.Nil, in.Name)
	})
	register(s, operation{
		id: "setServerGuardianRule", method: http.MethodPut, path: path + "/guardian/rules/{name}", tag: "guardian", summary: "Make or replace a rule of the guardian, of the installation", access: operators, about: "The expression is checked at once; an error shows its line and column.", body: body{limit: MaxJSONBody},
	}, func(ctx context.Context, c *call, in *SetGuardianRule) (*guardianRuleOutput, error) {
		return s.setGuardianRule(ctx, c, uuid.Nil, *in)
	})
	register(s, operation{
		id: "deleteServerGuardianRule", method: http.MethodDelete, path: path + "/guardian/rules/{name}", tag: "guardian", summary: "Delete a rule of the guardian, of the installation", access: operators, about: "Its versions are kept: decisions name them.", status: http.StatusNoContent,
	}, func(ctx context.Context, c *call, in *DeleteGuardianRule) (*nothing, error) {
		return s.deleteGuardianRule(ctx, c, uuid.Nil, *in)
	})
	register(s, operation{
		id: "testServerGuardianRule", method: http.MethodPost, path: path + "/guardian/rule-tests", tag: "guardian", summary: "Say what a rule would have decided differently, of the installation", access: operators, about: "The newest 1,000 decisions are decided again with it. Nothing is kept.", body: body{limit: MaxJSONBody},
	}, func(ctx context.Context, _ *call, in *TestGuardianRule) (*ruleTestOutput, error) {
		return s.testGuardianRule(ctx, uuid.Nil, *in)
	})
	register(s, operation{
		id: "listServerOverrides", method: http.MethodGet, path: path + "/guardian/overrides", tag: "guardian", summary: "List exceptions from rules of the guardian, of the installation", access: operators, about: "Those that have ended too.",
	}, func(ctx context.Context, c *call, in *Paging) (*Listed[policy.GuardianOverride], error) {
		return s.listOverrides(ctx, c, uuid.Nil, *in)
	})
	register(s, operation{
		id: "addServerOverride", method: http.MethodPost, path: path + "/guardian/overrides", tag: "guardian", summary: "Make an exception from a rule of the guardian, of the installation", access: operators, about: "It ends by itself.", body: body{limit: MaxJSONBody}, retry: retryWithKey, status: http.StatusCreated,
	}, func(ctx context.Context, c *call, in *NewOverride) (*overrideOutput, error) {
		return s.addOverride(ctx, c, uuid.Nil, *in)
	})
	register(s, operation{
		id: "endServerOverride", method: http.MethodDelete, path: path + "/guardian/overrides/{override}", tag: "guardian", summary: "End an exception before its time, of the installation", access: operators, status: http.StatusNoContent,
	}, func(ctx context.Context, c *call, in *OverrideName) (*nothing, error) {
		return s.endOverride(ctx, c, uuid.Nil, *in)
	})
	register(s, operation{
		id: "listServerApprovals", method: http.MethodGet, path: path + "/approvals", tag: "guardian", summary: "List what rules of the guardian ask about, of the installation", access: operators,
	}, func(ctx context.Context, c *call, in *ListApprovals) (*Listed[policy.GuardianApproval], error) {
		return s.listApprovals(ctx, c, uuid.Nil, *in)
	})
	register(s, operation{
		id: "getServerApproval", method: http.MethodGet, path: path + "/approvals/{approval}", tag: "guardian", summary: "Get an approval, of the installation", access: operators,
	}, func(ctx context.Context, _ *call, in *ApprovalName) (*approvalOutput, error) {
		return s.getApproval(ctx, uuid.Nil, *in)
	})
	register(s, operation{
		id: "decideServerApproval", method: http.MethodPost, path: path + "/approvals/{approval}/decide", tag: "guardian", summary: "Say yes or no to what a rule asks about, of the installation", access: operators, about: "A job that waits for it is lent, or cancelled. Of anything else the same request passes once, when it is sent again.", body: body{limit: MaxJSONBody},
	}, func(ctx context.Context, c *call, in *DecideApproval) (*approvalOutput, error) {
		return s.decideApproval(ctx, c, uuid.Nil, *in)
	})
}
