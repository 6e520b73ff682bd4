package auditlog

import (
	"context"
	"crypto/ed25519"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	auditlog "github.com/ostraka/ostraka/audit"
	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/auditlog/sql"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/owner"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/runtime/statement"
)

const (
	// MinWitnessKeyAge is how long an agent keeps a key to co-sign with before it may register another: each is a record of the server's log.
	MinWitnessKeyAge = time.Hour
	// MaxCosignatureSkew is by how much the time in a cosignature may differ from the server's: clocks of machines are wrong by minutes, and
	// a cosignature of long ago that is sent again says nothing.
	MaxCosignatureSkew = 24 * time.Hour
)

// What a witness is refused with, beside the errors of package functions.
var (
	ErrNoWitnessKey = &functions.Error{
		Kind: functions.KindConflict, Code: "no_witness_key", Message: "the agent has registered no key to co-sign with",
		Hint: "register one with PUT /v1/agent/witness-key, and send the cosignature again",
	}
	ErrWitnessKeyNew = &functions.Error{
		Kind: functions.KindConflict, Code: "witness_key_new", Message: "the agent has registered another key to co-sign with less than an hour ago",
		Hint: "go on with that one, or try again in an hour",
	}
	ErrUnknownCheckpoint = &functions.Error{
		Kind: functions.KindConflict, Code: "unknown_checkpoint", Message: "the log has signed no such head, as far as this database knows",
		Hint: "co-sign the head of the next heartbeat; if the log has signed this one, the database is an older one, or another",
	}
	ErrCosignatureOlder = &functions.Error{
		Kind: functions.KindConflict, Code: "cosignature_older", Message: "the agent has co-signed a later head of this log already",
		Hint: "nothing is to be done: the later one stays",
	}
	ErrLogShorter = &functions.Error{
		Kind: functions.KindConflict, Code: "log_shorter", Message: "the log does not have as many records",
		Hint: "ask about a size that the log has signed; where it once had as many, it was rolled back",
	}
)

// Cosignature is what an agent has co-signed of a log.
type Cosignature struct {
	Agent      uuid.UUID `json:"agent"`
	Owner      string    `json:"owner,omitempty" doc:"Whose machine it is for this project, as it counts where results are verified; what is not known is left out."`
	Size       int64     `json:"size" doc:"How many records the log had."`
	At         time.Time `json:"at" doc:"When it was co-signed, by the agent's clock."`
	Checkpoint string    `json:"checkpoint" doc:"The head with the signatures of the log and of the agent."`
	Key        string    `json:"key" doc:"What verifies the agent's, as C2SP signed-note writes it. Compare it with what ostraka agent witness show says on a machine that you know."`
}

// RegisterWitnessKey keeps the key with which an agent co-signs. proof is its identity key's signature over statement.WitnessKey.
func (s *Service) RegisterWitnessKey(ctx context.Context, agent uuid.UUID, key, proof []byte) error {
	if len(key) != ed25519.PublicKeySize {
		return functions.Invalid("bad_public_key", fmt.Sprintf("an Ed25519 public key has %d bytes, this one has %d", ed25519.PublicKeySize, len(key)), "send the key's 32 bytes in base64")
	}
	type row struct {
		PublicKey []byte
		Key       []byte
	}
	return s.env.Control(ctx, func(tx pgx.Tx) error {
		known, found, err := store.One[row](ctx, tx, sql.LockWitness, agent)
		switch {
		case err != nil || !found:
			return base.OrNotFound(err, "agent", agent)
		case !ed25519.Verify(known.PublicKey, statement.WitnessKey(known.PublicKey, key), proof):
			return functions.ErrBadSignature.With("the key to co-sign with is not signed by the agent's key")
		case string(key) == string(known.PublicKey):
			return functions.Invalid("bad_public_key", "the agent's own key must not co-sign: what a cosignature is over does not say whose it is", "make another key for it")
		case string(key) == string(known.Key):
			return nil
		}
		if _, err := store.Exec(ctx, tx, sql.DropWitnessKey, agent, MinWitnessKeyAge); err != nil {
			return err
		}
		added, err := store.Exec(ctx, tx, sql.AddWitnessKey, agent, key, proof)
		if err != nil {
			return err
		}
		if added == 0 {
			return ErrWitnessKeyNew
		}
		witness, err := auditlog.Witness(agent.String(), key)
		if err != nil {
			return err
		}
		return base.AuditServer(ctx, tx, "agent:"+agent.String(), "agent.witness_key", agent.String(), map[string]any{"key": witness})
	})
}

// LogConsistency proves to an agent that a log of one size begins with that of another.
func (s *Service) LogConsistency(ctx context.Context, agent, project uuid.UUID, from, to int64) (proof []auditlog.Hash, err error) {
	if from < 1 || to < from {
		return nil, functions.Invalid("bad_sizes", fmt.Sprintf("no log of %d records begins with one of %d", to, from), "give the smaller size as from, and none below 1")
	}
	if err := s.mayWitness(ctx, agent, project); err != nil {
		return nil, err
	}
	err = s.env.In(ctx, project, func(tx *store.Tx) error {
		newest, _, err := store.One[checkpointRow](ctx, tx, sql.NewestCheckpoint)
		if err != nil {
			return err
		}
		if to > newest.Size {
			return ErrLogShorter.With("the log has %d records, and not %d", newest.Size, to)
		}
		proof, err = auditlog.ProveConsistency(from, to, auditNodes(ctx, tx))
		return err
	})
	return proof, err
}

// mayWitness refuses agents that the project lends nothing to: the size of its log is its own affair.
func (s *Service) mayWitness(ctx context.Context, agent, project uuid.UUID) error {
	if project == uuid.Nil {
		return nil
	}
	return s.env.Control(ctx, func(tx pgx.Tx) error {
		may, _, err := store.Value[bool](ctx, tx, sql.SeesProject, agent, project)
		if err != nil || !may {
			return base.OrNotFound(err, "project", project)
		}
		return nil
	})
}

// KeepCosignature verifies a head that an agent has co-signed, and keeps it where it is the newest of this agent and log.
func (s *Service) KeepCosignature(ctx context.Context, agent uuid.UUID, text string) error {
	said := auditlog.Origin([]byte(text))
	project, err := s.logOf(ctx, said)
	if err != nil {
		return err
	}
	if err := s.mayWitness(ctx, agent, project); err != nil {
		return err
	}
	name, err := s.originOf(ctx, project)
	if err != nil {
		return err
	}
	if name != said {
		return ErrUnknownCheckpoint.With("the log is called %s, and the head is not of that name", name)
	}
	signed, err := s.openCosigned(ctx, agent, name, text)
	if err != nil {
		return err
	}
	err = s.env.In(ctx, project, func(tx *store.Tx) error {
		known, _, err := store.Value[bool](ctx, tx, sql.SignedHead, signed.Size, signed.Root[:])
		if err == nil && !known {
			err = ErrUnknownCheckpoint
		}
		return err
	})
	if err != nil {
		return err
	}
	return s.env.Control(ctx, func(tx pgx.Tx) error {
		kept, err := store.Exec(ctx, tx, sql.KeepCosignature, agent, orServer(project), signed.Size, signed.At, text, signed.Line)
		if err == nil && kept == 0 {
			err = ErrCosignatureOlder
		}
		return err
	})
}

// originOf is origin in a transaction of its own.
func (s *Service) originOf(ctx context.Context, project uuid.UUID) (name string, err error) {
	err = s.env.In(ctx, project, func(tx *store.Tx) (err error) {
		name, err = origin(ctx, tx, project)
		return err
	})
	return name, err
}

// logOf is whose log has an origin, of whichever epoch.
func (s *Service) logOf(ctx context.Context, said string) (uuid.UUID, error) {
	log, _ := auditlog.Epoch(said)
	if id, found := strings.CutPrefix(log, auditlog.ProjectOrigin("")); found {
		if project, err := uuid.Parse(id); err == nil && project != uuid.Nil {
			return project, nil
		}
	}
	own, err := s.originOf(ctx, uuid.Nil)
	if first, _ := auditlog.Epoch(own); err != nil || first == log {
		return uuid.Nil, err
	}
	return uuid.Nil, badCosignature("it is of no log of this server")
}

func badCosignature(why string) error {
	return functions.Invalid("bad_cosignature", "the checkpoint is not one that the log and this agent have signed: "+why, "co-sign the head of a heartbeat as it is, with the key that was registered")
}

// openCosigned verifies a checkpoint with the keys of its log and of the agent.
func (s *Service) openCosigned(ctx context.Context, agent uuid.UUID, origin, text string) (signed auditlog.Cosigned, err error) {
	key, err := s.logSigner(ctx)
	if err != nil {
		return signed, err
	}
	log, err := key.Verifier(origin)
	if err != nil {
		return signed, err
	}
	var public []byte
	err = s.env.Control(ctx, func(tx pgx.Tx) (err error) {
		public, _, err = store.Value[[]byte](ctx, tx, sql.WitnessKey, agent)
		return err
	})
	if err != nil {
		return signed, err
	}
	if len(public) == 0 {
		return signed, ErrNoWitnessKey
	}
	witness, err := auditlog.Witness(agent.String(), public)
	if err != nil {
		return signed, err
	}
	if signed, err = auditlog.OpenCosigned([]byte(text), log, witness); err != nil {
		return signed, badCosignature(err.Error())
	}
	if skew := time.Since(signed.At).Abs(); skew > MaxCosignatureSkew {
		return signed, badCosignature(fmt.Sprintf("its time is %v from the server's, and at most %v are taken", skew.Round(time.Minute), MaxCosignatureSkew))
	}
	return signed, nil
}

// orServer is the project of a row about a log; none for the server's own.
func orServer(project uuid.UUID) *uuid.UUID {
	if project == uuid.Nil {
		return nil
	}
	return &project
}

type cosignatureRow struct {
	AgentID uuid.UUID
	Owner   string
	Size    int64
	At      time.Time
	Note    string
	Line    string
	Key     []byte
}

// addCosignatures puts what agents have co-signed of a log beside its head, and into it what they have of exactly this one.
func (s *Service) addCosignatures(ctx context.Context, project uuid.UUID, head *AuditHead) error {
	var rows []cosignatureRow
	err := s.env.Control(ctx, func(tx pgx.Tx) (err error) {
		rows, err = store.Many[cosignatureRow](ctx, tx, sql.ListCosignatures, orServer(project), auditlog.MaxCosignatures)
		return err
	})
	if err != nil {
		return err
	}
	head.Cosignatures = make([]Cosignature, 0, len(rows))
	hands, lines := map[string]bool{}, []string{}
	for _, r := range rows {
		if auditlog.Origin([]byte(r.Note)) != head.Origin { // of the epoch before: the log began anew while it was brought
			continue
		}
		key, err := auditlog.Witness(r.AgentID.String(), r.Key)
		if err != nil {
			return err
		}
		head.Cosignatures = append(head.Cosignatures, Cosignature{Agent: r.AgentID, Owner: r.Owner, Size: r.Size, At: r.At, Checkpoint: r.Note, Key: key})
		if strings.HasPrefix(r.Note, head.Checkpoint) && head.Size > 0 {
			hands[owner.Hand(r.Owner, r.AgentID)] = true
			lines = append(lines, r.Line)
		}
	}
	head.Owners, head.Checkpoint = len(hands), auditlog.WithCosignatures(head.Checkpoint, lines...)
	return nil
}
