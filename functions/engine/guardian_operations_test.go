package engine_test

import (
	"bytes"
	"crypto/ed25519"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/archive"
	"github.com/ostraka/ostraka/functions/auditlog"
	"github.com/ostraka/ostraka/functions/fleet"
	"github.com/ostraka/ostraka/functions/planner"
	"github.com/ostraka/ostraka/functions/policy"
	"github.com/ostraka/ostraka/functions/registry"
	"github.com/ostraka/ostraka/functions/review"
	"github.com/ostraka/ostraka/functions/schedule"
	"github.com/ostraka/ostraka/functions/tenant"
	"github.com/ostraka/ostraka/functions/webhook"
	"github.com/ostraka/ostraka/functions/workflow"
	"github.com/ostraka/ostraka/guardian"
)

// TestEveryOperationIsDecided calls everything that changes something, while the operators refuse everything: each is refused and recorded,
// but for what protects.
func TestEveryOperationIsDecided(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	job, flowing := w.submit(4), w.agent(honest)
	rule, _, err := w.CreateRule(ctx, w.by, w.project, planner.Rule{Name: "next", When: "true", Then: planner.Then{Function: "numbers", Partition: "{}"}}, functions.Idempotency{})
	require.NoError(t, err)
	key, _, _, err := w.CreateKey(ctx, w.by, w.project, "other", functions.RoleViewer, nil, functions.Idempotency{})
	require.NoError(t, err)
	token, _, _, err := w.CreateEnrolmentToken(ctx, w.by, w.project, fleet.NewEnrolmentToken{Name: "more"}, functions.Idempotency{})
	require.NoError(t, err)
	file, err := w.PutFile(ctx, w.by, w.project, "a.txt", "", strings.NewReader("a"), registry.FileCondition{})
	require.NoError(t, err)
	own := w.guard(guardRule("mine", guardian.Allow, ""))
	override, _, err := w.AddOverride(ctx, w.by, w.project, policy.NewOverride{Rule: "mine", Reason: "x", For: time.Hour}, functions.Idempotency{})
	require.NoError(t, err)
	ended := w.submit(1)
	_, err = w.CancelJob(ctx, w.by, w.project, ended.ID)
	require.NoError(t, err)
	w.settleAll()
	pending := w.enrol("", "stranger", honest).id
	going, paused := w.schedule("going"), w.schedule("paused", func(s *schedule.Spec) { s.Paused = true })
	hook, _ := w.hook("hook", "https://hooks.example/x")
	stopped, _ := w.hook("stopped", "https://hooks.example/x")
	_, err = w.PauseWebhook(ctx, w.by, w.project, stopped.ID)
	require.NoError(t, err)
	_, _, err = w.TestWebhook(ctx, w.by, w.project, hook.ID, functions.Idempotency{})
	require.NoError(t, err)
	delivery := w.deliveries(hook.ID)[0].ID
	w.inProject("update webhook_deliveries set state = 'failed'")
	pins := w.twicePins()
	w.pushTwice()
	_, _, err = w.PushWorkflow(ctx, w.by, w.project, workflow.Push{Text: strings.ReplaceAll(twice, "twice", "unused"), Functions: pins})
	require.NoError(t, err)
	goingRun, pausedRun, endedRun := w.startTwice(nil), w.startTwice(nil), w.startTwice(nil)
	_, err = w.PauseWorkflowRun(ctx, w.by, w.project, pausedRun.ID)
	require.NoError(t, err)
	_, err = w.CancelWorkflowRun(ctx, w.by, w.project, endedRun.ID)
	require.NoError(t, err)
	rollingRun := w.startCampaign("100")
	w.settleAll()
	oldTree, _ := w.storedTree("old")
	newTree, _ := w.storedTree("new")
	_, _, err = w.AddRuntime(ctx, w.by, w.project, registry.NewRuntime{Name: "old", Digest: oldTree})
	require.NoError(t, err)
	_, newcomer, err := ed25519.GenerateKey(nil)
	require.NoError(t, err)
	before := w.counts()

	_, err = w.SetGuardianRule(ctx, w.server, uuid.Nil, guardRule("nothing", guardian.Deny, ""), 0)
	require.NoError(t, err)
	scope := fleet.KillScope{Scope: "project", Project: &w.project}
	no := functions.Idempotency{}
	calls := map[string]func() error{
		"enrolAgent":       func() error { _, _, err := w.join(newcomer, w.token, "newcomer", ""); return err },
		"approveAgent":     func() error { _, err := w.DecideAgent(ctx, w.server, pending, fleet.ApproveAgent, ""); return err },
		"assignAgentOwner": func() error { _, err := w.AssignOwner(ctx, w.server, flowing.id, "me"); return err },
		"admitAgent":       func() error { _, err := w.AdmitAgent(ctx, w.by, w.project, flowing.id, "", ""); return err },
		"pardonAgent":      func() error { _, err := w.PardonAgent(ctx, w.by, w.project, flowing.id, "x"); return err },
		"createProject":    func() error { _, _, _, err := w.CreateProject(ctx, w.server, "another", no); return err },
		"updateProject": func() error {
			_, err := w.UpdateProject(ctx, w.by, w.project, tenant.ProjectChange{AgentsOpen: new(false)}, 1)
			return err
		},
		"setQuotas": func() error {
			_, err := w.SetQuotas(ctx, w.server, w.project, map[functions.QuotaName]*int64{functions.QuotaOpenJobs: nil})
			return err
		},
		"pruneAudit":       func() error { _, err := w.PruneAudit(ctx, w.by, w.project, time.Now()); return err },
		"pruneServerAudit": func() error { _, err := w.PruneAudit(ctx, w.server, uuid.Nil, time.Now()); return err },
		"restartAudit": func() error {
			_, err := w.RestartLog(ctx, w.by, w.project, auditlog.NewRestart{Reason: "x"})
			return err
		},
		"restartServerAudit": func() error {
			_, err := w.RestartLog(ctx, w.server, uuid.Nil, auditlog.NewRestart{Reason: "x"})
			return err
		},
		"createEnrolmentToken": func() error {
			_, _, _, err := w.CreateEnrolmentToken(ctx, w.by, w.project, fleet.NewEnrolmentToken{Name: "x"}, no)
			return err
		},
		"nameFile": func() error {
			_, err := w.NameObject(ctx, w.by, w.project, "b.txt", file.Digest, registry.FileCondition{})
			return err
		},
		"putFile": func() error {
			_, err := w.PutFile(ctx, w.by, w.project, "b.txt", "", strings.NewReader("b"), registry.FileCondition{})
			return err
		},
		"addRuntime": func() error {
			_, _, err := w.AddRuntime(ctx, w.by, w.project, registry.NewRuntime{Name: "new", Digest: newTree})
			return err
		},
		"deleteRuntime": func() error { return w.DeleteRuntime(ctx, w.by, w.project, oldTree) },
		"putObject":     func() error { _, err := w.StoreObject(ctx, w.by, w.project, "", strings.NewReader("c")); return err },
		"createUpload": func() error {
			_, _, err := w.CreateUpload(ctx, w.by, w.project, strings.Repeat("a", 64), 3, no)
			return err
		},
		"deleteFile": func() error { return w.DeleteFile(ctx, w.by, w.project, "a.txt", registry.FileCondition{}) },
		"archiveJob": func() error { _, err := w.ArchiveJob(ctx, w.by, w.project, ended.ID); return err },
		"importArchive": func() error {
			_, err := w.ImportArchive(ctx, w.by, w.project, archive.Import{Document: oldTree, Shards: newTree})
			return err
		},
		"deleteJob": func() error { _, err := w.DeleteJob(ctx, w.by, w.project, ended.ID); return err },
		"resolveShard": func() error {
			_, err := w.ResolveShard(ctx, w.by, w.project, job.ID, 0, review.Resolution{Decision: review.ResolveRetry, Reason: "x"})
			return err
		},
		"pushFunction": func() error {
			_, _, err := w.PushFunction(ctx, w.by, w.project, bytes.NewReader(w.pack("more", "")), nil)
			return err
		},
		"reviewCode":      func() error { _, err := w.ReviewCode(ctx, w.by, w.project, "numbers", 1, "allow", "x"); return err },
		"deprecateModule": func() error { _, err := w.DeprecateModule(ctx, w.by, w.project, "nothing", true, "x"); return err },
		"submitJob": func() error {
			_, _, err := w.SubmitJob(ctx, w.by, w.project, functions.NewJob{Function: "numbers", Partition: rangeOf(1), Quorum: 1}, no)
			return err
		},
		"callFunction": func() error {
			_, _, err := w.CallFunction(ctx, w.by, w.project, functions.NewJob{Function: "numbers", Items: []byte("1\n"), Quorum: 1}, time.Second, no)
			return err
		},
		"setJobPriority": func() error { _, err := w.SetPriority(ctx, w.by, w.project, job.ID, 6); return err },
		"createKey": func() error {
			_, _, _, err := w.CreateKey(ctx, w.by, w.project, "x", functions.RoleViewer, nil, no)
			return err
		},
		"rotateKey": func() error { _, _, _, err := w.RotateKey(ctx, w.by, w.project, key.ID, 0, nil, no); return err },
		"recoverOwner": func() error {
			_, _, _, err := w.RecoverOwner(ctx, w.server, w.project, "x", "lost", nil, no)
			return err
		},
		"registerSigningKey": func() error {
			_, _, err := w.RegisterSigningKey(ctx, w.by, w.project, functions.NewSigningKey{Generation: 1})
			return err
		},
		"createRule": func() error {
			_, _, err := w.CreateRule(ctx, w.by, w.project, planner.Rule{Name: "more", When: "true", Then: planner.Then{Function: "numbers", Partition: "{}"}}, no)
			return err
		},
		"replaceRule": func() error {
			_, err := w.UpdateRule(ctx, w.by, w.project, rule.ID, rule.Spec, rule.Revision)
			return err
		},
		"deleteRule": func() error { return w.DeleteRule(ctx, w.by, w.project, rule.ID, rule.Revision) },
		"createSchedule": func() error {
			_, _, err := w.CreateSchedule(ctx, w.by, w.project, hourly("more"), no)
			return err
		},
		"replaceSchedule": func() error {
			_, err := w.UpdateSchedule(ctx, w.by, w.project, going.ID, hourly("other"), going.Revision)
			return err
		},
		"resumeSchedule": func() error { _, err := w.ResumeSchedule(ctx, w.by, w.project, paused.ID); return err },
		"runSchedule":    func() error { _, _, err := w.RunSchedule(ctx, w.by, w.project, going.ID, no); return err },
		"pauseSchedule":  func() error { _, err := w.PauseSchedule(ctx, w.by, w.project, going.ID); return err },
		"deleteSchedule": func() error { return w.DeleteSchedule(ctx, w.by, w.project, paused.ID, paused.Revision) },
		"createWebhook": func() error {
			_, _, _, err := w.CreateWebhook(ctx, w.by, w.project, webhook.Spec{Name: "more", URL: "https://hooks.example/x", Kinds: functions.WebhookKinds()}, no)
			return err
		},
		"resumeWebhook":       func() error { _, err := w.ResumeWebhook(ctx, w.by, w.project, stopped.ID); return err },
		"rotateWebhookSecret": func() error { _, _, _, err := w.RotateWebhookSecret(ctx, w.by, w.project, hook.ID, no); return err },
		"updateWebhook": func() error {
			_, err := w.UpdateWebhook(ctx, w.by, w.project, hook.ID, webhook.Change{URL: "https://hooks.example/moved"})
			return err
		},
		"testWebhook":           func() error { _, _, err := w.TestWebhook(ctx, w.by, w.project, hook.ID, no); return err },
		"replayWebhookDelivery": func() error { _, err := w.ReplayWebhookDelivery(ctx, w.by, w.project, hook.ID, delivery); return err },
		"pauseWebhook":          func() error { _, err := w.PauseWebhook(ctx, w.by, w.project, hook.ID); return err },
		"deleteWebhook":         func() error { return w.DeleteWebhook(ctx, w.by, w.project, stopped.ID) },
		"createSession":         func() error { _, err := w.OpenSession(ctx, w.by, "x"); return err },
		"createSignInLink":      func() error { _, _, err := w.CreateSignInLink(ctx, w.by); return err },
		"changeGuardian":        func() error { return w.SetFourEyes(ctx, w.by, w.project, true) },
		"setGuardianRule":       func() error { _, err := w.SetGuardianRule(ctx, w.by, w.project, own.Rule, 1); return err },
		"deleteGuardianRule":    func() error { return w.DeleteGuardianRule(ctx, w.by, w.project, "mine", 1) },
		"pushWorkflow": func() error {
			_, _, err := w.PushWorkflow(ctx, w.by, w.project, workflow.Push{Text: strings.ReplaceAll(twice, "twice", "thrice"), Functions: pins})
			return err
		},
		"startWorkflow": func() error {
			_, _, err := w.StartWorkflow(ctx, w.by, w.project, workflow.Start{Workflow: "twice"}, no)
			return err
		},
		"resumeWorkflowRun": func() error { _, err := w.ResumeWorkflowRun(ctx, w.by, w.project, pausedRun.ID); return err },
		"pauseWorkflowRun":  func() error { _, err := w.PauseWorkflowRun(ctx, w.by, w.project, goingRun.ID); return err },
		"cancelWorkflowRun": func() error { _, err := w.CancelWorkflowRun(ctx, w.by, w.project, goingRun.ID); return err },
		"extendWorkflowRun": func() error {
			_, err := w.ExtendWorkflowRun(ctx, w.by, w.project, rollingRun.ID, "", "2^65")
			return err
		},
		"retryWorkflowRun":  func() error { _, err := w.RetryWorkflowRun(ctx, w.by, w.project, rollingRun.ID, ""); return err },
		"deleteWorkflowRun": func() error { return w.DeleteWorkflowRun(ctx, w.by, w.project, endedRun.ID) },
		"deleteWorkflow":    func() error { return w.DeleteWorkflow(ctx, w.by, w.project, "unused", 1) },
		"addOverride": func() error {
			_, _, err := w.AddOverride(ctx, w.by, w.project, policy.NewOverride{Rule: "mine", Reason: "x", For: time.Hour}, no)
			return err
		},
		"changeServerGuardian": func() error { return w.SetFourEyes(ctx, w.server, uuid.Nil, true) },
		"resumeAgent": func() error {
			return w.paused(flowing.id, func() error { _, err := w.DecideAgent(ctx, w.server, flowing.id, fleet.ResumeAgent, ""); return err })
		},
		"release": func() error {
			_, err := w.Release(ctx, w.server, fleet.KillScope{Scope: fleet.ScopeEverything})
			return err
		},
		"releaseInProject": func() error { _, err := w.Release(ctx, w.by, scope); return err },
		"kill": func() error {
			_, err := w.Kill(ctx, w.server, fleet.KillScope{Scope: fleet.ScopeEverything}, "x", false)
			return err
		},
		"killInProject":        func() error { _, err := w.Kill(ctx, w.by, scope, "x", false); return err },
		"cancelJob":            func() error { _, err := w.CancelJob(ctx, w.by, w.project, job.ID); return err },
		"revokeKey":            func() error { return w.RevokeKey(ctx, w.by, w.project, key.ID) },
		"revokeEnrolmentToken": func() error { return w.RevokeEnrolmentToken(ctx, w.by, w.project, token.ID) },
		"excludeAgent":         func() error { _, err := w.ExcludeAgent(ctx, w.by, w.project, flowing.id, "x"); return err },
		"endOverride":          func() error { return w.EndOverride(ctx, w.by, w.project, override.ID) },
		"setServerGuardianRule": func() error {
			_, err := w.SetGuardianRule(ctx, w.server, uuid.Nil, guardRule("other", guardian.Allow, ""), 0)
			return err
		},
		"addServerOverride": func() error {
			_, _, err := w.AddOverride(ctx, w.server, uuid.Nil, policy.NewOverride{Rule: "other", Reason: "x", For: time.Hour}, no)
			return err
		},
		"deleteServerGuardianRule": func() error { return w.DeleteGuardianRule(ctx, w.server, uuid.Nil, "other", 1) },
		"drainAgent":               func() error { _, err := w.DecideAgent(ctx, w.server, flowing.id, fleet.DrainAgent, ""); return err },
		"quarantineAgent": func() error {
			_, err := w.DecideAgent(ctx, w.server, flowing.id, fleet.QuarantineAgent, "")
			return err
		},
		"revokeAgent": func() error { _, err := w.DecideAgent(ctx, w.server, flowing.id, fleet.RevokeAgent, ""); return err },
	}
	// elsewhere are those that other tests try: what they are about is not made in a line.
	elsewhere := []string{
		"startBulkAction", "startServerBulkAction", "retryBulkAction", "retryServerBulkAction", "undoBulkAction", "undoServerBulkAction", "cancelBulkAction", "cancelServerBulkAction",
		"leaseShards", "resolveFlag", "reaggregateJob", "pushModule", "tryModule", "terminateSandbox", "terminateProjectSandbox", "revokeSession",
		"decideApproval", "decideServerApproval", "endServerOverride",
	}
	protects := []guardian.Kind{
		guardian.SwitchOn, guardian.JobCancel, guardian.KeyRevoke, guardian.TokenRevoke, guardian.AgentExclude, guardian.AgentPause,
		guardian.AgentRevoke, guardian.OverrideEnd, guardian.WebhookStop,
	}
	aboutRules := []string{"setServerGuardianRule", "addServerOverride", "deleteServerGuardianRule"} // operators can always take a rule back
	for operation, kind := range guardian.ForAPI() {
		if slices.Contains(elsewhere, operation) {
			continue
		}
		require.Contains(t, calls, operation, "say here how %s is called", operation)
		if slices.Contains(protects, kind) || slices.Contains(aboutRules, operation) || strings.HasPrefix(operation, "release") {
			continue
		}
		recorded := w.denials(kind)
		requireCode(t, calls[operation](), "denied_by_guardian")
		require.Equal(t, recorded+1, w.denials(kind), "%s is recorded once", operation)
	}
	require.Equal(t, before, w.counts(), "of what was refused nothing is left")
	for _, operation := range []string{"killInProject", "kill"} {
		require.NoError(t, calls[operation](), operation)
	}
	for _, operation := range []string{"release", "releaseInProject"} {
		requireCode(t, calls[operation](), "denied_by_guardian")
	}
	for _, operation := range []string{"cancelJob", "revokeKey", "revokeEnrolmentToken", "excludeAgent", "endOverride", "drainAgent", "quarantineAgent", "revokeAgent", "pauseSchedule", "deleteSchedule", "pauseWebhook", "deleteWebhook", "pauseWorkflowRun", "cancelWorkflowRun"} {
		require.NoError(t, calls[operation](), operation)
	}
	for _, operation := range aboutRules {
		require.NoError(t, calls[operation](), operation)
	}
	require.NoError(t, w.DeleteGuardianRule(ctx, w.server, uuid.Nil, "nothing", 1))
	require.NoError(t, calls["createKey"](), "no rule that was compiled before decides")
}

// counts are the rows of what operations make.
func (w *world) counts() (n []int64) {
	for _, table := range []string{"jobs", "function_versions", "files", "rules", "guardian_rules", "guardian_overrides", "guardian_approvals", "leases", "schedules", "schedule_firings", "webhooks", "webhook_deliveries", "workflow_versions", "workflow_runs"} {
		n = append(n, w.count("select count(*) from "+table))
	}
	for _, table := range []string{"projects", "api_keys", "enrolment_tokens", "open_jobs", "sessions", "agents", "uploads"} {
		var rows int64
		require.NoError(w.t, w.store.Pool.QueryRow(w.t.Context(), "select count(*) from ostraka."+table).Scan(&rows))
		n = append(n, rows)
	}
	return n
}

// denials counts the refusals of an operation in both logs.
func (w *world) denials(kind guardian.Kind) int64 {
	const refused = " where action = 'guardian.decide' and detail ->> 'decision' = 'deny' and detail ->> 'operation' = $1 and detail -> 'facts' is not null"
	var server int64
	require.NoError(w.t, w.store.Pool.QueryRow(w.t.Context(), "select count(*) from ostraka.server_audit"+refused, kind).Scan(&server))
	return server + w.count("select count(*) from audit"+refused, kind)
}

// paused drains an agent around something.
func (w *world) paused(id uuid.UUID, do func() error) error {
	_, err := w.DecideAgent(w.t.Context(), w.server, id, fleet.DrainAgent, "")
	require.NoError(w.t, err)
	return do()
}
