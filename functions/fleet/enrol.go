package fleet

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"fmt"
	"net/netip"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/fleet/sql"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/functions/tenant"
	"github.com/ostraka/ostraka/functions/verify"
	"github.com/ostraka/ostraka/guardian"
	"github.com/ostraka/ostraka/runtime/bundle"
)

// How many agents may wait for approval: anybody can ask, so that there must be an end to it.
const (
	MaxPendingAgents = 1000 // in all
	MaxPendingEach   = 16   // of one block of addresses; the server's own network has no blocks
)

// Enrol makes an agent. With a token it is active, and a member of the token's project; without one it waits for somebody to approve
// it. The same public key enrolling again is the same agent in the state that it has, with a new API key; the old ones end. So an agent
// that a restored server has forgotten the key of goes on. proof is the agent's signature over statement.EnrolmentAnew; of an agent that is
// not known yet it may be over statement.Enrolment, which earlier programs sign: replaying that gains nothing.
func (s *Service) Enrol(ctx context.Context, token string, e Enrolment, proof []byte, address string) (a Agent, agentKey string, err error) {
	platform, err := checkEnrolment(e)
	if err != nil {
		return a, "", err
	}
	if err := s.checkAcceptance(e.PublicKey, e.EULA); err != nil {
		return a, "", err
	}
	err = s.env.Control(ctx, func(tx pgx.Tx) error {
		nonceAt, err := s.checkProof(ctx, tx, token, e, proof)
		if err != nil {
			return err
		}
		by, err := s.invitation(ctx, tx, token, e.PublicKey, blockOf(address))
		if err != nil {
			return err
		}
		if err := s.mayReplaceKey(ctx, tx, e, address); err != nil {
			return err
		}
		if err := s.askEnrol(ctx, tx, by, e); err != nil {
			return err
		}
		id, found, err := store.Value[uuid.UUID](ctx, tx, sql.UpsertAgent, base.NewID(), e.PublicKey, e.Name, e.Isolation, platform, by.state, by.from, nonceAt, e.Meter, e.Runtimes)
		if err != nil {
			return err
		}
		if !found {
			return ErrEnrolmentReplayed
		}
		if a, err = getAgent(ctx, tx, id); err != nil {
			return err
		}
		if a.State == AgentRevoked {
			return functions.ErrAgentRevoked.With("agent %s was revoked: its key does not come back", a.ID)
		}
		if err := by.join(ctx, tx, a.ID); err != nil {
			return err
		}
		if err := keepAcceptance(ctx, tx, a.ID, e.EULA, address); err != nil {
			return err
		}
		if _, err := store.Exec(ctx, tx, sql.DropAgentKeys, a.ID); err != nil {
			return err
		}
		if _, agentKey, err = tenant.AddKey(ctx, tx, tenant.NewKey{Role: functions.RoleAgent, Agent: &a.ID, Name: e.Name}); err != nil {
			return err
		}
		if a.State == AgentPending {
			return nil // a stranger leaves nothing that stays: who approves the agent is in the log
		}
		return base.AuditServer(ctx, tx, "agent:"+a.ID.String(), "agent.enrol", a.ID.String(), map[string]any{
			"project": by.project, "state": a.State, "name": e.Name, "isolation": e.Isolation, "address": address,
		})
	})
	return a, agentKey, err
}

// invitation is what an agent enrols by.
type invitation struct {
	project *uuid.UUID // nil: it has no token
	token   []byte     // its digest
	owner   string     // whose machine it is, as the project says
	state   AgentState // of an agent that is not known yet
	from    string     // the block of addresses of one without a token
}

// askEnrol asks the guardian about an enrolment. Of a stranger who then waits for approval nothing is recorded but a refusal, once in a while:
// strangers must not fill the log, and who approves them is in it.
func (s *Service) askEnrol(ctx context.Context, tx pgx.Tx, by invitation, e Enrolment) error {
	i := by.intent(e)
	if by.project != nil {
		return s.env.AskControl(ctx, tx, i)
	}
	i.Subject = "without a token"
	op, err := i.Operation()
	if err != nil {
		return err
	}
	_, err = s.env.Guardian.Judge(ctx, store.Of(tx, uuid.Nil), base.RuleVersions{Operator: base.UnknownVersion}, op)
	return err
}

// intent is an enrolment in the words of the guardian.
func (by invitation) intent(e Enrolment) base.Intent {
	i := base.Intent{Step: "enrol", Kind: guardian.AgentEnrol, Subject: e.Name, Facts: guardian.AgentFacts{
		Agent: guardian.Agent{Name: e.Name, Owner: by.owner, State: string(by.state), Isolation: e.Isolation}, Action: "enrol",
	}}
	if by.project != nil {
		i.Project = *by.project
	}
	return i
}

func (s *Service) invitation(ctx context.Context, tx pgx.Tx, token string, publicKey []byte, from string) (by invitation, err error) {
	if token == "" {
		return invitation{state: AgentPending, from: from}, s.mayWait(ctx, tx, publicKey, from)
	}
	of, err := projectOfToken(ctx, tx, token)
	if err != nil {
		return by, err
	}
	return invitation{project: &of.ProjectID, token: base.SecretDigest(token), owner: of.Owner, state: AgentActive}, nil
}

// tokenProject is what an enrolment token says of its agents.
type tokenProject struct {
	ProjectID uuid.UUID
	Owner     string
}

func projectOfToken(ctx context.Context, db store.DB, token string) (tokenProject, error) {
	of, found, err := store.One[tokenProject](ctx, db, sql.TokenProject, base.SecretDigest(token))
	if err != nil || found {
		return of, err
	}
	return of, &functions.Error{Kind: functions.KindUnauthorized, Code: "bad_token", Message: "the enrolment token is not valid", Hint: "ask the project's owner for a new one: ostraka enrolment-token create"}
}

// CheckEnrolmentToken says whether agents can enrol by the token, before anything else of an enrolment is looked at.
func (s *Service) CheckEnrolmentToken(ctx context.Context, token string) error {
	return s.env.Control(ctx, func(tx pgx.Tx) error {
		_, err := projectOfToken(ctx, tx, token)
		return err
	})
}

// mayWait says whether an agent without a token may enrol: one that is known may always, a new one where there is room to wait.
func (s *Service) mayWait(ctx context.Context, tx pgx.Tx, publicKey []byte, from string) error {
	type row struct {
		Known     bool
		Pending   int64
		FromThere int64
	}
	now, _, err := store.One[row](ctx, tx, sql.CountPending, publicKey, from)
	switch {
	case err != nil || now.Known:
		return err
	case s.tokensOnly:
		return &functions.Error{Kind: functions.KindForbidden, Code: "token_required", Message: "this server takes no agents without an enrolment token", Hint: "ask a project's owner for one: ostraka enrolment-token create"}
	case now.FromThere >= MaxPendingEach:
		return tooManyPending(fmt.Sprintf("%d agents of these addresses (%s) wait for approval already, and no more may", now.FromThere, from))
	case now.Pending >= MaxPendingAgents:
		return tooManyPending(fmt.Sprintf("%d agents wait for approval already, and no more may", now.Pending))
	}
	return nil
}

func tooManyPending(message string) *functions.Error {
	return &functions.Error{Kind: functions.KindConflict, Code: "too_many_pending", Message: message, Hint: "enrol with a project's token, or ask the operator to approve or revoke those that wait"}
}

// blockOf is the block of an address with its port.
func blockOf(address string) string {
	from, err := netip.ParseAddrPort(address)
	if err != nil {
		return ""
	}
	return verify.Block(from.Addr())
}

// join makes the agent a member of the project that invited it. One that the project has excluded stays so. A token approves an agent
// that was waiting.
func (by invitation) join(ctx context.Context, tx pgx.Tx, agent uuid.UUID) error {
	if by.project == nil {
		return nil
	}
	joined, err := store.Exec(ctx, tx, sql.JoinProject, agent, *by.project, by.owner)
	if err != nil {
		return err
	}
	if joined > 0 {
		if used, err := store.Exec(ctx, tx, sql.UseEnrolmentToken, by.token); err != nil || used == 0 {
			return orUsedUp(err)
		}
	}
	_, err = store.Exec(ctx, tx, sql.ApproveByToken, agent)
	return err
}

func orUsedUp(err error) error {
	if err != nil {
		return err
	}
	return &functions.Error{Kind: functions.KindUnauthorized, Code: "token_used_up", Message: "as many agents have joined with the enrolment token as may", Hint: "ask the project's owner for a new one: ostraka enrolment-token create --uses N"}
}

func checkEnrolment(e Enrolment) (platform []byte, err error) {
	if err := functions.CheckLabel("agent", e.Name); err != nil {
		return nil, err
	}
	if _, err := bundle.ParseIsolation(e.Isolation); err != nil {
		return nil, functions.Invalid("bad_isolation", err.Error(), "report the level that the agent's sandbox achieves")
	}
	if len(e.PublicKey) != ed25519.PublicKeySize {
		return nil, functions.Invalid("bad_public_key", fmt.Sprintf("an Ed25519 public key has %d bytes, this one has %d", ed25519.PublicKeySize, len(e.PublicKey)), "send the key's 32 bytes in base64")
	}
	if platform, err = json.Marshal(e.Platform); err != nil {
		return nil, fmt.Errorf("encoding the platform: %w", err)
	}
	return platform, nil
}
