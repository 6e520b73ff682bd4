package agent

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"runtime"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/agent/secretfile"
	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/runtime/signing"
	"github.com/ostraka/ostraka/runtime/statement"
)

// ErrNotEnrolled says that the agent has not joined the server and has no token to do so.
var ErrNotEnrolled = errors.New("the agent has not joined this server")

// enrolment is what the agent keeps of having joined a server.
type enrolment struct {
	URL   string    `json:"url"`
	Agent uuid.UUID `json:"agent"`
	Key   string    `json:"key"` // what it authenticates with there
}

// readEnrolment reads what is kept; nothing where there is none.
func readEnrolment(path string) (e enrolment, err error) {
	text, err := secretfile.Read(path)
	if errors.Is(err, fs.ErrNotExist) {
		return enrolment{}, nil
	}
	if err != nil {
		return enrolment{}, fmt.Errorf("reading the enrolment: %w", err)
	}
	if err := json.Unmarshal(text, &e); err != nil || e.Key == "" {
		return enrolment{}, fmt.Errorf("reading the enrolment: %s is damaged; delete it and enrol again with a token", path)
	}
	return e, nil
}

// join makes the agent one of the server's, unless it is already. A key is only ever shown to the server that gave it.
func (a *agent) join(ctx context.Context) error {
	kept, err := readEnrolment(a.dir.enrolmentFile())
	if err != nil {
		return err
	}
	if kept.URL == a.options.URL {
		a.server.useKey(kept.Key)
		a.id = kept.Agent
		return nil
	}
	if a.options.Token == "" && kept.URL != "" {
		return fmt.Errorf("%w: %s holds the enrolment with %s; give a token of %s, or another data directory", ErrNotEnrolled, a.dir.path, kept.URL, a.options.URL)
	}
	return a.persist(ctx, "joining the server", a.enrol)
}

// enrolAgain is for when the server does not know the agent's key any more. Workers that notice it together enrol once.
func (a *agent) enrolAgain(ctx context.Context) error {
	before := a.server.key.Load()
	a.enrolling.Lock()
	defer a.enrolling.Unlock()
	if a.server.key.Load() != before {
		return nil // another worker has done it
	}
	a.log.Warn("the server does not know this agent's key any more: it was replaced, or the server was restored from a backup; enrolling again")
	err := a.enrol(ctx)
	if errors.Is(err, ErrNotEnrolled) && a.options.Token != "" {
		a.log.Warn("enrolling with the token failed; enrolling without one", "error", err)
		return a.enrolWith(ctx, "")
	}
	return err
}

func (a *agent) enrol(ctx context.Context) error { return a.enrolWith(ctx, a.options.Token) }

// enrolWith shows the token and the proof that the private key is held here, and keeps the key that comes back. Without a token the
// agent continues where the server knows its public key, and else waits for somebody to approve it.
func (a *agent) enrolWith(ctx context.Context, token string) error {
	agreed, err := ReadAcceptance(a.dir.path)
	if err != nil {
		return err
	}
	platform, err := a.platform(ctx)
	if err != nil {
		return err
	}
	e := client.Enrolment{
		PublicKey: signing.Public(a.key),
		Name:      a.options.Name,
		Isolation: client.EnrolmentIsolation(a.sandbox.Level()),
		Meter:     a.meter(),
		Runtimes:  a.runtimes(),
		Platform:  platform,
		Eula:      agreed.stated(),
	}
	if err := a.prove(ctx, &e, token); err != nil {
		return err
	}
	enrolled, err := a.server.enrol(ctx, token, e)
	if isStatus(err, http.StatusUnauthorized) {
		return refusedToken{err}
	}
	if err != nil {
		return err
	}
	return a.keepEnrolment(enrolled)
}

// prove signs the enrolment, with a nonce that the server gives only once, so that it cannot be replayed. An earlier server has no
// challenges.
func (a *agent) prove(ctx context.Context, e *client.Enrolment, token string) error {
	c, err := a.server.challenge(ctx)
	if isStatus(err, http.StatusNotFound) {
		e.Proof = ed25519.Sign(a.key, statement.Enrolment(e.PublicKey, token))
		return nil
	}
	if err != nil {
		return err
	}
	e.Server, e.Nonce = statement.Origin(a.options.URL), c.Nonce
	e.Proof = ed25519.Sign(a.key, statement.EnrolmentAnew(e.PublicKey, token, e.Server, c.Nonce, c.At))
	return nil
}

// refusedToken keeps persist from enrolling again because enrolling was refused.
type refusedToken struct{ err error }

func (r refusedToken) Error() string { return "the enrolment token is refused: " + r.err.Error() }

// Is makes it an error of authorisation to those who ask.
func (r refusedToken) Is(target error) bool { return target == ErrNotEnrolled }

func (a *agent) keepEnrolment(e client.Enrolled) error {
	text, err := json.Marshal(enrolment{URL: a.options.URL, Agent: e.Agent.ID, Key: e.Key})
	if err != nil {
		return fmt.Errorf("encoding the enrolment: %w", err)
	}
	if err := secretfile.Write(a.dir.enrolmentFile(), text); err != nil {
		return fmt.Errorf("keeping the enrolment: %w", err)
	}
	a.server.useKey(e.Key)
	a.id = e.Agent.ID
	a.log.Info("joined the server", "agent", e.Agent.ID, "name", e.Agent.Name, "state", e.Agent.State)
	if e.Agent.State == client.AgentStatePending {
		a.log.Warn("the agent waits for approval: tell the operator of the server its ID, or start it once with a project's token", "agent", e.Agent.ID)
	}
	return nil
}

// platform is what the agent says about its machine.
func (a *agent) platform(ctx context.Context) (client.Platform, error) {
	interpreter, libc, err := a.sandbox.Describe(ctx)
	if err != nil {
		return client.Platform{}, fmt.Errorf("looking at this machine's interpreter: %w", err)
	}
	return client.Platform{
		Os: runtime.GOOS, Arch: runtime.GOARCH, Cpus: int64(runtime.NumCPU()), MemoryBytes: readMemory().total,
		Interpreter: interpreter, Libc: libc, Agent: a.options.Version,
	}, nil
}
