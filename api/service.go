// Package api is the HTTP face of Ostraka: huma operations, authentication, problems, events and the pages that operators open.
package api

import (
	"context"
	"encoding/json"
	"io"
	"iter"
	"time"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/aggregation"
	"github.com/ostraka/ostraka/functions/auditlog"
	"github.com/ostraka/ostraka/functions/dispatch"
	"github.com/ostraka/ostraka/functions/fleet"
	"github.com/ostraka/ostraka/functions/heuristics"
	"github.com/ostraka/ostraka/functions/insight"
	"github.com/ostraka/ostraka/functions/jobs"
	"github.com/ostraka/ostraka/functions/planner"
	"github.com/ostraka/ostraka/functions/registry"
	"github.com/ostraka/ostraka/functions/review"
	"github.com/ostraka/ostraka/functions/submit"
	"github.com/ostraka/ostraka/functions/tenant"
	"github.com/ostraka/ostraka/functions/trust"
	"github.com/ostraka/ostraka/runtime/eula"
	"github.com/ostraka/ostraka/wasm"
)

// Service is what the API asks of the domain; *functions.Service implements it. An error that is a *functions.Error is for the
// caller, any other is a fault of the server. Lists return at most ListPage.Limit items, in the order of their IDs.
type Service interface {
	AuditLog
	Authenticate(ctx context.Context, secret string) (functions.Principal, error)
	AuthenticateSession(ctx context.Context, secret string) (functions.Principal, error)
	// UseSignInLink says whose link it is, and spends it.
	UseSignInLink(ctx context.Context, secret string) (functions.Principal, error)
	OpenSession(ctx context.Context, as functions.Principal, userAgent string) (secret string, err error)
	CreateSignInLink(ctx context.Context, by functions.Principal) (secret string, expires time.Time, err error)
	ListSessions(ctx context.Context, by functions.Principal, page functions.ListPage) ([]tenant.Session, error)
	RevokeSession(ctx context.Context, by functions.Principal, id uuid.UUID) error
	// Ready says whether the database, the migrations and the object store answer; checks maps each part to "ok" or what is wrong.
	Ready(ctx context.Context) (checks map[string]string, ok bool)

	CreateProject(ctx context.Context, by functions.Principal, name string, idem functions.Idempotency) (p functions.Project, ownerKey string, replayed bool, err error) // ownerKey is empty when replayed
	GetProject(ctx context.Context, id uuid.UUID) (functions.Project, error)
	ListProjects(ctx context.Context, page functions.ListPage) ([]functions.Project, error)
	UpdateProject(ctx context.Context, by functions.Principal, id uuid.UUID, change tenant.ProjectChange, revision int64) (functions.Project, error)

	ProjectQuotas(ctx context.Context, project uuid.UUID) ([]functions.Quota, error)
	SetQuotas(ctx context.Context, by functions.Principal, project uuid.UUID, values map[functions.QuotaName]*int64) ([]functions.Quota, error)

	CreateKey(ctx context.Context, by functions.Principal, project uuid.UUID, name string, role functions.Role, expires *time.Time, idem functions.Idempotency) (k functions.Key, secret string, replayed bool, err error)
	ListKeys(ctx context.Context, project uuid.UUID, page functions.ListPage) ([]functions.Key, error)
	RevokeKey(ctx context.Context, by functions.Principal, project, id uuid.UUID) error
	RotateKey(ctx context.Context, by functions.Principal, project, id uuid.UUID, overlap time.Duration, expires *time.Time, idem functions.Idempotency) (k functions.Key, secret string, replayed bool, err error)
	RecoverOwner(ctx context.Context, by functions.Principal, project uuid.UUID, name, reason string, expires *time.Time, idem functions.Idempotency) (k functions.Key, secret string, replayed bool, err error)
	CreateEnrolmentToken(ctx context.Context, by functions.Principal, project uuid.UUID, n fleet.NewEnrolmentToken, idem functions.Idempotency) (t fleet.EnrolmentToken, secret string, replayed bool, err error)
	ListEnrolmentTokens(ctx context.Context, project uuid.UUID, page functions.ListPage) ([]fleet.EnrolmentToken, error)
	RevokeEnrolmentToken(ctx context.Context, by functions.Principal, project, id uuid.UUID) error

	// PushFunction reads a bundle. Pushing the same bundle again returns the version that it is, with created false.
	PushFunction(ctx context.Context, by functions.Principal, project uuid.UUID, bundle io.Reader, signature []byte) (v functions.FunctionVersion, created bool, err error)
	// RegisterSigningKey makes a key the project's newest; registering the newest again adds its signatures over bundles.
	RegisterSigningKey(ctx context.Context, by functions.Principal, project uuid.UUID, k functions.NewSigningKey) (key functions.SigningKey, created bool, err error)
	ListSigningKeys(ctx context.Context, project uuid.UUID) ([]functions.SigningKey, error)                             // the oldest first
	ListFunctions(ctx context.Context, project uuid.UUID, page functions.ListPage) ([]functions.FunctionVersion, error) // the newest version of each, by name
	GetFunction(ctx context.Context, project uuid.UUID, name string, version int) (functions.FunctionVersion, error)    // version 0: the newest
	ListFunctionVersions(ctx context.Context, project uuid.UUID, name string, page functions.ListPage) ([]functions.FunctionVersion, error)

	PushModule(ctx context.Context, by functions.Principal, project uuid.UUID, name, kind string, wasm io.Reader) (m functions.Module, created bool, err error)
	ListModules(ctx context.Context, project uuid.UUID, page functions.ListPage) ([]functions.Module, error) // newest version of each, by name
	GetModule(ctx context.Context, project uuid.UUID, name string, version int) (functions.Module, error)    // version 0: the newest
	// TryModule runs the newest version on records and keeps nothing.
	TryModule(ctx context.Context, project uuid.UUID, name string, params json.RawMessage, records io.Reader) (wasm.Report, error)
	ListModuleRuns(ctx context.Context, project uuid.UUID, module string, filter registry.ModuleRunFilter, page functions.ListPage) ([]registry.ModuleRun, error) // newest first
	GetModuleRun(ctx context.Context, project uuid.UUID, module string, id uuid.UUID) (registry.ModuleRun, error)
	DeprecateModule(ctx context.Context, by functions.Principal, project uuid.UUID, name string, deprecated bool, reason string) (functions.Module, error)

	// PutObject stores what it reads; digest, when not empty, must be the SHA-256 of it.
	PutObject(ctx context.Context, project uuid.UUID, digest string, r io.Reader) (functions.Object, error)
	OpenObject(ctx context.Context, project uuid.UUID, digest string) (io.ReadCloser, int64, error)

	SubmitJob(ctx context.Context, by functions.Principal, project uuid.UUID, job functions.NewJob, idem functions.Idempotency) (j functions.Job, replayed bool, err error)
	GetJob(ctx context.Context, project, id uuid.UUID) (functions.Job, error)
	// WaitJob returns when the job has ended, is in review, or has waited that long.
	WaitJob(ctx context.Context, project, id uuid.UUID, wait time.Duration) (functions.Job, error)
	ListJobs(ctx context.Context, project uuid.UUID, filter jobs.JobFilter, page functions.ListPage) ([]functions.Job, error) // newest first
	CancelJob(ctx context.Context, by functions.Principal, project, id uuid.UUID) (functions.Job, error)                      // cancelling twice is harmless
	DeleteJob(ctx context.Context, by functions.Principal, project, id uuid.UUID) (functions.Job, error)                      // deleting twice is harmless
	// MakeReceipt asks for the receipt of a job that has ended, and GetReceipt says how far it is.
	MakeReceipt(ctx context.Context, by functions.Principal, project, job uuid.UUID) (auditlog.JobReceipt, error)
	GetReceipt(ctx context.Context, project, job uuid.UUID) (auditlog.JobReceipt, error)
	// ReceiptBytes yields a receipt that was made; the bytes must be used up before the next are asked for.
	ReceiptBytes(ctx context.Context, project, job uuid.UUID, shards bool) iter.Seq2[[]byte, error]
	SetPriority(ctx context.Context, by functions.Principal, project, id uuid.UUID, priority int) (functions.Job, error)
	Explain(ctx context.Context, project, id uuid.UUID) (functions.Explanation, error)
	// Reaggregate folds the accepted results again; no shard runs.
	Reaggregate(ctx context.Context, by functions.Principal, project, job uuid.UUID, want aggregation.NewAggregation, idem functions.Idempotency) (j functions.Job, replayed bool, err error)
	ListAggregations(ctx context.Context, project, job uuid.UUID, page functions.ListPage) ([]functions.Aggregation, error)                 // After: a run
	ListShards(ctx context.Context, project, job uuid.UUID, state functions.ShardState, page functions.ListPage) ([]functions.Shard, error) // After: a shard number
	GetShard(ctx context.Context, project, job uuid.UUID, number int64) (functions.ShardDetail, error)
	ResolveShard(ctx context.Context, by functions.Principal, project, job uuid.UUID, number int64, r review.Resolution) (functions.ShardDetail, error)
	// Results yields accepted results in shard order, from the shard number after on (-1: all).
	Results(ctx context.Context, project, job uuid.UUID, after int64, final bool) iter.Seq2[jobs.ResultLine, error]
	ListArtifacts(ctx context.Context, project, job uuid.UUID, page functions.ListPage) ([]dispatch.ShardArtifacts, error) // After: a shard number
	ListIncidents(ctx context.Context, project uuid.UUID, job *uuid.UUID, page functions.ListPage) ([]trust.Incident, error)
	GetIncident(ctx context.Context, project, id uuid.UUID) (trust.IncidentDetail, error)
	PlanJob(ctx context.Context, project uuid.UUID, job functions.NewJob) (submit.JobPlan, error)
	ListFlags(ctx context.Context, project uuid.UUID, filter review.FlagFilter, page functions.ListPage) ([]review.Flag, error)
	ListFindings(ctx context.Context, project uuid.UUID, filter heuristics.FindingFilter, page functions.ListPage) ([]heuristics.HeuristicFinding, error)
	GetFinding(ctx context.Context, project, id uuid.UUID) (heuristics.HeuristicFinding, error)
	GetCodeReview(ctx context.Context, project uuid.UUID, name string, version int) (heuristics.CodeReview, error)
	ReviewCode(ctx context.Context, by functions.Principal, project uuid.UUID, name string, version int, decision, reason string) (heuristics.CodeReview, error)
	GetFlag(ctx context.Context, project, id uuid.UUID) (review.FlagDetail, error)
	ResolveFlag(ctx context.Context, by functions.Principal, project, id uuid.UUID, revision int64, r review.FlagResolution) (review.FlagDetail, error)

	ListEvents(ctx context.Context, project, job uuid.UUID, since int64, limit int) ([]functions.Event, error) // seq > since
	// Watch delivers a token whenever something has happened to the job. Its counts may change without.
	Watch(ctx context.Context, project, job uuid.UUID) (changed <-chan struct{}, stop func())

	// Map draws a part of a job.
	Map(ctx context.Context, project, job uuid.UUID, window jobs.MapWindow) (jobs.JobMap, error)
	// Look sees how a project is, for all who watch it.
	Look(ctx context.Context, project uuid.UUID, jobs []uuid.UUID) (jobs.ProjectLook, error)
	AgentVersions(ctx context.Context, project uuid.UUID) ([]jobs.AgentVersion, error)

	CreateUpload(ctx context.Context, by functions.Principal, project uuid.UUID, digest string, size int64, idem functions.Idempotency) (u registry.Upload, replayed bool, err error)
	ReceiveUpload(ctx context.Context, project, id uuid.UUID, r io.Reader) (functions.Object, error)
	CompleteUpload(ctx context.Context, project, id uuid.UUID) (functions.Object, error)
	PutFile(ctx context.Context, by functions.Principal, project uuid.UUID, name, digest string, r io.Reader, when registry.FileCondition) (registry.NamedFile, error)
	NameObject(ctx context.Context, by functions.Principal, project uuid.UUID, name, digest string, when registry.FileCondition) (registry.NamedFile, error)
	GetFile(ctx context.Context, project uuid.UUID, name string) (registry.NamedFile, error)
	ListFiles(ctx context.Context, project uuid.UUID, prefix string, page functions.ListPage) ([]registry.NamedFile, error) // After: a name
	DeleteFile(ctx context.Context, by functions.Principal, project uuid.UUID, name string, when registry.FileCondition) error

	CreateRule(ctx context.Context, by functions.Principal, project uuid.UUID, spec planner.Rule, idem functions.Idempotency) (r submit.Rule, replayed bool, err error)
	ListRules(ctx context.Context, project uuid.UUID, page functions.ListPage) ([]submit.Rule, error)
	GetRule(ctx context.Context, project, id uuid.UUID) (submit.Rule, error)
	UpdateRule(ctx context.Context, by functions.Principal, project, id uuid.UUID, spec planner.Rule, revision int64) (submit.Rule, error)
	DeleteRule(ctx context.Context, by functions.Principal, project, id uuid.UUID, revision int64) error

	ListProjectAgents(ctx context.Context, project uuid.UUID, page functions.ListPage) ([]fleet.ProjectAgent, error)
	GetProjectAgent(ctx context.Context, project, id uuid.UUID) (fleet.ProjectAgent, error)
	AdmitAgent(ctx context.Context, by functions.Principal, project, id uuid.UUID, owner, reason string) (fleet.ProjectAgent, error)
	PardonAgent(ctx context.Context, by functions.Principal, project, id uuid.UUID, reason string) (fleet.ProjectAgent, error)
	ExcludeAgent(ctx context.Context, by functions.Principal, project, id uuid.UUID, reason string) (fleet.ProjectAgent, error)
	ListAgents(ctx context.Context, state fleet.AgentState, page functions.ListPage) ([]fleet.Agent, error) // state "": all
	GetAgent(ctx context.Context, id uuid.UUID) (fleet.Agent, error)
	DecideAgent(ctx context.Context, by functions.Principal, id uuid.UUID, action fleet.AgentAction, reason string) (fleet.Agent, error)
	AssignOwner(ctx context.Context, by functions.Principal, id uuid.UUID, owner string) (fleet.Agent, error)

	// AgentTelemetry says how an agent's machine was, and the query as it was completed.
	AgentTelemetry(ctx context.Context, id uuid.UUID, q fleet.TelemetryQuery) ([]fleet.TelemetryPoint, fleet.TelemetryQuery, error)

	// EULA is the agreement in force.
	// Challenge gives a nonce to enrol with.
	Challenge(ctx context.Context) (fleet.Challenge, error)
	EULA() eula.Document
	AcceptEULA(ctx context.Context, agent uuid.UUID, a fleet.Acceptance, address string) error
	// SpeakFor lets another process than Principal.Instance speak for an agent, or says why not.
	SpeakFor(ctx context.Context, agent, instance uuid.UUID, address string) error

	// Enrol makes an agent: of the project that the token belongs to, or, without one, one that waits for approval. The same public key enrolling again is the same agent with a
	// new key; proof is an Ed25519 signature by the agent's key over statement.EnrolmentAnew, or over statement.Enrolment.
	CheckEnrolmentToken(ctx context.Context, token string) error
	HoldsLease(ctx context.Context, agent, lease uuid.UUID) error
	Enrol(ctx context.Context, token string, e fleet.Enrolment, proof []byte, address string) (a fleet.Agent, agentKey string, err error)
	// Lease waits up to wait for work; nil means that there was none. The same idempotency key returns the same lease.
	Lease(ctx context.Context, agent uuid.UUID, poll dispatch.Poll, idem functions.Idempotency) (*functions.Lease, error)
	LeaseBundle(ctx context.Context, agent, lease uuid.UUID) (io.ReadCloser, int64, error)
	// LeaseFile opens a file that a shard of the lease reads.
	LeaseFile(ctx context.Context, agent, lease uuid.UUID, shard int64, digest string) (io.ReadCloser, int64, error)
	PutOutput(ctx context.Context, agent, lease uuid.UUID, digest string, r io.Reader) (functions.Object, error)
	Record(ctx context.Context, agent, lease uuid.UUID, s dispatch.Submission) (dispatch.Recorded, error)
	ReturnLease(ctx context.Context, agent, lease uuid.UUID) error
	RefuseLease(ctx context.Context, agent, lease uuid.UUID, why dispatch.Refusal) error
	ListAgentProjects(ctx context.Context, agent uuid.UUID, page functions.ListPage) ([]functions.AgentProject, error)
	Heartbeat(ctx context.Context, agent uuid.UUID, beat fleet.Heartbeat) (fleet.Directives, error)
	// Directives waits until what the server wants is something else than the agent knows.
	Directives(ctx context.Context, agent uuid.UUID, known string, wait time.Duration) (fleet.Directives, error)
	Confirm(ctx context.Context, agent uuid.UUID, revision string) error

	// The project of what follows is nil for operators, who see everything.
	ListSandboxes(ctx context.Context, filter fleet.SandboxFilter, page functions.ListPage) ([]fleet.Sandbox, error)
	GetSandbox(ctx context.Context, project, id uuid.UUID) (fleet.Sandbox, error)
	SandboxSamples(ctx context.Context, project, id uuid.UUID, after time.Time) ([]fleet.SandboxSample, error)
	TerminateSandbox(ctx context.Context, by functions.Principal, project, id uuid.UUID, force bool) (fleet.Sandbox, error)
	ListSwitches(ctx context.Context, project uuid.UUID) ([]fleet.KillStatus, error)
	// WaitSilent waits until nothing of what a switch holds runs any more.
	WaitSilent(ctx context.Context, project, id uuid.UUID, wait time.Duration) (fleet.KillStatus, error)
	Kill(ctx context.Context, by functions.Principal, scope fleet.KillScope, reason string, force bool) (fleet.KillStatus, error)
	Release(ctx context.Context, by functions.Principal, scope fleet.KillScope) (was bool, err error)

	// Stats are the figures of /metrics. They name no tenant.
	Stats(ctx context.Context) (insight.Stats, error)
}
