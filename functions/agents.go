package functions

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/runtime/bundle"
	"github.com/ostraka/ostraka/runtime/statement"
)

// Enrol makes an agent of the project that the token belongs to. The same public key enrolling again is the same agent, with a new
// API key; the old ones end. proof is the agent's signature over statement.Enrolment.
func (s *Service) Enrol(ctx context.Context, token string, e Enrolment, proof []byte) (a Agent, agentKey string, err error) {
	platform, err := checkEnrolment(token, e, proof)
	if err != nil {
		return a, "", err
	}
	err = s.control(ctx, func(tx pgx.Tx) error {
		project, found, err := store.Value[uuid.UUID](ctx, tx, store.TokenProject, secretDigest(token))
		if err != nil {
			return err
		}
		if !found {
			return &Error{Kind: KindUnauthorized, Code: "bad_token", Message: "the enrolment token is not valid", Hint: "ask the project's owner for a new one: ostraka enrolment-token create"}
		}
		if a, _, err = store.One[Agent](ctx, tx, store.UpsertAgent, newID(), e.PublicKey, e.Name, e.Isolation, platform); err != nil {
			return err
		}
		if a.State == AgentRevoked {
			return ErrNotEnrolled.with("agent %s was revoked", a.ID)
		}
		if _, err := store.Exec(ctx, tx, store.JoinProject, a.ID, project); err != nil {
			return err
		}
		if _, err := store.Exec(ctx, tx, store.RevokeAgentKeys, a.ID); err != nil {
			return err
		}
		if _, agentKey, err = addKey(ctx, tx, newKey{role: RoleAgent, agent: &a.ID, name: e.Name}); err != nil {
			return err
		}
		return auditServer(ctx, tx, "agent:"+a.ID.String(), "agent.enrol", a.ID.String(), map[string]any{"project": project, "name": e.Name, "isolation": e.Isolation})
	})
	return a, agentKey, err
}

func checkEnrolment(token string, e Enrolment, proof []byte) (platform []byte, err error) {
	if err := checkLabel("agent", e.Name); err != nil {
		return nil, err
	}
	if _, err := bundle.ParseIsolation(e.Isolation); err != nil {
		return nil, Invalid("bad_isolation", err.Error(), "report the level that the agent's sandbox achieves")
	}
	if len(e.PublicKey) != ed25519.PublicKeySize {
		return nil, Invalid("bad_public_key", fmt.Sprintf("an Ed25519 public key has %d bytes, this one has %d", ed25519.PublicKeySize, len(e.PublicKey)), "send the key's 32 bytes in base64")
	}
	if !ed25519.Verify(e.PublicKey, statement.Enrolment(e.PublicKey, token), proof) {
		return nil, ErrBadSignature.with("the proof is not a signature by the public key over the enrolment statement")
	}
	if platform, err = json.Marshal(e.Platform); err != nil {
		return nil, fmt.Errorf("encoding the platform: %w", err)
	}
	return platform, nil
}

// ListAgents lists all agents in the order of their IDs.
func (s *Service) ListAgents(ctx context.Context, page ListPage) ([]Agent, error) {
	return listControl[Agent](ctx, s, store.ListAgents, page)
}

// ListProjectAgents lists the agents of a project with the evidence about them.
func (s *Service) ListProjectAgents(ctx context.Context, project uuid.UUID, page ListPage) ([]ProjectAgent, error) {
	agents, err := listControl[Agent](ctx, s, store.ListProjectAgents, page, project)
	if err != nil {
		return nil, err
	}
	ids := make([]uuid.UUID, len(agents))
	list := make([]ProjectAgent, len(agents))
	for i, a := range agents {
		ids[i], list[i] = a.ID, ProjectAgent{Agent: a}
	}
	type evidence struct {
		AgentID  uuid.UUID
		Passed   int64
		Failed   int64
		CaughtAt *time.Time
		Reason   string
	}
	err = s.project(ctx, project, func(tx *store.Tx) error {
		rows, err := store.Many[evidence](ctx, tx, store.ListEvidence, ids)
		for _, r := range rows {
			for i := range list {
				if list[i].ID == r.AgentID {
					list[i].Passed, list[i].Failed, list[i].CaughtAt, list[i].Reason = r.Passed, r.Failed, r.CaughtAt, r.Reason
				}
			}
		}
		return err
	})
	return list, err
}

// RevokeAgent ends an agent everywhere: its keys are refused at once and its leases are taken back.
func (s *Service) RevokeAgent(ctx context.Context, by Principal, id uuid.UUID) (a Agent, err error) {
	err = s.control(ctx, func(tx pgx.Tx) error {
		n, err := store.Exec(ctx, tx, store.RevokeAgent, id)
		if err != nil || n == 0 {
			return orNotFound(err, "agent", id)
		}
		if _, err := store.Exec(ctx, tx, store.RevokeAgentKeys, id); err != nil {
			return err
		}
		if err := auditServer(ctx, tx, by.Actor(), "agent.revoke", id.String(), nil); err != nil {
			return err
		}
		projects, err := store.Values[uuid.UUID](ctx, tx, store.AgentProjects, id)
		if err != nil {
			return err
		}
		steps := make([]Step, len(projects))
		for i, p := range projects {
			steps[i] = RevokeArgs{Project: p, Agent: id}
		}
		if len(steps) > 0 {
			if err := s.queue.Enqueue(ctx, tx, steps...); err != nil {
				return err
			}
		}
		a, _, err = store.One[Agent](ctx, tx, store.GetAgent, id)
		return err
	})
	return a, err
}

// leasedFunction returns the function version that a lease of the agent is for.
func (s *Service) leasedFunction(ctx context.Context, agent, lease uuid.UUID) (holder leaseHolder, v FunctionVersion, err error) {
	if holder, err = s.leaseHolder(ctx, agent, lease); err != nil {
		return holder, v, err
	}
	err = s.project(ctx, holder.ProjectID, func(tx *store.Tx) error {
		row, found, err := store.One[functionRow](ctx, tx, store.FunctionOfJob, holder.JobID)
		if err != nil || !found {
			return orNotFound(err, "lease", lease)
		}
		v = row.version()
		return nil
	})
	return holder, v, err
}
