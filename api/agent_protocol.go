package api

import (
	"context"
	"net/http"

	"github.com/ostraka/ostraka/functions"
)

// EnrolInput is how an agent joins.
type EnrolInput struct {
	Body struct {
		PublicKey []byte                `json:"public_key" doc:"The agent's Ed25519 public key, 32 bytes."`
		Name      string                `json:"name" minLength:"1" maxLength:"200" doc:"What the agent's owner calls it."`
		Platform  functions.Platform    `json:"platform"`
		Isolation string                `json:"isolation" enum:"gvisor,container,linux,linux-nocgroup,landlock,process" doc:"The isolation level that the agent can give, as its canary proved it."`
		Proof     []byte                `json:"proof" doc:"Ed25519 signature over the enrolment statement: the lines ostraka-enrolment/1, the public key in hexadecimal, and the SHA-256 of the enrolment token (of nothing, where there is none) in hexadecimal, each ended by a line feed."`
		EULA      *functions.Acceptance `json:"eula,omitempty" doc:"The owner's acceptance of the agreement in force, see getEULA. Without it the answer is 403 eula_required."`
	} `nameHint:"Enrolment"`
}

// Enrolled is an agent that has joined, with its key.
type Enrolled struct {
	Agent functions.Agent `json:"agent"`
	Key   string          `json:"key" doc:"What the agent authenticates with from now on. It is shown this once; enrolling again gives a new one."`
}

type enrolOutput struct {
	Body Enrolled
}

// HeartbeatInput is what an agent reports from time to time.
type HeartbeatInput struct {
	Body functions.Heartbeat
}

type directivesOutput struct {
	Body functions.Directives
}

// MaxEnrolmentBody is the largest body of an enrolment, in bytes: strangers may send it, and an agent's own has less than one KiB.
const MaxEnrolmentBody = 16 << 10

func (s *server) agentProtocol() {
	register(s, operation{
		id: "enrolAgent", method: http.MethodPost, path: "/v1/agent/enrol", tag: "agent protocol", summary: "Enrol an agent",
		about: "With a project's enrolment token the agent is active and works for the project. Without one it is pending until somebody approves it. " +
			"The same public key enrolling again is the same agent in the state that it has, with a new key.",
		access: byEnrolmentToken(), status: http.StatusCreated, body: body{limit: MaxEnrolmentBody}, early: s.knowsToken,
	}, s.enrolAgent)
	register(s, operation{
		id: "heartbeat", method: http.MethodPost, path: "/v1/agent/heartbeat", tag: "agent protocol", summary: "Say that the agent lives",
		about:  "Moves the deadlines of the leases that are named, keeps what is said of the machine, and answers what the server wants of the agent.",
		access: roles(functions.RoleAgent), body: body{limit: MaxJSONBody},
	}, s.heartbeat)
}

// knowsToken refuses an enrolment whose token is not valid before anything of it is read.
func (s *server) knowsToken(ctx context.Context, c *call) error {
	if err := s.mayEnrol(c.request); err != nil {
		return err
	}
	if c.token == "" {
		return nil
	}
	return s.service.CheckEnrolmentToken(ctx, c.token)
}

func (s *server) enrolAgent(ctx context.Context, c *call, in *EnrolInput) (*enrolOutput, error) {
	a, key, err := s.service.Enrol(ctx, c.token, functions.Enrolment{
		PublicKey: in.Body.PublicKey, Name: in.Body.Name, Isolation: in.Body.Isolation, Platform: in.Body.Platform, EULA: in.Body.EULA,
	}, in.Body.Proof, c.request.RemoteAddr)
	if err != nil {
		return nil, err
	}
	return &enrolOutput{Body: Enrolled{Agent: a, Key: key}}, nil
}

func (s *server) heartbeat(ctx context.Context, c *call, in *HeartbeatInput) (*directivesOutput, error) {
	d, err := s.service.Heartbeat(ctx, c.principal.Agent, in.Body)
	if err != nil {
		return nil, err
	}
	return directivesAnswer(d), nil
}
