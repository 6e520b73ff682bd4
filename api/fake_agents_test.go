package api_test

import (
	"context"
	"io"
	"time"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/runtime/eula"
)

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

func (f *fake) PardonAgent(_ context.Context, _ functions.Principal, _, _ uuid.UUID, reason string) (functions.ProjectAgent, error) {
	f.reason = reason
	return functions.ProjectAgent{Agent: functions.Agent{ID: agentID}}, f.begin()
}

func (f *fake) AgentTelemetry(_ context.Context, _ uuid.UUID, q functions.TelemetryQuery) ([]functions.TelemetryPoint, functions.TelemetryQuery, error) {
	return nil, q, f.begin()
}

func (f *fake) CheckEnrolmentToken(_ context.Context, token string) error {
	if token != joinToken {
		return &functions.Error{Kind: functions.KindUnauthorized, Code: "bad_token", Message: "the enrolment token is not valid", Hint: "ask for another"}
	}
	return f.begin()
}

func (f *fake) HoldsLease(_ context.Context, _, lease uuid.UUID) error {
	if lease == strangerID {
		return functions.NotFound("lease", lease.String())
	}
	return f.begin()
}

func (f *fake) Challenge(context.Context) (functions.Challenge, error) {
	return functions.Challenge{Nonce: "once", At: when}, f.begin()
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

func (f *fake) Lease(ctx context.Context, _ uuid.UUID, poll functions.Poll, idem functions.Idempotency) (*functions.Lease, error) {
	f.mu.Lock()
	f.most, f.wait, f.from, f.idem = poll.Most, poll.Wait, poll.From, idem
	f.mu.Unlock()
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
