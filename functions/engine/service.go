// Package engine wires the rooms of functions into one service. It holds no logic: the code of a subject is in its room.
package engine

import (
	"log/slog"
	"time"

	"github.com/ostraka/ostraka/audit"
	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/aggregation"
	"github.com/ostraka/ostraka/functions/archive"
	"github.com/ostraka/ostraka/functions/auditlog"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/bulk"
	"github.com/ostraka/ostraka/functions/dispatch"
	"github.com/ostraka/ostraka/functions/fleet"
	"github.com/ostraka/ostraka/functions/heuristics"
	"github.com/ostraka/ostraka/functions/insight"
	"github.com/ostraka/ostraka/functions/jobs"
	"github.com/ostraka/ostraka/functions/policy"
	"github.com/ostraka/ostraka/functions/registry"
	"github.com/ostraka/ostraka/functions/review"
	"github.com/ostraka/ostraka/functions/schedule"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/functions/submit"
	"github.com/ostraka/ostraka/functions/tenant"
	"github.com/ostraka/ostraka/functions/trust"
	"github.com/ostraka/ostraka/functions/trust/controls"
	"github.com/ostraka/ostraka/functions/trust/execution"
	"github.com/ostraka/ostraka/functions/verify"
	"github.com/ostraka/ostraka/functions/webhook"
	"github.com/ostraka/ostraka/functions/workflow"
	"github.com/ostraka/ostraka/guardian"
	"github.com/ostraka/ostraka/runtime/eula"
	"github.com/ostraka/ostraka/runtime/recheck"
	hooks "github.com/ostraka/ostraka/runtime/webhook"
	"github.com/ostraka/ostraka/wasm"
)

// Options are what a Service is made of.
type Options struct {
	Store   *store.Store
	Blobs   functions.Blobs
	Modules *wasm.Pool // runs strangers' modules outside this process
	Queue   functions.Queue
	Notices *base.Notices
	Log     *slog.Logger
	// LeaseTTL is how long a lease lives without a heartbeat. 0 means DefaultLeaseTTL.
	LeaseTTL time.Duration
	// FirstLoan is how many shards of a job an agent may hold that has brought nothing back. 0 means verify.FirstLoan.
	FirstLoan int64
	// ShareWait is how long an owner that has leased the stated share of a job waits for idle others. 0 means DefaultShareWait;
	// less means that it does not wait, and that shards are leased in the order of their numbers, first come, first served.
	ShareWait time.Duration
	// QuorumAudits is the share of the shards accepted by a quorum that a server executes as well. 0 means DefaultQuorumAudits; less means none.
	QuorumAudits float64
	// FollowupsOff switches follow-up jobs off for the whole installation.
	FollowupsOff bool
	// EULA is the agreement that agents must have accepted. The zero value means the one in this program.
	EULA eula.Document
	// TokensOnly refuses agents that have no enrolment token; otherwise they wait for approval.
	TokensOnly bool
	// Names are the URLs by which agents may know this server. None: any.
	Names []string
	// Heuristics are those of projects that say nothing.
	Heuristics functions.HeuristicsPolicy
	// Model is the external model, for projects whose policy asks it; the zero value: there is none.
	Model functions.ModelUse
	// ScoreTime is how long the heuristics may take for a page or a version. 0 means MaxScoreTime.
	ScoreTime time.Duration
	// Observe is told of verdicts and results for the metrics; nil means nobody listens.
	Observe functions.Observer
	// LogKey signs the heads of the audit logs, all servers the same; the zero value: one that the database keeps.
	LogKey audit.Key
	// AuditDays is for how many the server's own log keeps the content of records, and those of projects that say nothing; 0: until somebody prunes them.
	AuditDays int
	// ArchiveDays is after how many days ended jobs of projects that say nothing become archives; 0: never.
	ArchiveDays int
	// ArchiveBytes is how long the file of an archive may be; 0: archive.MaxBytes.
	ArchiveBytes int64
	// PackAfter is how long attempts of ended jobs stay rows; 0: archive.DefaultPackAfter.
	PackAfter time.Duration
	// SplitPages is how many pages of shards one transaction of a split makes. 0 means DefaultSplitPages.
	SplitPages int64
	// PreviewEvery is how long the preview of an answer stands before the next one is made. 0 means aggregation.PreviewEvery.
	PreviewEvery time.Duration
	// StatsTime is how long a request for statistics looks at the attempts of a job. 0 means jobs.StatsTime.
	StatsTime time.Duration
	// Rechecker executes shards on the server; nil: other servers do, or none.
	Rechecker functions.Rechecker
	// RecheckSlots is how many batches of a project it executes at a time, and one more of others; recheck.LongSlots besides for functions that may take long. 0 means DefaultRecheckSlots.
	RecheckSlots int
	// Quotas are the limits of projects that have no values of their own; what is not named has the value of quotas.go.
	Quotas map[functions.QuotaName]int64
	// RecheckSlice is how long a batch keeps its slot while others wait. 0 means RecheckSlice.
	RecheckSlice time.Duration
	// RecheckSeconds is for how many seconds a day servers execute the shards of a project that an operator has set nothing for; 0: for as
	// many as it takes.
	RecheckSeconds int64
	// Shortcuts has requests that submit a small job make its shards, and those that bring results carry out what follows from them, where
	// the job is small. Otherwise workers do, as they do after a crash in any case.
	Shortcuts bool
	// GuardianRules are those that ship with the program; nil: no rule does.
	GuardianRules []*guardian.Compiled
	// Webhooks posts events to the outside; nil: a client that calls public addresses only.
	Webhooks *hooks.Client
	// Now is the clock by which exceptions, approvals and conditions of the guardian end; nil: this machine's.
	Now func() time.Time
}

// DefaultLeaseTTL is long enough that a busy agent misses two heartbeats without harm, and short enough that the shards of a dead
// one are leased again within the minute.
const DefaultLeaseTTL = 30 * time.Second

// The rooms by the names under which the engine holds them.
type (
	// Tenant is the room of projects.
	Tenant = tenant.Service
	// Registry is the room of functions, modules and files.
	Registry = registry.Service
	// Fleet is the room of machines.
	Fleet = fleet.Service
	// Jobs is the room of jobs.
	Jobs = jobs.Service
	// Aggregation is the room of answers.
	Aggregation = aggregation.Service
	// Trust is the room of verdicts.
	Trust = trust.Service
	// Controls is the part of that room which judges shards with known answers.
	Controls = controls.Service
	// Execution is the part in which the server executes shards.
	Execution = execution.Service
	// Dispatch is the room of leases.
	Dispatch = dispatch.Service
	// Heuristics is the room of opinions.
	Heuristics = heuristics.Service
	// Review is the room of people's decisions.
	Review = review.Service
	// Submit is the room where jobs begin.
	Submit = submit.Service
	// Schedules is the room of schedules.
	Schedules = schedule.Service
	// Webhooks is the room of what is sent to the outside.
	Webhooks = webhook.Service
	// Workflows is the room of workflows.
	Workflows = workflow.Service
	// Policy is the room of the guardian.
	Policy = policy.Service
	// AuditLog is the room of proofs.
	AuditLog = auditlog.Service
	// Archives is the room of jobs in the object store.
	Archives = archive.Service
	// Bulk is the room of what is done to many.
	Bulk = bulk.Service
	// Insight is the room that sees the others.
	Insight = insight.Service
)

// Service is all rooms together: what package api offers to clients, and what package queue calls for steps. It keeps no state between calls but
// what it may forget at any time: two requests need not meet the same process.
type Service struct {
	*Tenant
	*Registry
	*Fleet
	*Jobs
	*Aggregation
	*Trust
	*Controls
	*Execution
	*Dispatch
	*Heuristics
	*Review
	*Submit
	*Schedules
	*Webhooks
	*Workflows
	*Policy
	*AuditLog
	*Archives
	*Bulk
	*Insight

	queue     functions.Queue
	log       *slog.Logger
	shortcuts bool
}

// New makes a Service.
func New(o Options) *Service {
	if o.LeaseTTL == 0 {
		o.LeaseTTL = DefaultLeaseTTL
	}
	if o.FirstLoan == 0 {
		o.FirstLoan = verify.FirstLoan
	}
	if o.ShareWait == 0 {
		o.ShareWait = dispatch.DefaultShareWait
	}
	if o.QuorumAudits == 0 {
		o.QuorumAudits = trust.DefaultQuorumAudits
	}
	if o.ScoreTime == 0 {
		o.ScoreTime = heuristics.MaxScoreTime
	}
	if o.RecheckSlots == 0 {
		o.RecheckSlots = execution.DefaultRecheckSlots
	}
	if o.RecheckSlice == 0 {
		o.RecheckSlice = execution.RecheckSlice
	}
	if o.SplitPages == 0 {
		o.SplitPages = jobs.DefaultSplitPages
	}
	if o.PreviewEvery == 0 {
		o.PreviewEvery = aggregation.PreviewEvery
	}
	if o.StatsTime == 0 {
		o.StatsTime = jobs.StatsTime
	}
	if o.EULA == (eula.Document{}) {
		o.EULA = eula.Embedded()
	}
	if o.Observe == nil {
		o.Observe = nobody{}
	}
	if o.Webhooks == nil {
		o.Webhooks = hooks.NewClient(hooks.Guard{}, "0")
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	env := &base.Env{
		Store: o.Store, Blobs: o.Blobs, Queue: o.Queue, Notices: o.Notices, Waits: base.NewWaits(o.Notices), Log: o.Log, Observe: o.Observe, Now: o.Now,
	}
	turns := recheck.NewTurns(o.RecheckSlots, o.Store.Loads)
	s := &Service{queue: o.Queue, log: o.Log, shortcuts: o.Shortcuts, Tenant: tenant.New(env, tenant.Options{Heuristics: o.Heuristics, AuditDays: o.AuditDays, Usual: tenant.Usual{Quotas: o.Quotas, RecheckSeconds: o.RecheckSeconds}})}
	s.Registry = registry.New(env, s.Tenant, o.Modules)
	env.Blobs = registry.WithRows(o.Blobs, s.Registry)
	s.Fleet = fleet.New(env, s.Tenant, s.Registry, fleet.Options{
		EULA: o.EULA, LeaseTTL: o.LeaseTTL, Names: o.Names, TokensOnly: o.TokensOnly, Rechecker: o.Rechecker, Turns: turns,
	})
	s.Jobs = jobs.New(env, o.SplitPages, o.StatsTime)
	s.Policy = policy.New(env, s.Jobs, policy.Options{Builtin: o.GuardianRules, Now: o.Now})
	env.Guardian = s.Policy // the rooms before it ask it as well
	s.Aggregation = aggregation.New(env, s.Registry, s.Jobs, o.PreviewEvery)
	s.Trust = trust.New(env, s.Tenant, s.Registry, s.Jobs, trust.Options{
		FirstLoan: o.FirstLoan, QuorumAudits: o.QuorumAudits, Rechecker: o.Rechecker,
	})
	s.Controls = controls.New(env, s.Trust)
	s.Execution = execution.New(env, s.Registry, s.Trust, execution.Options{Rechecker: o.Rechecker, Turns: turns, Slice: o.RecheckSlice})
	s.Dispatch = dispatch.New(env, s.Registry, s.Fleet, s.Jobs, s.Trust, dispatch.Options{LeaseTTL: o.LeaseTTL, FirstLoan: o.FirstLoan, ShareWait: o.ShareWait})
	s.Heuristics = heuristics.New(env, s.Tenant, s.Registry, s.Trust, o.Modules, o.Model, o.ScoreTime)
	s.CheckHeuristicsWith(s.CheckHeuristics)
	s.Review = review.New(env, s.Jobs, s.Trust)
	s.Submit = submit.New(env, submit.Rooms{
		Tenant: s.Tenant, Registry: s.Registry, Fleet: s.Fleet, Jobs: s.Jobs, Trust: s.Trust, Heuristics: s.Heuristics,
	}, submit.Options{FollowupsOff: o.FollowupsOff, AtOnce: o.Shortcuts})
	s.Webhooks = webhook.New(env, o.Webhooks)
	s.Workflows = workflow.New(env, workflow.Rooms{
		Registry: s.Registry, Jobs: s.Jobs, Submit: s.Submit, Aggregation: s.Aggregation, Trust: s.Trust,
	})
	s.Schedules = schedule.New(env, s.Jobs, s.Submit, s.Workflows)
	s.SyncSchedulesWith(s.SyncSchedules)
	s.AuditLog = auditlog.New(env, o.LogKey, o.AuditDays)
	s.Archives = archive.New(env, s.Jobs, s.AuditLog, archive.Options{MaxBytes: o.ArchiveBytes, Days: o.ArchiveDays, PackAfter: o.PackAfter})
	s.ReadArchivesWith(s.ArchivedResults)
	s.ReadLinesWith(s.ReceiptLines)
	s.Bulk = bulk.New(env, s)
	s.Insight = insight.New(env, insight.Rooms{
		Archive: s.Archives, AuditLog: s.AuditLog, Tenant: s.Tenant, Registry: s.Registry, Fleet: s.Fleet, Jobs: s.Jobs, Trust: s.Trust, Submit: s.Submit, Policy: s.Policy, Webhook: s.Webhooks,
	}, o.Model)
	return s
}

type nobody struct{}

// Results tells nobody.
func (nobody) Results(string, int) {}

// Verdicts tells nobody.
func (nobody) Verdicts(string, int) {}

// Audits tells nobody.
func (nobody) Audits(string, int) {}

// Caught tells nobody.
func (nobody) Caught() {}

// Collected tells nobody.
func (nobody) Collected(int64, int64) {}
