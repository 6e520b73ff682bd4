package fleet

import (
	"context"
	"crypto/ed25519"
	"encoding/hex"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/fleet/sql"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/runtime/eula"
	"github.com/ostraka/ostraka/runtime/statement"
)

// EULA is the agreement in force on this server.
func (s *Service) EULA() eula.Document { return s.eula }

// AcceptEULA records that an agent has accepted the agreement in force. Accepting again is harmless.
func (s *Service) AcceptEULA(ctx context.Context, agent uuid.UUID, a Acceptance, address string) error {
	return s.env.Control(ctx, func(tx pgx.Tx) error {
		key, found, err := store.Value[[]byte](ctx, tx, sql.AgentPublicKey, agent)
		if err != nil || !found {
			return base.OrNotFound(err, "agent", agent)
		}
		if err := s.checkAcceptance(key, &a); err != nil {
			return err
		}
		if err := keepAcceptance(ctx, tx, agent, &a, address); err != nil {
			return err
		}
		return base.AuditServer(ctx, tx, "agent:"+agent.String(), "agent.eula", agent.String(), map[string]any{"version": a.Version, "digest": a.Digest, "address": address})
	})
}

func (s *Service) checkAcceptance(key ed25519.PublicKey, a *Acceptance) error {
	switch {
	case a == nil:
		return functions.ErrEULARequired.With("version %s of the agreement must be accepted first", s.eula.Version)
	case a.Version != s.eula.Version || a.Digest != s.eula.Digest:
		return ErrEULAMismatch.With("the agreement in force is version %s with digest %s", s.eula.Version, s.eula.Digest)
	case len(key) != ed25519.PublicKeySize || !ed25519.Verify(key, statement.Acceptance(key, a.Version, a.Digest, a.AcceptedAt), a.Signature):
		return functions.ErrBadSignature.With("the acceptance is not signed by the agent's key")
	}
	return nil
}

// keepAcceptance writes an acceptance that was checked.
func keepAcceptance(ctx context.Context, tx pgx.Tx, agent uuid.UUID, a *Acceptance, address string) error {
	digest, err := hex.DecodeString(a.Digest)
	if err != nil {
		return fmt.Errorf("decoding the agreement's digest: %w", err)
	}
	_, err = store.Exec(ctx, tx, sql.KeepAcceptance, agent, digest, a.Version, a.AcceptedAt, address, a.Signature)
	return err
}

// MissingEULA names the agreement that an agent must still accept; nil where it has accepted the one in force.
func (s *Service) MissingEULA(accepted []byte) *EULAReference {
	if hex.EncodeToString(accepted) == s.eula.Digest {
		return nil
	}
	return &EULAReference{Version: s.eula.Version, Digest: s.eula.Digest}
}
