package fleet

import (
	"context"
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"net"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/fleet/sql"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/runtime/statement"
)

// NonceLife is how long an agent may take to enrol with a nonce: a slow line, and no more.
const NonceLife = time.Minute

// Challenge is what an agent signs with its enrolment, so that an overheard enrolment cannot be replayed.
type Challenge struct {
	Nonce string    `json:"nonce" doc:"Goes into the enrolment and its statement as it is. It works once for an agent, and for a minute." maxLength:"100"`
	At    time.Time `json:"at" doc:"When it was given. The statement holds it in whole seconds, in RFC 3339 and UTC."`
}

// The parts of a nonce, in bytes. The server keeps nothing of those that it gives: it knows them again by their code.
const (
	nonceTime   = 8
	nonceRandom = 16
	nonceSize   = nonceTime + nonceRandom + sha256.Size
)

// Challenge gives a nonce to enrol with.
func (s *Service) Challenge(ctx context.Context) (c Challenge, err error) {
	err = s.env.Control(ctx, func(tx pgx.Tx) error {
		known, err := readNonceSecret(ctx, tx)
		if err != nil {
			return err
		}
		c = known.challenge()
		return nil
	})
	return c, err
}

// nonceSecret is what all servers of the database know their nonces by, with the database's time.
type nonceSecret struct {
	Secret []byte
	Now    time.Time
}

func readNonceSecret(ctx context.Context, tx pgx.Tx) (nonceSecret, error) {
	known, _, err := store.One[nonceSecret](ctx, tx, sql.EnrolmentSecret)
	return known, err
}

func (n nonceSecret) challenge() Challenge {
	b := make([]byte, nonceTime+nonceRandom, nonceSize)
	binary.BigEndian.PutUint64(b, uint64(n.Now.UnixMicro()))
	_, _ = rand.Read(b[nonceTime:]) // never fails: it ends the program instead
	return Challenge{Nonce: base64.RawURLEncoding.EncodeToString(append(b, n.code(b)...)), At: n.Now.Truncate(time.Microsecond).UTC()}
}

func (n nonceSecret) code(b []byte) []byte {
	h := hmac.New(sha256.New, n.Secret)
	h.Write([]byte("ostraka-enrolment-nonce/1\n"))
	h.Write(b)
	return h.Sum(nil)
}

// check says when a nonce was given, where it was given by a server of this database and not long ago.
func (n nonceSecret) check(nonce string) (at time.Time, err error) {
	b, err := base64.RawURLEncoding.Strict().DecodeString(nonce)
	if err != nil || len(b) != nonceSize || !hmac.Equal(b[nonceTime+nonceRandom:], n.code(b[:nonceTime+nonceRandom])) {
		return at, ErrBadNonce
	}
	at = time.UnixMicro(int64(binary.BigEndian.Uint64(b))).UTC()
	if n.Now.Sub(at) > NonceLife {
		return at, ErrBadNonce.With("the nonce was given %v ago, and works for %v", n.Now.Sub(at).Round(time.Second), NonceLife)
	}
	return at, nil
}

// known is an agent that enrols again.
type known struct {
	ID         uuid.UUID
	State      AgentState
	LastSeenAt *time.Time
	Address    string // of the process that speaks for it
}

// keyInUse is for how long after an agent was heard of somebody elsewhere who takes its key is suspect.
const keyInUse = time.Hour

// fromElsewhere says whether the key of an agent that is at work is replaced from another address.
func (k known) fromElsewhere(address string, now time.Time) bool {
	return k.LastSeenAt != nil && now.Sub(*k.LastSeenAt) < keyInUse && k.Address != "" && hostOf(k.Address) != hostOf(address)
}

// checkProof says when the nonce of an enrolment was given; nil for one of an agent of before, that has none.
func (s *Service) checkProof(ctx context.Context, tx pgx.Tx, token string, e Enrolment, proof []byte) (*time.Time, error) {
	if e.Nonce == "" {
		return nil, verified(e, statement.Enrolment(e.PublicKey, token), proof)
	}
	if e.Server != statement.Origin(e.Server) || len(s.names) > 0 && !slices.Contains(s.names, e.Server) {
		return nil, ErrOtherServer.With("the enrolment is for the server %q, which this one is not", e.Server)
	}
	secret, err := readNonceSecret(ctx, tx)
	if err != nil {
		return nil, err
	}
	at, err := secret.check(e.Nonce)
	if err != nil {
		return nil, err
	}
	return &at, verified(e, statement.EnrolmentAnew(e.PublicKey, token, e.Server, e.Nonce, at), proof)
}

func verified(e Enrolment, stated, proof []byte) error {
	if !ed25519.Verify(e.PublicKey, stated, proof) {
		return functions.ErrBadSignature.With("the proof is not a signature by the public key over the enrolment statement")
	}
	return nil
}

// mayReplaceKey refuses an agent that is known and says nothing that could not have been said before, and marks one whose key is replaced
// from elsewhere while it works.
func (s *Service) mayReplaceKey(ctx context.Context, tx pgx.Tx, e Enrolment, address string) error {
	k, found, err := store.One[known](ctx, tx, sql.LockEnrolling, e.PublicKey)
	switch {
	case err != nil || !found:
		return err
	case k.State == AgentRevoked:
		return functions.ErrAgentRevoked.With("agent %s was revoked: its key does not come back", k.ID)
	case e.Nonce == "":
		return ErrAgentOutdated
	case !k.fromElsewhere(address, time.Now()):
		return nil
	}
	s.env.Log.Warn("an agent's key was replaced from another address than it works from", "agent", k.ID, "works_from", k.Address, "replaced_from", address)
	if _, err := store.Exec(ctx, tx, sql.FlagDuplicate, k.ID, address); err != nil {
		return err
	}
	return base.AuditServer(ctx, tx, "agent:"+k.ID.String(), "agent.key_replaced", k.ID.String(), map[string]any{"works_from": k.Address, "replaced_from": address})
}

func hostOf(address string) string {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return address
	}
	return host
}

func origins(urls []string) []string {
	names := make([]string, len(urls))
	for i, u := range urls {
		names[i] = statement.Origin(u)
	}
	return names
}
