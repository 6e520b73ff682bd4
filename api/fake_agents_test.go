package api_test

import (
	"context"
	"io"
	"time"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/dispatch"
	"github.com/ostraka/ostraka/functions/fleet"
	"github.com/ostraka/ostraka/runtime/eula"
)

func (f *fake) ListProjectAgents(_ context.Context, _ uuid.UUID, page functions.ListPage) ([]fleet.ProjectAgent, error) {
	return list(f, page, func(int) fleet.ProjectAgent { return fleet.ProjectAgent{Agent: fleet.Agent{ID: agentID}} })
}

func (f *fake) ListAgents(_ context.Context, state fleet.AgentState, page functions.ListPage) ([]fleet.Agent, error) {
	return list(f, page, func(int) fleet.Agent { return fleet.Agent{ID: agentID} })
}

func (f *fake) GetAgent(context.Context, uuid.UUID) (fleet.Agent, error) {
	return fleet.Agent{ID: agentID, State: fleet.AgentActive}, f.begin()
}

func (f *fake) DecideAgent(_ context.Context, _ functions.Principal, _ uuid.UUID, action fleet.AgentAction, reason string) (fleet.Agent, error) {
	f.action, f.reason = action, reason
	return fleet.Agent{ID: agentID, State: fleet.AgentActive, StateReason: reason}, f.begin()
}

func (f *fake) AssignOwner(_ context.Context, _ functions.Principal, _ uuid.UUID, owner string) (fleet.Agent, error) {
	return fleet.Agent{ID: agentID, Owner: owner}, f.begin()
}

func (f *fake) GetProjectAgent(context.Context, uuid.UUID, uuid.UUID) (fleet.ProjectAgent, error) {
	return fleet.ProjectAgent{Agent: fleet.Agent{ID: agentID}}, f.begin()
}

func (f *fake) AdmitAgent(_ context.Context, _ functions.Principal, _, _ uuid.UUID, owner, reason string) (fleet.ProjectAgent, error) {
	f.reason = reason
	return fleet.ProjectAgent{Agent: fleet.Agent{ID: agentID, Owner: owner}}, f.begin()
}

func (f *fake) ExcludeAgent(_ context.Context, _ functions.Principal, _, _ uuid.UUID, reason string) (fleet.ProjectAgent, error) {
	f.reason = reason
	return fleet.ProjectAgent{Agent: fleet.Agent{ID: agentID}, Excluded: true}, f.begin()
}

func (f *fake) PardonAgent(_ context.Context, _ functions.Principal, _, _ uuid.UUID, reason string) (fleet.ProjectAgent, error) {
	f.reason = reason
	return fleet.ProjectAgent{Agent: fleet.Agent{ID: agentID}}, f.begin()
}

func (f *fake) AgentTelemetry(_ context.Context, _ uuid.UUID, q fleet.TelemetryQuery) ([]fleet.TelemetryPoint, fleet.TelemetryQuery, error) {
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

func (f *fake) Challenge(context.Context) (fleet.Challenge, error) {
	return fleet.Challenge{Nonce: "once", At: when}, f.begin()
}

func (f *fake) EULA() eula.Document { return eula.Embedded() }

func (f *fake) AcceptEULA(_ context.Context, _ uuid.UUID, a fleet.Acceptance, _ string) error {
	f.acceptance = a
	return f.begin()
}

func (f *fake) SpeakFor(_ context.Context, _, instance uuid.UUID, _ string) error {
	f.instance = instance
	return f.begin()
}

func (f *fake) Enrol(_ context.Context, token string, e fleet.Enrolment, _ []byte, _ string) (fleet.Agent, string, error) {
	f.enrolment = e
	if token != joinToken {
		return fleet.Agent{}, "", &functions.Error{Kind: functions.KindUnauthorized, Code: "bad_token", Message: "the token is not valid", Hint: "use another"}
	}
	return fleet.Agent{ID: agentID, Name: e.Name}, "agent-key", f.begin()
}

func (f *fake) Lease(ctx context.Context, _ uuid.UUID, poll dispatch.Poll, idem functions.Idempotency) (*functions.Lease, error) {
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

func (f *fake) Record(_ context.Context, _, _ uuid.UUID, s dispatch.Submission) (dispatch.Recorded, error) {
	f.submission = s
	return dispatch.Recorded{Recorded: len(s.Results)}, f.begin()
}

func (f *fake) ReturnLease(context.Context, uuid.UUID, uuid.UUID) error { return f.begin() }

func (f *fake) RefuseLease(context.Context, uuid.UUID, uuid.UUID, dispatch.Refusal) error {
	return f.begin()
}

func (f *fake) Heartbeat(_ context.Context, _ uuid.UUID, beat fleet.Heartbeat) (fleet.Directives, error) {
	f.beat = beat
	return fleet.Directives{State: fleet.AgentActive}, f.begin()
}

func (f *fake) ListAgentProjects(_ context.Context, _ uuid.UUID, page functions.ListPage) ([]functions.AgentProject, error) {
	return list(f, page, func(int) functions.AgentProject {
		return functions.AgentProject{Project: projectID, SigningKeys: []functions.SigningKey{f.signing(1)}}
	})
}

func (f *fake) Directives(context.Context, uuid.UUID, string, time.Duration) (fleet.Directives, error) {
	return fleet.Directives{}, f.begin()
}

func (f *fake) Confirm(context.Context, uuid.UUID, string) error { return f.begin() }

func (f *fake) ListSandboxes(_ context.Context, _ fleet.SandboxFilter, page functions.ListPage) ([]fleet.Sandbox, error) {
	return list(f, page, func(int) fleet.Sandbox { return fleet.Sandbox{ID: thingID} })
}

func (f *fake) GetSandbox(context.Context, uuid.UUID, uuid.UUID) (fleet.Sandbox, error) {
	return fleet.Sandbox{}, f.begin()
}

func (f *fake) SandboxSamples(context.Context, uuid.UUID, uuid.UUID, time.Time) ([]fleet.SandboxSample, error) {
	return nil, f.begin()
}

func (f *fake) TerminateSandbox(context.Context, functions.Principal, uuid.UUID, uuid.UUID, bool) (fleet.Sandbox, error) {
	return fleet.Sandbox{}, f.begin()
}

func (f *fake) ListSwitches(context.Context, uuid.UUID) ([]fleet.KillStatus, error) {
	return nil, f.begin()
}

func (f *fake) WaitSilent(context.Context, uuid.UUID, uuid.UUID, time.Duration) (fleet.KillStatus, error) {
	return fleet.KillStatus{}, f.begin()
}

func (f *fake) Kill(context.Context, functions.Principal, fleet.KillScope, string, bool) (fleet.KillStatus, error) {
	return fleet.KillStatus{}, f.begin()
}

func (f *fake) Release(context.Context, functions.Principal, fleet.KillScope) (bool, error) {
	return false, f.begin()
}
