package fleet

import (
	"context"
	"net/http"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/api/rest"
	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/fleet"
)

// Enrolments is what the API asks of the domain about how agents come in and say that they are there.
type Enrolments interface {
	// EULA is the agreement in force.
	// Challenge gives a nonce to enrol with.
	Challenge(ctx context.Context) (fleet.Challenge, error)
	// Enrol makes an agent: of the project that the token belongs to, or, without one, one that waits for approval. The same public key enrolling again is the same agent with a
	// new key; proof is an Ed25519 signature by the agent's key over statement.EnrolmentAnew, or over statement.Enrolment.
	CheckEnrolmentToken(ctx context.Context, token string) error
	Enrol(ctx context.Context, token string, e fleet.Enrolment, proof []byte, address string) (a fleet.Agent, agentKey string, err error)
	Heartbeat(ctx context.Context, agent uuid.UUID, beat fleet.Heartbeat) (fleet.Directives, error)
}

// EnrolInput is how an agent joins.
type EnrolInput struct {
	Body struct {
		PublicKey []byte            `json:"public_key" doc:"The agent's Ed25519 public key, 32 bytes."`
		Name      string            `json:"name" minLength:"1" maxLength:"200" doc:"What the agent's owner calls it."`
		Platform  fleet.Platform    `json:"platform"`
		Isolation string            `json:"isolation" enum:"gvisor,container,linux,linux-nocgroup,landlock,process" doc:"The isolation level that the agent can give, as its canary proved it."`
		Meter     int               `json:"meter,omitempty" minimum:"0" maximum:"1000000" doc:"The version of the meter with which it executes functions in WebAssembly; left out: it executes none."`
		Runtimes  string            `json:"runtimes,omitempty" maxLength:"40" doc:"The platform for which it executes functions in runtimes with native code, such as linux/amd64; left out: it executes none."`
		Proof     []byte            `json:"proof" doc:"Ed25519 signature over the enrolment statement: the lines ostraka-enrolment/2, the public key in hexadecimal, the SHA-256 of the enrolment token (of nothing, where there is none) in hexadecimal, server, nonce, and the challenge's time in RFC 3339, whole seconds and UTC, each ended by a line feed. Without a nonce: the first three, beginning with ostraka-enrolment/1, which works for agents that are not known yet."`
		Server    string            `json:"server,omitempty" maxLength:"300" doc:"By which origin the agent knows the server: scheme, host and, where it is not the scheme's own, port, in lower case." example:"https://ostraka.example"`
		Nonce     string            `json:"nonce,omitempty" maxLength:"100" doc:"From getEnrolmentChallenge."`
		EULA      *fleet.Acceptance `json:"eula,omitempty" doc:"The owner's acceptance of the agreement in force, see getEULA. Without it the answer is 403 eula_required."`
	} `nameHint:"Enrolment"`
}

// Enrolled is an agent that has joined, with its key.
type Enrolled struct {
	Agent fleet.Agent `json:"agent"`
	Key   string      `json:"key" doc:"What the agent authenticates with from now on. It is shown this once; enrolling again gives a new one."`
}

type enrolOutput struct {
	Body Enrolled
}

// HeartbeatInput is what an agent reports from time to time.
type HeartbeatInput struct {
	Body fleet.Heartbeat
}

type directivesOutput struct {
	Body fleet.Directives
}

// MaxEnrolmentBody is the largest body of an enrolment, in bytes: strangers may send it, and an agent's own has less than one KiB.
const MaxEnrolmentBody = 16 << 10

func (s *server) agentProtocol() {
	rest.Register(s.Server, rest.Operation{
		ID: "enrolAgent", Method: http.MethodPost, Path: "/v1/agent/enrol", Tag: "agent protocol", Summary: "Enrol an agent",
		About: "With a project's enrolment token the agent is active and works for the project. Without one it is pending until somebody approves it. " +
			"The same public key enrolling again is the same agent in the state that it has, with a new key.",
		Access: rest.ByEnrolmentToken(), Status: http.StatusCreated, Body: rest.Body{Limit: MaxEnrolmentBody}, Early: s.knowsToken,
	}, s.enrolAgent)
	rest.Register(s.Server, rest.Operation{
		ID: "getEnrolmentChallenge", Method: http.MethodGet, Path: "/v1/enrolment-challenge", Tag: "agent protocol", Summary: "Get a nonce to enrol with",
		About:  "The agent signs it, so that an enrolment that somebody has heard is no good to him. It works once for an agent, and for a minute.",
		Access: rest.Anyone, Early: func(_ context.Context, c *rest.Call) error { return s.MayEnrol(c.Request) },
	}, s.enrolmentChallenge)
	rest.Register(s.Server, rest.Operation{
		ID: "heartbeat", Method: http.MethodPost, Path: "/v1/agent/heartbeat", Tag: "agent protocol", Summary: "Say that the agent lives",
		About:  "Moves the deadlines of the leases that are named, keeps what is said of the machine, and answers what the server wants of the agent.",
		Access: rest.Roles(functions.RoleAgent), Body: rest.Body{Limit: rest.MaxJSONBody},
	}, s.heartbeat)
}

// knowsToken refuses an enrolment whose token is not valid before anything of it is read.
func (s *server) knowsToken(ctx context.Context, c *rest.Call) error {
	if err := s.MayEnrol(c.Request); err != nil {
		return err
	}
	if c.Token == "" {
		return nil
	}
	return s.service.CheckEnrolmentToken(ctx, c.Token)
}

func (s *server) enrolAgent(ctx context.Context, c *rest.Call, in *EnrolInput) (*enrolOutput, error) {
	a, key, err := s.service.Enrol(ctx, c.Token, fleet.Enrolment{
		PublicKey: in.Body.PublicKey, Name: in.Body.Name, Isolation: in.Body.Isolation, Meter: in.Body.Meter, Runtimes: in.Body.Runtimes, Platform: in.Body.Platform, EULA: in.Body.EULA,
		Server: in.Body.Server, Nonce: in.Body.Nonce,
	}, in.Body.Proof, c.Request.RemoteAddr)
	if err != nil {
		return nil, err
	}
	return &enrolOutput{Body: Enrolled{Agent: a, Key: key}}, nil
}

func (s *server) heartbeat(ctx context.Context, c *rest.Call, in *HeartbeatInput) (*directivesOutput, error) {
	d, err := s.service.Heartbeat(ctx, c.Principal.Agent, in.Body)
	if err != nil {
		return nil, err
	}
	d.Logs = s.service.LogHeads(ctx, d.LeaseProjects)
	return directivesAnswer(d), nil
}

type challengeOutput struct {
	Body fleet.Challenge
}

func (s *server) enrolmentChallenge(ctx context.Context, _ *rest.Call, _ *struct{}) (*challengeOutput, error) {
	c, err := s.service.Challenge(ctx)
	if err != nil {
		return nil, err
	}
	return &challengeOutput{Body: c}, nil
}
