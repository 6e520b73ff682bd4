package functions

import (
	"context"
	"crypto/ed25519"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/runtime/eula"
	"github.com/ostraka/ostraka/runtime/statement"
)

// Acceptance is the owner of an agent accepting an agreement, signed by the agent's key over statement.Acceptance.
type Acceptance struct {
	Version    string    `json:"version" maxLength:"40"`
	Digest     string    `json:"digest" minLength:"64" maxLength:"64" doc:"SHA-256 of the text that was accepted, in hexadecimal."`
	AcceptedAt time.Time `json:"accepted_at" doc:"By the agent's clock, in whole seconds: it is part of what is signed, and decides nothing."`
	Signature  []byte    `json:"signature" doc:"Ed25519 signature by the agent's key over the lines ostraka-eula/1, the public key in hexadecimal, version, digest and accepted_at in RFC 3339 and UTC, each ended by a line feed."`
}

// EULA is the agreement in force on this server.
func (s *Service) EULA() eula.Document { return s.eula }

// AcceptEULA records that an agent has accepted the agreement in force. Accepting again is harmless.
func (s *Service) AcceptEULA(ctx context.Context, agent uuid.UUID, a Acceptance, address string) error {
	return s.control(ctx, func(tx pgx.Tx) error {
		key, found, err := store.Value[[]byte](ctx, tx, store.AgentPublicKey, agent)
		if err != nil || !found {
			return orNotFound(err, "agent", agent)
		}
		if err := s.checkAcceptance(key, &a); err != nil {
			return err
		}
		if err := keepAcceptance(ctx, tx, agent, &a, address); err != nil {
			return err
		}
		return auditServer(ctx, tx, "agent:"+agent.String(), "agent.eula", agent.String(), map[string]any{"version": a.Version, "digest": a.Digest, "address": address})
	})
}

func (s *Service) checkAcceptance(key ed25519.PublicKey, a *Acceptance) error {
	switch {
	case a == nil:
		return ErrEULARequired.with("version %s of the agreement must be accepted first", s.eula.Version)
	case a.Version != s.eula.Version || a.Digest != s.eula.Digest:
		return ErrEULAMismatch.with("the agreement in force is version %s with digest %s", s.eula.Version, s.eula.Digest)
	case len(key) != ed25519.PublicKeySize || !ed25519.Verify(key, statement.Acceptance(key, a.Version, a.Digest, a.AcceptedAt), a.Signature):
		return ErrBadSignature.with("the acceptance is not signed by the agent's key")
	}
	return nil
}

// keepAcceptance writes an acceptance that was checked.
func keepAcceptance(ctx context.Context, tx pgx.Tx, agent uuid.UUID, a *Acceptance, address string) error {
	digest, err := hex.DecodeString(a.Digest)
	if err != nil {
		return fmt.Errorf("decoding the agreement's digest: %w", err)
	}
	_, err = store.Exec(ctx, tx, store.KeepAcceptance, agent, digest, a.Version, a.AcceptedAt, address, a.Signature)
	return err
}

// missingEULA names the agreement that an agent must still accept; nil where it has accepted the one in force.
func (s *Service) missingEULA(accepted []byte) *EULAReference {
	if hex.EncodeToString(accepted) == s.eula.Digest {
		return nil
	}
	return &EULAReference{Version: s.eula.Version, Digest: s.eula.Digest}
}
