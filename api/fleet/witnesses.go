package fleet

import (
	"context"
	"encoding/base64"
	"net/http"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/api/rest"
	"github.com/ostraka/ostraka/audit"
	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/fleet"
)

// Witnesses is what the API asks of the domain about agents that co-sign the heads of logs. The nil project is the server's own log.
type Witnesses interface {
	LogHeads(ctx context.Context, projects []uuid.UUID) []fleet.LogHead
	LogConsistency(ctx context.Context, agent, project uuid.UUID, from, to int64) ([]audit.Hash, error)
	RegisterWitnessKey(ctx context.Context, agent uuid.UUID, key, proof []byte) error
	KeepCosignature(ctx context.Context, agent uuid.UUID, checkpoint string) error
}

// LogConsistencyInput names two sizes of a log.
type LogConsistencyInput struct {
	Project string `query:"project" maxLength:"36" doc:"Whose log it is. Left out: the server's own."`
	From    int64  `query:"from" required:"true" minimum:"1" doc:"The smaller size."`
	To      int64  `query:"to" required:"true" minimum:"1" doc:"The larger size: one that the log has signed."`
}

// LogConsistency is a proof that a log begins with a smaller one.
type LogConsistency struct {
	Hashes []string `json:"hashes" maxItems:"126" doc:"The proof of RFC 6962, each hash in base64."`
}

type logConsistencyOutput struct {
	Body LogConsistency
}

// WitnessKeyInput registers a key to co-sign with.
type WitnessKeyInput struct {
	Body struct {
		Key   []byte `json:"key" doc:"The Ed25519 public key, 32 bytes. It must do nothing else."`
		Proof []byte `json:"proof" doc:"Ed25519 signature by the agent's own key over the lines ostraka-witness-key/1, its public key in hexadecimal, and key in hexadecimal, each ended by a line feed."`
	} `nameHint:"WitnessKey"`
}

// CosignatureInput brings a head that an agent has co-signed.
type CosignatureInput struct {
	Body struct {
		Checkpoint string `json:"checkpoint" maxLength:"32768" doc:"The head as a heartbeat brought it, with a C2SP cosignature behind the log's signature."`
	} `nameHint:"CosignedCheckpoint"`
}

func (s *server) witnessOperations() {
	byAgents := rest.Roles(functions.RoleAgent)
	rest.Register(s.Server, rest.Operation{
		ID: "getLogConsistency", Method: http.MethodGet, Path: "/v1/agent/log-consistency", Tag: "agent protocol", Summary: "Get the proof that a log begins with what it was",
		About: "Heartbeats bring the heads of logs. An agent co-signs one only when this proof leads to it from the one that it remembers.", Access: byAgents,
	}, s.getLogConsistency)
	rest.Register(s.Server, rest.Operation{
		ID: "registerWitnessKey", Method: http.MethodPut, Path: "/v1/agent/witness-key", Tag: "agent protocol", Summary: "Register the key with which the agent co-signs",
		About:  "The same key again changes nothing. Another one replaces it, an hour later at the soonest, and ends what was co-signed with it.",
		Access: byAgents, Status: http.StatusNoContent, Body: rest.Body{Limit: rest.MaxJSONBody},
	}, func(ctx context.Context, c *rest.Call, in *WitnessKeyInput) (*rest.Nothing, error) {
		return nil, s.service.RegisterWitnessKey(ctx, c.Principal.Agent, in.Body.Key, in.Body.Proof)
	})
	rest.Register(s.Server, rest.Operation{
		ID: "cosignLog", Method: http.MethodPost, Path: "/v1/agent/cosignatures", Tag: "agent protocol", Summary: "Bring the head of a log that the agent has co-signed",
		About: "The newest of each agent and log is kept, and shown with the log's checkpoint.", Access: byAgents, Status: http.StatusNoContent, Body: rest.Body{Limit: rest.MaxJSONBody},
	}, func(ctx context.Context, c *rest.Call, in *CosignatureInput) (*rest.Nothing, error) {
		return nil, s.service.KeepCosignature(ctx, c.Principal.Agent, in.Body.Checkpoint)
	})
}

func (s *server) getLogConsistency(ctx context.Context, c *rest.Call, in *LogConsistencyInput) (*logConsistencyOutput, error) {
	project := uuid.Nil
	if in.Project != "" {
		var err error
		if project, err = rest.ReadID("project", rest.PathID(in.Project)); err != nil {
			return nil, err
		}
	}
	proof, err := s.service.LogConsistency(ctx, c.Principal.Agent, project, in.From, in.To)
	if err != nil {
		return nil, err
	}
	out := &logConsistencyOutput{Body: LogConsistency{Hashes: make([]string, len(proof))}}
	for i, h := range proof {
		out.Body.Hashes[i] = base64.StdEncoding.EncodeToString(h[:])
	}
	return out, nil
}
