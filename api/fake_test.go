package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/api"
	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/planner"
	"github.com/ostraka/ostraka/functions/verify"
	"github.com/ostraka/ostraka/runtime/eula"
	"github.com/ostraka/ostraka/wasm"
)

// Things that every fake has.
var (
	projectID  = uuid.MustParse("0190a5d4-0000-7000-8000-000000000001")
	strangerID = uuid.MustParse("0190a5d4-0000-7000-8000-000000000002")
	jobID      = uuid.MustParse("0190a5d4-0000-7000-8000-000000000003")
	agentID    = uuid.MustParse("0190a5d4-0000-7000-8000-000000000004")
	thingID    = uuid.MustParse("0190a5d4-0000-7000-8000-000000000005")
	when       = time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)
)

const (
	ownerKey     = "key-of-the-owner"
	submitterKey = "key-of-the-submitter"
	viewerKey    = "key-of-the-viewer"
	strangerKey  = "key-of-another-project"
	operatorKey  = "key-of-the-operator"
	agentKey     = "key-of-the-agent"
	joinToken    = "token-to-join"
)

// fake is a Service that remembers what it was asked and answers what the test tells it to.
type fake struct {
	mu       sync.Mutex
	err      error // every method but Authenticate fails with it
	replayed bool
	panics   bool
	ready    bool

	job       functions.Job
	events    []functions.Event
	changed   chan struct{}
	object    []byte
	breakAt   int // how many bytes of the object can be read; 0: all
	results   []functions.ResultLine
	resultErr error // after the results
	lease     *functions.Lease
	items     int // how many items a list has
	block     bool

	// What was asked for last.
	page           functions.ListPage
	filter         functions.JobFilter
	newJob         functions.NewJob
	idem           functions.Idempotency
	wait           time.Duration
	revision       int64
	digest         string
	stored         []byte
	after          int64
	shardState     functions.ShardState
	submission     functions.Submission
	followups      *bool
	resolution     functions.Resolution
	enrolment      functions.Enrolment
	action         functions.AgentAction
	reason         string
	acceptance     functions.Acceptance
	instance       uuid.UUID
	beat           functions.Heartbeat
	flagFilter     functions.FlagFilter
	flagResolution functions.FlagResolution
	rule           planner.Rule
	most           int
	name           string
	when           functions.FileCondition
	signature      []byte
	signingKey     functions.NewSigningKey
}

var _ api.Service = (*fake)(nil)

func newFake() *fake {
	return &fake{ready: true, changed: make(chan struct{}, 1), items: 1, job: functions.Job{
		ID: jobID, Function: "bpsw", Version: 1, Policy: verify.Policy{Quorum: 2}, State: functions.JobRunning,
		Partition: rangeSpec("0", "10", "5"), Shards: functions.ShardCounts{Total: 2, Open: 2}, Root: jobID, CreatedAt: when,
	}}
}

// begin is what every method does first.
func (f *fake) begin() error {
	if f.panics {
		panic("the fake was told to panic")
	}
	return f.err
}

func list[T any](f *fake, page functions.ListPage, make func(i int) T) ([]T, error) {
	f.page = page
	if err := f.begin(); err != nil {
		return nil, err
	}
	var all []T
	for i := range min(f.items, page.Limit) {
		all = append(all, make(i))
	}
	return all, nil
}

func (f *fake) Authenticate(_ context.Context, secret string) (functions.Principal, error) {
	p := functions.Principal{KeyID: thingID, Project: projectID}
	switch secret {
	case ownerKey:
		p.Role = functions.RoleOwner
	case submitterKey:
		p.Role = functions.RoleSubmitter
	case viewerKey:
		p.Role = functions.RoleViewer
	case strangerKey:
		p.Role, p.Project = functions.RoleOwner, strangerID
	case operatorKey:
		p.Role, p.Project = functions.RoleOperator, uuid.UUID{}
	case agentKey:
		p.Role, p.Project, p.Agent = functions.RoleAgent, uuid.UUID{}, agentID
	default:
		return functions.Principal{}, &functions.Error{Kind: functions.KindUnauthorized, Code: "unauthorized", Message: "the key is not valid", Hint: "use another"}
	}
	return p, nil
}

func (f *fake) Ready(context.Context) (map[string]string, bool) {
	if !f.ready {
		return map[string]string{"database": "does not answer"}, false
	}
	return map[string]string{"database": "ok"}, true
}

func (f *fake) project() functions.Project {
	return functions.Project{ID: projectID, Name: "numbers", FollowupsEnabled: true, Revision: 3, CreatedAt: when}
}

func (f *fake) CreateProject(_ context.Context, _ functions.Principal, _ string, idem functions.Idempotency) (functions.Project, string, bool, error) {
	f.idem = idem
	return f.project(), "first-key", f.replayed, f.begin()
}

func (f *fake) GetProject(_ context.Context, id uuid.UUID) (functions.Project, error) {
	if id != projectID {
		return functions.Project{}, functions.NotFound("project", id.String())
	}
	return f.project(), f.begin()
}

func (f *fake) ListProjects(_ context.Context, page functions.ListPage) ([]functions.Project, error) {
	return list(f, page, func(int) functions.Project { return f.project() })
}

func (f *fake) UpdateProject(_ context.Context, _ functions.Principal, _ uuid.UUID, change functions.ProjectChange, revision int64) (functions.Project, error) {
	f.followups, f.revision = change.FollowupsEnabled, revision
	if revision != 3 {
		return functions.Project{}, functions.ErrRevision
	}
	return f.project(), f.begin()
}

func (f *fake) CreateKey(_ context.Context, _ functions.Principal, _ uuid.UUID, name string, role functions.Role, expires *time.Time, idem functions.Idempotency) (functions.Key, string, bool, error) {
	f.idem = idem
	return functions.Key{ID: thingID, Name: name, Role: role, ExpiresAt: expires, CreatedAt: when}, "the-secret", f.replayed, f.begin()
}

func (f *fake) ListKeys(_ context.Context, _ uuid.UUID, page functions.ListPage) ([]functions.Key, error) {
	return list(f, page, func(int) functions.Key { return functions.Key{ID: thingID} })
}

func (f *fake) RevokeKey(context.Context, functions.Principal, uuid.UUID, uuid.UUID) error {
	return f.begin()
}

func (f *fake) CreateEnrolmentToken(_ context.Context, _ functions.Principal, _ uuid.UUID, name, _ string, expires *time.Time, idem functions.Idempotency) (functions.EnrolmentToken, string, bool, error) {
	f.idem = idem
	return functions.EnrolmentToken{ID: thingID, Name: name, ExpiresAt: expires, CreatedAt: when}, "the-secret", f.replayed, f.begin()
}

func (f *fake) ListEnrolmentTokens(_ context.Context, _ uuid.UUID, page functions.ListPage) ([]functions.EnrolmentToken, error) {
	return list(f, page, func(int) functions.EnrolmentToken { return functions.EnrolmentToken{ID: thingID} })
}

func (f *fake) RevokeEnrolmentToken(context.Context, functions.Principal, uuid.UUID, uuid.UUID) error {
	return f.begin()
}

// store reads a stream to its end, as the real service does.
func (f *fake) store(r io.Reader) error {
	if err := f.begin(); err != nil {
		return err
	}
	var err error
	f.stored, err = io.ReadAll(r)
	return err
}

func (f *fake) PushFunction(_ context.Context, _ functions.Principal, _ uuid.UUID, r io.Reader, signature []byte) (functions.FunctionVersion, bool, error) {
	f.signature = signature
	err := f.store(r)
	return functions.FunctionVersion{Name: "bpsw", Version: 2, CreatedAt: when}, !f.replayed, err
}

func (f *fake) ListFunctions(_ context.Context, _ uuid.UUID, page functions.ListPage) ([]functions.FunctionVersion, error) {
	return list(f, page, func(int) functions.FunctionVersion { return functions.FunctionVersion{Name: "bpsw", Version: 2} })
}

func (f *fake) GetFunction(_ context.Context, _ uuid.UUID, name string, version int) (functions.FunctionVersion, error) {
	return functions.FunctionVersion{Name: name, Version: max(version, 1)}, f.begin()
}

func (f *fake) ListFunctionVersions(_ context.Context, _ uuid.UUID, name string, page functions.ListPage) ([]functions.FunctionVersion, error) {
	return list(f, page, func(i int) functions.FunctionVersion { return functions.FunctionVersion{Name: name, Version: i + 1} })
}

func (f *fake) TryModule(_ context.Context, _ uuid.UUID, _ string, _ json.RawMessage, records io.Reader) (wasm.Report, error) {
	return wasm.Report{Output: []string{}, Findings: []wasm.Finding{}}, f.store(records)
}

func (f *fake) DeprecateModule(_ context.Context, _ functions.Principal, _ uuid.UUID, name string, _ bool, reason string) (functions.Module, error) {
	return functions.Module{Name: name, Deprecation: reason}, f.begin()
}

func (f *fake) PushModule(_ context.Context, _ functions.Principal, _ uuid.UUID, name, kind string, r io.Reader) (functions.Module, bool, error) {
	err := f.store(r)
	return functions.Module{ID: thingID, Name: name, Kind: kind, Version: 1}, !f.replayed, err
}

func (f *fake) ListModules(_ context.Context, _ uuid.UUID, page functions.ListPage) ([]functions.Module, error) {
	return list(f, page, func(int) functions.Module { return functions.Module{Name: "fold"} })
}

func (f *fake) ListModuleRuns(_ context.Context, _ uuid.UUID, module string, _ functions.ModuleRunFilter, page functions.ListPage) ([]functions.ModuleRun, error) {
	return list(f, page, func(int) functions.ModuleRun { return functions.ModuleRun{ID: thingID, Module: module} })
}

func (f *fake) GetModuleRun(_ context.Context, _ uuid.UUID, module string, id uuid.UUID) (functions.ModuleRun, error) {
	return functions.ModuleRun{ID: id, Module: module}, f.begin()
}

func (f *fake) GetModule(_ context.Context, _ uuid.UUID, name string, _ int) (functions.Module, error) {
	return functions.Module{Name: name}, f.begin()
}

func (f *fake) PutObject(_ context.Context, _ uuid.UUID, digest string, r io.Reader) (functions.Object, error) {
	f.digest = digest
	err := f.store(r)
	return functions.Object{Digest: digest, Size: int64(len(f.stored))}, err
}

// brokenReader fails after some bytes, as an object that is not what it should be.
type brokenReader struct{ left []byte }

func (b *brokenReader) Read(p []byte) (int, error) {
	if len(b.left) == 0 {
		return 0, errors.New("the stored bytes are not what they should be")
	}
	n := copy(p, b.left)
	b.left = b.left[n:]
	return n, nil
}

func (f *fake) open() (io.ReadCloser, int64, error) {
	if f.breakAt > 0 {
		return io.NopCloser(&brokenReader{f.object[:f.breakAt]}), int64(len(f.object)), f.begin()
	}
	return io.NopCloser(bytes.NewReader(f.object)), int64(len(f.object)), f.begin()
}

func (f *fake) OpenObject(context.Context, uuid.UUID, string) (io.ReadCloser, int64, error) {
	return f.open()
}

func (f *fake) SubmitJob(_ context.Context, _ functions.Principal, _ uuid.UUID, job functions.NewJob, idem functions.Idempotency) (functions.Job, bool, error) {
	f.newJob, f.idem = job, idem
	return f.job, f.replayed, f.begin()
}

func (f *fake) GetJob(context.Context, uuid.UUID, uuid.UUID) (functions.Job, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.job, f.begin()
}

func (f *fake) WaitJob(ctx context.Context, _, _ uuid.UUID, wait time.Duration) (functions.Job, error) {
	f.wait = wait
	if f.block {
		<-ctx.Done()
		return functions.Job{}, ctx.Err()
	}
	return f.job, f.begin()
}

func (f *fake) ListJobs(_ context.Context, _ uuid.UUID, filter functions.JobFilter, page functions.ListPage) ([]functions.Job, error) {
	f.filter = filter
	return list(f, page, func(int) functions.Job { return f.job })
}

func (f *fake) CancelJob(context.Context, functions.Principal, uuid.UUID, uuid.UUID) (functions.Job, error) {
	return f.job, f.begin()
}

func (f *fake) Explain(context.Context, uuid.UUID, uuid.UUID) (functions.Explanation, error) {
	return functions.Explanation{State: functions.JobRunning, Summary: "waits for agents"}, f.begin()
}

func (f *fake) Reaggregate(_ context.Context, _ functions.Principal, _, _ uuid.UUID, _ functions.NewAggregation, _ functions.Idempotency) (functions.Job, bool, error) {
	return f.job, false, f.begin()
}

func (f *fake) ListAggregations(_ context.Context, _, _ uuid.UUID, page functions.ListPage) ([]functions.Aggregation, error) {
	return list(f, page, func(i int) functions.Aggregation {
		return functions.Aggregation{Run: i + 1, State: functions.AggregationFinished}
	})
}

func (f *fake) ListShards(_ context.Context, _, _ uuid.UUID, state functions.ShardState, page functions.ListPage) ([]functions.Shard, error) {
	f.shardState = state
	return list(f, page, func(i int) functions.Shard {
		return functions.Shard{Number: int64(i), State: functions.ShardOpen, Input: json.RawMessage(`{"n":12345678901234567890123}`)}
	})
}

func (f *fake) GetShard(context.Context, uuid.UUID, uuid.UUID, int64) (functions.ShardDetail, error) {
	return functions.ShardDetail{Shard: functions.Shard{Input: json.RawMessage(`1`)}}, f.begin()
}

func (f *fake) ResolveShard(_ context.Context, _ functions.Principal, _, _ uuid.UUID, _ int64, r functions.Resolution) (functions.ShardDetail, error) {
	f.resolution = r
	return functions.ShardDetail{Shard: functions.Shard{Input: json.RawMessage(`1`)}}, f.begin()
}

func (f *fake) Results(_ context.Context, _, _ uuid.UUID, after int64) iter.Seq2[functions.ResultLine, error] {
	f.after = after
	return func(yield func(functions.ResultLine, error) bool) {
		if err := f.begin(); err != nil {
			yield(functions.ResultLine{}, err)
			return
		}
		for _, r := range f.results {
			if !yield(r, nil) {
				return
			}
		}
		if f.resultErr != nil {
			yield(functions.ResultLine{}, f.resultErr)
		}
	}
}

func (f *fake) ListArtifacts(_ context.Context, _, _ uuid.UUID, page functions.ListPage) ([]functions.ShardArtifacts, error) {
	return list(f, page, func(i int) functions.ShardArtifacts {
		return functions.ShardArtifacts{Shard: int64(i), Files: []functions.File{{Path: "plot.png", Size: 3, Digest: "0000000000000000000000000000000000000000000000000000000000000000"}}}
	})
}

func (f *fake) ListFindings(_ context.Context, _ uuid.UUID, _ functions.FindingFilter, page functions.ListPage) ([]functions.HeuristicFinding, error) {
	return nil, nil
}

func (f *fake) GetFinding(_ context.Context, _, id uuid.UUID) (functions.HeuristicFinding, error) {
	return functions.HeuristicFinding{}, functions.NotFound("finding", id.String())
}

func (f *fake) GetCodeReview(_ context.Context, _ uuid.UUID, name string, version int) (functions.CodeReview, error) {
	return functions.CodeReview{Function: name, Version: version, Scores: []functions.HeuristicScore{}}, nil
}

func (f *fake) ReviewCode(_ context.Context, _ functions.Principal, _ uuid.UUID, name string, version int, _, _ string) (functions.CodeReview, error) {
	return functions.CodeReview{Function: name, Version: version, Scores: []functions.HeuristicScore{}}, nil
}

func (f *fake) ListIncidents(_ context.Context, _ uuid.UUID, page functions.ListPage) ([]functions.Incident, error) {
	return list(f, page, func(int) functions.Incident {
		return functions.Incident{ID: thingID, Shards: 1, JobState: functions.JobFinished}
	})
}

func (f *fake) GetIncident(_ context.Context, _, id uuid.UUID) (functions.IncidentDetail, error) {
	return functions.IncidentDetail{Incident: functions.Incident{ID: id, Shards: 1, JobState: functions.JobFinished}, Numbers: []int64{7}}, f.begin()
}

func (f *fake) PlanJob(_ context.Context, _ uuid.UUID, _ functions.NewJob) (functions.JobPlan, error) {
	return functions.JobPlan{Function: "bpsw", Version: 1, Shards: 10, Policy: verify.Policy{Quorum: 2}, Forecast: verify.Forecast{PerShard: 2}}, f.begin()
}

func (f *fake) ListFlags(_ context.Context, _ uuid.UUID, filter functions.FlagFilter, page functions.ListPage) ([]functions.Flag, error) {
	f.flagFilter = filter
	return list(f, page, func(int) functions.Flag { return functions.Flag{ID: thingID, Detail: json.RawMessage(`{}`)} })
}

func (f *fake) GetFlag(_ context.Context, _, id uuid.UUID) (functions.FlagDetail, error) {
	return functions.FlagDetail{Flag: functions.Flag{ID: id, Kind: functions.FlagReview, State: functions.FlagOpen, Times: 1, Detail: json.RawMessage(`{}`), Revision: 3}, Decisions: []functions.FlagDecision{}}, f.begin()
}

func (f *fake) ResolveFlag(_ context.Context, _ functions.Principal, _, id uuid.UUID, revision int64, r functions.FlagResolution) (functions.FlagDetail, error) {
	f.revision, f.flagResolution = revision, r
	d := functions.FlagDetail{Flag: functions.Flag{ID: id, Kind: functions.FlagReview, State: functions.FlagResolved, Times: 1, Detail: json.RawMessage(`{}`), Revision: revision + 1}, Decisions: []functions.FlagDecision{}}
	return d, f.begin()
}

func (f *fake) ListEvents(_ context.Context, _, _ uuid.UUID, since int64, limit int) ([]functions.Event, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var all []functions.Event
	for _, e := range f.events {
		if e.Seq > since && len(all) < limit {
			all = append(all, e)
		}
	}
	return all, f.begin()
}

func (f *fake) Watch(context.Context, uuid.UUID, uuid.UUID) (<-chan struct{}, func()) {
	return f.changed, func() {}
}

// happen adds events, changes the job and tells who watches.
func (f *fake) happen(change func(*functions.Job), events ...functions.Event) {
	f.mu.Lock()
	change(&f.job)
	f.events = append(f.events, events...)
	f.mu.Unlock()
	select {
	case f.changed <- struct{}{}:
	default: // they have been told, and have not looked yet
	}
}

func (f *fake) CreateRule(_ context.Context, _ functions.Principal, _ uuid.UUID, spec planner.Rule, idem functions.Idempotency) (functions.Rule, bool, error) {
	f.rule, f.idem = spec, idem
	return functions.Rule{ID: thingID, Spec: spec, Revision: 1}, f.replayed, f.begin()
}

func (f *fake) ListRules(_ context.Context, _ uuid.UUID, page functions.ListPage) ([]functions.Rule, error) {
	return list(f, page, func(int) functions.Rule { return functions.Rule{ID: thingID} })
}

func (f *fake) GetRule(context.Context, uuid.UUID, uuid.UUID) (functions.Rule, error) {
	return functions.Rule{ID: thingID, Revision: 7}, f.begin()
}

func (f *fake) UpdateRule(_ context.Context, _ functions.Principal, _, _ uuid.UUID, spec planner.Rule, revision int64) (functions.Rule, error) {
	f.rule, f.revision = spec, revision
	return functions.Rule{ID: thingID, Spec: spec, Revision: revision + 1}, f.begin()
}

func (f *fake) DeleteRule(_ context.Context, _ functions.Principal, _, _ uuid.UUID, revision int64) error {
	f.revision = revision
	return f.begin()
}

func (f *fake) ListProjectAgents(_ context.Context, _ uuid.UUID, page functions.ListPage) ([]functions.ProjectAgent, error) {
	return list(f, page, func(int) functions.ProjectAgent { return functions.ProjectAgent{Agent: functions.Agent{ID: agentID}} })
}

func (f *fake) ListAgents(_ context.Context, state functions.AgentState, page functions.ListPage) ([]functions.Agent, error) {
	return list(f, page, func(int) functions.Agent { return functions.Agent{ID: agentID} })
}

func (f *fake) GetAgent(context.Context, uuid.UUID) (functions.Agent, error) {
	return functions.Agent{ID: agentID, State: functions.AgentActive}, f.begin()
}

func (f *fake) DecideAgent(_ context.Context, _ functions.Principal, _ uuid.UUID, action functions.AgentAction, reason string) (functions.Agent, error) {
	f.action, f.reason = action, reason
	return functions.Agent{ID: agentID, State: functions.AgentActive, StateReason: reason}, f.begin()
}

func (f *fake) AssignOwner(_ context.Context, _ functions.Principal, _ uuid.UUID, owner string) (functions.Agent, error) {
	return functions.Agent{ID: agentID, Owner: owner}, f.begin()
}

func (f *fake) GetProjectAgent(context.Context, uuid.UUID, uuid.UUID) (functions.ProjectAgent, error) {
	return functions.ProjectAgent{Agent: functions.Agent{ID: agentID}}, f.begin()
}

func (f *fake) AdmitAgent(_ context.Context, _ functions.Principal, _, _ uuid.UUID, owner, reason string) (functions.ProjectAgent, error) {
	f.reason = reason
	return functions.ProjectAgent{Agent: functions.Agent{ID: agentID, Owner: owner}}, f.begin()
}

func (f *fake) ExcludeAgent(_ context.Context, _ functions.Principal, _, _ uuid.UUID, reason string) (functions.ProjectAgent, error) {
	f.reason = reason
	return functions.ProjectAgent{Agent: functions.Agent{ID: agentID}, Excluded: true}, f.begin()
}

func (f *fake) AgentTelemetry(_ context.Context, _ uuid.UUID, q functions.TelemetryQuery) ([]functions.TelemetryPoint, functions.TelemetryQuery, error) {
	return nil, q, f.begin()
}

func (f *fake) EULA() eula.Document { return eula.Embedded() }

func (f *fake) AcceptEULA(_ context.Context, _ uuid.UUID, a functions.Acceptance, _ string) error {
	f.acceptance = a
	return f.begin()
}

func (f *fake) SpeakFor(_ context.Context, _, instance uuid.UUID, _ string) error {
	f.instance = instance
	return f.begin()
}

func (f *fake) Enrol(_ context.Context, token string, e functions.Enrolment, _ []byte, _ string) (functions.Agent, string, error) {
	f.enrolment = e
	if token != joinToken {
		return functions.Agent{}, "", &functions.Error{Kind: functions.KindUnauthorized, Code: "bad_token", Message: "the token is not valid", Hint: "use another"}
	}
	return functions.Agent{ID: agentID, Name: e.Name}, "agent-key", f.begin()
}

func (f *fake) Lease(ctx context.Context, _ uuid.UUID, most int, wait time.Duration, idem functions.Idempotency) (*functions.Lease, error) {
	f.most, f.wait, f.idem = most, wait, idem
	if f.block {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return f.lease, f.begin()
}

func (f *fake) LeaseBundle(context.Context, uuid.UUID, uuid.UUID) (io.ReadCloser, int64, error) {
	return f.open()
}

func (f *fake) LeaseFile(_ context.Context, _, _ uuid.UUID, shard int64, digest string) (io.ReadCloser, int64, error) {
	f.after, f.digest = shard, digest
	return f.open()
}

func (f *fake) CreateUpload(_ context.Context, _ functions.Principal, _ uuid.UUID, digest string, size int64, idem functions.Idempotency) (functions.Upload, bool, error) {
	f.digest, f.idem = digest, idem
	return functions.Upload{ID: thingID, Digest: digest, Size: size, Method: "PUT", URL: "https://objects.example/x"}, f.replayed, f.begin()
}

func (f *fake) ReceiveUpload(_ context.Context, _, _ uuid.UUID, r io.Reader) (functions.Object, error) {
	err := f.store(r)
	return functions.Object{Size: int64(len(f.stored))}, err
}

func (f *fake) CompleteUpload(context.Context, uuid.UUID, uuid.UUID) (functions.Object, error) {
	return functions.Object{Digest: strings.Repeat("ab", 32)}, f.begin()
}

func (f *fake) PutFile(_ context.Context, _ functions.Principal, _ uuid.UUID, name, digest string, r io.Reader, when functions.FileCondition) (functions.NamedFile, error) {
	f.name, f.digest, f.when = name, digest, when
	err := f.store(r)
	return functions.NamedFile{Name: name, Digest: strings.Repeat("ab", 32), Size: int64(len(f.stored))}, err
}

func (f *fake) NameObject(_ context.Context, _ functions.Principal, _ uuid.UUID, name, digest string, when functions.FileCondition) (functions.NamedFile, error) {
	f.name, f.digest, f.when = name, digest, when
	return functions.NamedFile{Name: name, Digest: digest}, f.begin()
}

func (f *fake) GetFile(_ context.Context, _ uuid.UUID, name string) (functions.NamedFile, error) {
	f.name = name
	return functions.NamedFile{Name: name, Digest: strings.Repeat("ab", 32)}, f.begin()
}

func (f *fake) ListFiles(_ context.Context, _ uuid.UUID, prefix string, page functions.ListPage) ([]functions.NamedFile, error) {
	f.name = prefix
	return list(f, page, func(n int) functions.NamedFile { return functions.NamedFile{Name: fmt.Sprintf("texts/%03d", n)} })
}

func (f *fake) DeleteFile(_ context.Context, _ functions.Principal, _ uuid.UUID, name string, when functions.FileCondition) error {
	f.name, f.when = name, when
	return f.begin()
}

func (f *fake) PutOutput(_ context.Context, _, _ uuid.UUID, digest string, r io.Reader) (functions.Object, error) {
	f.digest = digest
	err := f.store(r)
	return functions.Object{Digest: digest, Size: int64(len(f.stored))}, err
}

func (f *fake) Record(_ context.Context, _, _ uuid.UUID, s functions.Submission) (functions.Recorded, error) {
	f.submission = s
	return functions.Recorded{Recorded: len(s.Results)}, f.begin()
}

func (f *fake) ReturnLease(context.Context, uuid.UUID, uuid.UUID) error { return f.begin() }

func (f *fake) RefuseLease(context.Context, uuid.UUID, uuid.UUID, functions.Refusal) error {
	return f.begin()
}

func (f *fake) Heartbeat(_ context.Context, _ uuid.UUID, beat functions.Heartbeat) (functions.Directives, error) {
	f.beat = beat
	return functions.Directives{State: functions.AgentActive}, f.begin()
}

func (f *fake) Stats(context.Context) (functions.Stats, error) {
	return functions.Stats{
		Queues:     []functions.QueueStat{{Queue: "default", Kind: "verify", State: "available", Count: 5, OldestAge: 3 * time.Second}},
		Agents:     map[string]int64{"active": 4, "revoked": 1},
		AgentsSeen: 4, OpenJobs: 2,
	}, f.err
}

func (f *fake) RegisterSigningKey(_ context.Context, _ functions.Principal, _ uuid.UUID, k functions.NewSigningKey) (functions.SigningKey, bool, error) {
	f.signingKey = k
	return f.signing(1), !f.replayed, f.begin()
}

func (f *fake) signing(generation int) functions.SigningKey {
	return functions.SigningKey{Generation: generation, PublicKey: make([]byte, 32), Signature: make([]byte, 64), CreatedAt: when}
}

func (f *fake) ListSigningKeys(context.Context, uuid.UUID) ([]functions.SigningKey, error) {
	return []functions.SigningKey{f.signing(1), f.signing(2)}, f.begin()
}

func (f *fake) ListAgentProjects(_ context.Context, _ uuid.UUID, page functions.ListPage) ([]functions.AgentProject, error) {
	return list(f, page, func(int) functions.AgentProject {
		return functions.AgentProject{Project: projectID, SigningKeys: []functions.SigningKey{f.signing(1)}}
	})
}

func (f *fake) Directives(context.Context, uuid.UUID, string, time.Duration) (functions.Directives, error) {
	return functions.Directives{}, f.begin()
}

func (f *fake) Confirm(context.Context, uuid.UUID, string) error { return f.begin() }

func (f *fake) ListSandboxes(_ context.Context, _ functions.SandboxFilter, page functions.ListPage) ([]functions.Sandbox, error) {
	return list(f, page, func(int) functions.Sandbox { return functions.Sandbox{ID: thingID} })
}

func (f *fake) GetSandbox(context.Context, uuid.UUID, uuid.UUID) (functions.Sandbox, error) {
	return functions.Sandbox{}, f.begin()
}

func (f *fake) SandboxSamples(context.Context, uuid.UUID, uuid.UUID, time.Time) ([]functions.SandboxSample, error) {
	return nil, f.begin()
}

func (f *fake) TerminateSandbox(context.Context, functions.Principal, uuid.UUID, uuid.UUID, bool) (functions.Sandbox, error) {
	return functions.Sandbox{}, f.begin()
}

func (f *fake) ListSwitches(context.Context, uuid.UUID) ([]functions.KillStatus, error) {
	return nil, f.begin()
}

func (f *fake) WaitSilent(context.Context, uuid.UUID, uuid.UUID, time.Duration) (functions.KillStatus, error) {
	return functions.KillStatus{}, f.begin()
}

func (f *fake) Kill(context.Context, functions.Principal, functions.KillScope, string, bool) (functions.KillStatus, error) {
	return functions.KillStatus{}, f.begin()
}

func (f *fake) Release(context.Context, functions.Principal, functions.KillScope) (bool, error) {
	return false, f.begin()
}
