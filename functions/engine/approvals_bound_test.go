package engine_test

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/auditlog"
	"github.com/ostraka/ostraka/functions/bulk"
	"github.com/ostraka/ostraka/functions/dispatch"
	"github.com/ostraka/ostraka/functions/fleet"
	"github.com/ostraka/ostraka/functions/planner"
	"github.com/ostraka/ostraka/functions/policy"
	"github.com/ostraka/ostraka/functions/registry"
	"github.com/ostraka/ostraka/functions/review"
	"github.com/ostraka/ostraka/functions/tenant"
	"github.com/ostraka/ostraka/functions/webhook"
	"github.com/ostraka/ostraka/functions/workflow"
	"github.com/ostraka/ostraka/guardian"
)

// unlike are two requests of one kind that a yes to one of them must not let pass for the other. The number says which.
type unlike struct {
	kind guardian.Kind
	call func(n int64) error
}

// TestAYesIsForExactlyWhatWasAsked makes requests that differ in one thing that was asked for: each is asked about, and the first sent again is
// the one that was asked already. Operations that can wait and are not here are in boundElsewhere.
func TestAYesIsForExactlyWhatWasAsked(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.guard(guardRule("mine", guardian.Allow, ""))
	pairs := w.unlikePairs()
	var kinds []guardian.Kind
	seen := map[guardian.Kind]bool{}
	for _, p := range pairs {
		if !seen[p.kind] {
			seen[p.kind], kinds = true, append(kinds, p.kind)
		}
	}
	_, err := w.SetGuardianRule(t.Context(), w.server, uuid.Nil, guardRule("all", guardian.Ask, "", kinds...), 0)
	require.NoError(t, err)
	const waiting = "select count(*) from guardian_approvals where state = 'waiting' and kind = $1"
	for name, p := range pairs {
		before := w.count(waiting, p.kind) + w.controlCount(waiting, p.kind)
		for _, n := range []int64{1, 2, 1, 2} {
			requireCode(t, p.call(n), "approval_needed")
		}
		require.Equal(t, before+2, w.count(waiting, p.kind)+w.controlCount(waiting, p.kind), name)
	}
	for _, d := range guardian.Operations() {
		if reason, other := boundElsewhere[d.Kind]; d.Waits && !other {
			require.True(t, seen[d.Kind], "say here what two requests of %s differ in, or in boundElsewhere why they need not be tried", d.Kind)
		} else {
			require.Equal(t, other, reason != "", d.Kind)
			require.False(t, other && seen[d.Kind], "%s is tried", d.Kind)
		}
	}
}

// boundElsewhere are operations that can wait and whose binding is tried by another test, or follows from their facts.
var boundElsewhere = map[guardian.Kind]string{
	guardian.JobSubmit:      "its yes is for the job that was made and waits: TestAJobWaitsForAnApproval",
	guardian.JobFollowUp:    "as job.submit: TestFourEyesAreThoseOfWhoSubmitted",
	guardian.JobSchedule:    "nothing asks about it yet",
	guardian.JobDispatch:    "one yes is for all leases of the job: TestFourEyesAreThoseOfWhoSubmitted",
	guardian.JobRecheck:     "one yes is for all rechecks of the job, as for its leases",
	guardian.SandboxOpen:    "one yes is for all rechecks of the job, as for its leases",
	guardian.JobAggregate:   "needs a job that has ended; the module, its digest and its parameters are asked for",
	guardian.DataArchive:    "needs jobs that have ended; its facts have the ID of the job",
	guardian.DataImport:     "needs an archive; its facts have the ID of the job and the digest of the document",
	guardian.FlagResolve:    "needs a flag; its group and revision are asked for, as the group of shard.resolve is",
	guardian.ModelAsk:       "needs a model; the digest of all that is sent is asked for",
	guardian.ModulePublish:  "needs a module; its facts have the digest of its bytes",
	guardian.ModuleTry:      "needs a module; its parameters and the digest of the records are asked for",
	guardian.RuntimePublish: "needs trees that are stored; its facts have the digest",
	guardian.SwitchOff:      "its facts have the ID of the switch: TestAYesIsForOneSwitch",
}

func (w *world) unlikePairs() map[string]unlike {
	all := w.unlikeInProject()
	for name, p := range w.unlikeKeys() {
		all[name] = p
	}
	for name, p := range w.unlikeOfServer() {
		all[name] = p
	}
	for name, p := range w.unlikeWorkflows() {
		all[name] = p
	}
	return all
}

// text is another text for each number.
func text(n int64) string { return strings.Repeat("x", int(n)) }

func (w *world) unlikeInProject() map[string]unlike {
	ctx, no := w.t.Context(), functions.Idempotency{}
	job := w.submit(1)
	w.settleAll()
	file, err := w.PutFile(ctx, w.by, w.project, "a.txt", "", strings.NewReader("a"), registry.FileCondition{})
	require.NoError(w.t, err)
	return map[string]unlike{
		"the condition of a guardian's rule": {guardian.GuardRuleChange, func(n int64) error {
			_, err := w.SetGuardianRule(ctx, w.by, w.project, guardRule("new", guardian.Allow, `subject == "`+text(n)+`"`), 0)
			return err
		}},
		"what a rule for follow-ups runs": {guardian.RuleChange, func(n int64) error {
			_, _, err := w.CreateRule(ctx, w.by, w.project, planner.Rule{Name: "next", When: "true", Then: planner.Then{Function: text(n), Partition: "{}"}}, no)
			return err
		}},
		"how long an exception lasts": {guardian.OverrideGrant, func(n int64) error {
			_, _, err := w.AddOverride(ctx, w.by, w.project, policy.NewOverride{Rule: "mine", Reason: "x", For: time.Duration(n) * time.Hour}, no)
			return err
		}},
		"whether a file is replaced": {guardian.FileUpload, func(n int64) error {
			_, err := w.NameObject(ctx, w.by, w.project, "b.txt", file.Digest, registry.FileCondition{New: n == 1})
			return err
		}},
		"the content of a file that is deleted": {guardian.DataDelete, func(n int64) error {
			w.sql("update "+w.schema()+".files set digest = $1 where name = 'a.txt'", strings.Repeat(string(rune('a'+n)), 64))
			return w.DeleteFile(ctx, w.by, w.project, "a.txt", registry.FileCondition{})
		}},
		"the reason of a deprecation": {guardian.ModuleDeprecate, func(n int64) error {
			_, err := w.DeprecateModule(ctx, w.by, w.project, "nothing", true, text(n))
			return err
		}},
		"the output that is accepted": {guardian.ShardResolve, func(n int64) error {
			_, err := w.ResolveShard(ctx, w.by, w.project, job.ID, 0, review.Resolution{Decision: review.ResolveAccept, Digest: strings.Repeat(string(rune('a'+n)), 64), Reason: "x"})
			return err
		}},
		"a verdict about code": {guardian.FunctionReview, func(n int64) error {
			_, err := w.ReviewCode(ctx, w.by, w.project, "numbers", 1, []string{"allow", "refuse"}[n-1], "x")
			return err
		}},
		"the content of a function": {guardian.FunctionPublish, func(n int64) error {
			_, _, err := w.PushFunction(ctx, w.by, w.project, bytes.NewReader(w.pack(text(n), "")), nil)
			return err
		}},
		"a priority": {guardian.JobPrioritise, func(n int64) error { _, err := w.SetPriority(ctx, w.by, w.project, job.ID, int(n)); return err }},
		"why a log begins anew": {guardian.AuditRestart, func(n int64) error {
			_, err := w.RestartLog(ctx, w.by, w.project, auditlog.NewRestart{Reason: text(n)})
			return err
		}},
		"up to when a log is pruned": {guardian.AuditPrune, func(n int64) error {
			_, err := w.PruneAudit(ctx, w.by, w.project, time.Date(2026, 1, int(n), 0, 0, 0, 0, time.UTC))
			return err
		}},
	}
}

func (w *world) unlikeWorkflows() map[string]unlike {
	ctx, no := w.t.Context(), functions.Idempotency{}
	pins := w.twicePins()
	w.pushTwice()
	moving, _ := w.hook("moving", "https://hooks.example/before")
	return map[string]unlike{
		"to which path a webhook moves": {guardian.WebhookChange, func(n int64) error {
			_, err := w.UpdateWebhook(ctx, w.by, w.project, moving.ID, webhook.Change{URL: "https://hooks.example/" + text(n)})
			return err
		}},
		"to which path events are posted": {guardian.WebhookChange, func(n int64) error {
			_, _, _, err := w.CreateWebhook(ctx, w.by, w.project, webhook.Spec{Name: "hook", URL: "https://hooks.example/" + text(n), Kinds: functions.WebhookKinds()}, no)
			return err
		}},
		"what a workflow says": {guardian.WorkflowPublish, func(n int64) error {
			_, _, err := w.PushWorkflow(ctx, w.by, w.project, workflow.Push{Text: strings.ReplaceAll(twice, "the two sums differ", text(n)), Functions: pins})
			return err
		}},
		"over what a workflow runs": {guardian.WorkflowStart, func(n int64) error {
			_, _, err := w.StartWorkflow(ctx, w.by, w.project, workflow.Start{Workflow: "twice", Parameters: map[string]json.RawMessage{"length": strconv.AppendInt(nil, n, 10)}}, no)
			return err
		}},
	}
}

func (w *world) unlikeKeys() map[string]unlike {
	ctx, no := w.t.Context(), functions.Idempotency{}
	key, _, _, err := w.CreateKey(ctx, w.by, w.project, "other", functions.RoleViewer, nil, no)
	require.NoError(w.t, err)
	at := time.Now().Add(time.Hour)
	create := func(role functions.Role, expires *functions.Expiry) error {
		_, _, _, err := w.CreateKey(ctx, w.by, w.project, "k", role, expires, no)
		return err
	}
	token := func(n fleet.NewEnrolmentToken) error {
		n.Name = "t"
		_, _, _, err := w.CreateEnrolmentToken(ctx, w.by, w.project, n, no)
		return err
	}
	return map[string]unlike{
		"for how long a key works": {guardian.KeyCreate, func(n int64) error { return create(functions.RoleOwner, &functions.Expiry{Seconds: n * 3600}) }},
		"until when a key works": {guardian.KeyCreate, func(n int64) error {
			return create(functions.RoleViewer, &functions.Expiry{At: at.Add(time.Duration(n))})
		}},
		"whether a key ends": {guardian.KeyCreate, func(n int64) error {
			return create(functions.RoleAuditor, []*functions.Expiry{nil, {Seconds: 60}}[n-1])
		}},
		"for how long a token works": {guardian.TokenCreate, func(n int64) error {
			return token(fleet.NewEnrolmentToken{Expires: &functions.Expiry{Seconds: n * 3600}})
		}},
		"for how many a token is": {guardian.TokenCreate, func(n int64) error { return token(fleet.NewEnrolmentToken{MaxUses: n}) }},
		"how long the old key works": {guardian.KeyCreate, func(n int64) error {
			_, _, _, err := w.RotateKey(ctx, w.by, w.project, key.ID, time.Duration(n)*time.Hour, nil, no)
			return err
		}},
		"why a project is recovered": {guardian.OwnerRecover, func(n int64) error {
			_, _, _, err := w.RecoverOwner(ctx, w.server, w.project, "x", text(n), nil, no)
			return err
		}},
		"what a signing key signs": {guardian.SigningKey, func(n int64) error {
			_, _, err := w.RegisterSigningKey(ctx, w.by, w.project, functions.NewSigningKey{Generation: 1, PublicKey: []byte("k"), Bundles: []functions.BundleSignature{{Function: text(n)}}})
			return err
		}},
	}
}

func (w *world) unlikeOfServer() map[string]unlike {
	ctx, no := w.t.Context(), functions.Idempotency{}
	one := w.agent(honest)
	pending, drained := w.enrol("", "stranger", honest).id, w.agent(honest).id
	_, err := w.DecideAgent(ctx, w.server, drained, fleet.DrainAgent, "")
	require.NoError(w.t, err)
	return map[string]unlike{
		"the value of a setting": {guardian.SettingChange, func(n int64) error {
			_, err := w.UpdateProject(ctx, w.server, w.project, tenant.ProjectChange{Weight: new(int(n) * 100)}, 1)
			return err
		}},
		"the value of a limit": {guardian.SettingChange, func(n int64) error {
			_, err := w.SetQuotas(ctx, w.server, w.project, map[functions.QuotaName]*int64{functions.QuotaOpenJobs: &n})
			return err
		}},
		"whether it is switched on": {guardian.SettingChange, func(n int64) error { return w.SetFourEyes(ctx, w.by, w.project, n == 1) }},
		"the name of a project": {guardian.ProjectCreate, func(n int64) error {
			_, _, _, err := w.CreateProject(ctx, w.server, "another-"+text(n), no)
			return err
		}},
		"for whom an agent is admitted": {guardian.AgentAdmit, func(n int64) error { _, err := w.AdmitAgent(ctx, w.by, w.project, one.id, text(n), ""); return err }},
		"whose an agent is":             {guardian.AgentAssign, func(n int64) error { _, err := w.AssignOwner(ctx, w.server, one.id, text(n)); return err }},
		"why an agent is pardoned":      {guardian.AgentPardon, func(n int64) error { _, err := w.PardonAgent(ctx, w.by, w.project, one.id, text(n)); return err }},
		"whom a bulk action is about": {guardian.BulkStart, func(n int64) error {
			of := bulk.BulkFilter{IDs: []uuid.UUID{one.id, drained}[n-1 : n]}
			_, _, err := w.StartBulkAction(ctx, w.by, w.project, bulk.Start{Subject: bulk.BulkAgents, Action: "exclude", Filter: of, Reason: "loud"}, no)
			return err
		}},
		"why an agent is approved": {guardian.AgentApprove, func(n int64) error {
			_, err := w.DecideAgent(ctx, w.server, pending, fleet.ApproveAgent, text(n))
			return err
		}},
		"why an agent is resumed": {guardian.AgentResume, func(n int64) error {
			_, err := w.DecideAgent(ctx, w.server, drained, fleet.ResumeAgent, text(n))
			return err
		}},
	}
}

// TestAYesIsForOneSwitch holds that a yes to releasing one switch is none to releasing the next that holds the same.
func TestAYesIsForOneSwitch(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	w.guard(guardRule("release", guardian.Ask, "", guardian.SwitchOff))
	scope := fleet.KillScope{Scope: "project", Project: &w.project}
	on := func() {
		_, err := w.Kill(ctx, w.by, scope, "x", false)
		require.NoError(t, err)
	}
	off := func() error { _, err := w.Release(ctx, w.by, scope); return err }
	on()
	requireCode(t, off(), "approval_needed")
	w.approve(w.by, w.waiting()[0])
	_, err := w.Release(ctx, w.server, scope) // operators are not bound by rules of the project
	require.NoError(t, err)
	on()
	requireCode(t, off(), "approval_needed")
	w.approve(w.by, w.waiting()[0])
	require.NoError(t, off())
}

// waiting are the approvals that wait in the project, the oldest first.
func (w *world) waiting() []policy.GuardianApproval {
	w.t.Helper()
	list, err := w.ListApprovals(w.t.Context(), w.project, policy.ApprovalWaiting, functions.ListPage{Limit: functions.MaxListLimit})
	require.NoError(w.t, err)
	return list
}

func (w *world) approve(by functions.Principal, a policy.GuardianApproval) {
	w.t.Helper()
	_, err := w.DecideApproval(w.t.Context(), by, w.project, a.ID, true, "fine")
	require.NoError(w.t, err)
}

// TestARefusalIsRecordedThoughPostgresWasAway holds that a refusal counts as told when its record is kept, and not before.
func TestARefusalIsRecordedThoughPostgresWasAway(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.guard(guardRule("nothing", guardian.Deny, "", guardian.JobDispatch))
	a := w.agent(honest)
	w.submit(1)
	w.settleAll()
	for n := 1; ; n++ {
		require.Less(t, n, mostStatements)
		w.faults.arm(n)
		lease, err := w.Lease(t.Context(), a.id, dispatch.Poll{Most: 1, Wait: 0}, functions.Idempotency{})
		if err == nil {
			require.Nil(t, lease)
		}
		if !w.disarm() {
			break
		}
	}
	require.Len(t, w.decided(guardian.JobDispatch), 1, "once, however often it was tried")
}
