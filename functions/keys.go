package functions

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/ostraka/ostraka/functions/store"
)

type newKey struct {
	id      uuid.UUID // nil: a new one
	role    Role
	project *uuid.UUID
	agent   *uuid.UUID
	name    string
	expires *time.Time
}

func addKey(ctx context.Context, control store.DB, k newKey) (Key, string, error) {
	if k.id == uuid.Nil {
		k.id = newID()
	}
	secret := newSecret(string(k.role))
	key, _, err := store.One[Key](ctx, control, store.AddKey, k.id, k.role, k.project, k.agent, k.name, secretDigest(secret), k.expires)
	return key, secret, err
}

// Authenticate says whose key this is. A key that was revoked a moment ago is refused: nothing is cached.
func (s *Service) Authenticate(ctx context.Context, secret string) (Principal, error) {
	unauthorized := &Error{
		Kind: KindUnauthorized, Code: "bad_key", Message: "the key is not valid",
		Hint: "send a key that exists, has not expired and was not revoked, as Authorization: Bearer KEY",
	}
	if !looksLikeSecret(secret) {
		return Principal{}, unauthorized
	}
	type row struct {
		ID           uuid.UUID
		Role         Role
		ProjectID    *uuid.UUID
		AgentID      *uuid.UUID
		Instance     *uuid.UUID
		Revoked      bool
		AgentRevoked bool
		Quotas       map[QuotaName]int64
	}
	key, found, err := store.One[row](ctx, s.store.Pool, store.Authenticate, secretDigest(secret))
	if err != nil {
		return Principal{}, translate(err, uuid.Nil)
	}
	switch {
	case !found:
		return Principal{}, unauthorized
	case key.AgentRevoked:
		return Principal{}, ErrAgentRevoked
	case key.Revoked:
		return Principal{}, unauthorized
	}
	p := Principal{KeyID: key.ID, Role: key.Role, Quotas: key.Quotas}
	if key.ProjectID != nil {
		p.Project = *key.ProjectID
	}
	if key.AgentID != nil {
		p.Agent = *key.AgentID
	}
	if key.Instance != nil {
		p.Instance = *key.Instance
	}
	return p, nil
}

// CreateOperatorKey makes a key for whoever runs the installation. It is for the server's own machine: no API call reaches it.
func (s *Service) CreateOperatorKey(ctx context.Context, name string) (secret string, err error) {
	err = s.control(ctx, func(tx pgx.Tx) error {
		key, made, err := addKey(ctx, tx, newKey{role: RoleOperator, name: name})
		if err != nil {
			return err
		}
		secret = made
		return auditServer(ctx, tx, "server", "key.create", key.ID.String(), map[string]any{"role": RoleOperator, "name": name})
	})
	return secret, err
}

// CreateKey makes a key of a project. The secret is shown this once and empty when the request is replayed.
func (s *Service) CreateKey(ctx context.Context, by Principal, project uuid.UUID, name string, role Role, expires *time.Time, idem Idempotency) (k Key, secret string, replayed bool, err error) {
	if err := checkNewSecret("key", name, expires); err != nil {
		return Key{}, "", false, err
	}
	if role != RoleOwner && role != RoleSubmitter && role != RoleViewer && role != RoleAuditor {
		return Key{}, "", false, Invalid("bad_role", "a project's keys are for owners, submitters, viewers and auditors", "choose the role owner, submitter, viewer or auditor")
	}
	err = s.control(ctx, func(tx pgx.Tx) error {
		if _, err := getProject(ctx, tx, project); err != nil {
			return err
		}
		var id uuid.UUID
		if id, replayed, err = remember(ctx, tx, project, "create-key", idem, newID()); err != nil {
			return err
		}
		if replayed {
			k, _, err = store.One[Key](ctx, tx, store.GetKey, project, id)
			return err
		}
		if k, secret, err = addKey(ctx, tx, newKey{id: id, role: role, project: &project, name: name, expires: expires}); err != nil {
			return err
		}
		return auditServer(ctx, tx, by.Actor(), "key.create", id.String(), map[string]any{"project": project, "role": role, "name": name})
	})
	return k, secret, replayed, err
}

func checkNewSecret(what, name string, expires *time.Time) error {
	if err := checkLabel(what, name); err != nil {
		return err
	}
	if expired(expires) {
		return Invalid("bad_expiry", "the expiry is in the past", "leave it out, or choose a time to come")
	}
	return nil
}

// ListKeys lists a project's keys.
func (s *Service) ListKeys(ctx context.Context, project uuid.UUID, page ListPage) ([]Key, error) {
	return listControl[Key](ctx, s, store.ListKeys, page, project)
}

// RevokeKey ends a key at once. Revoking twice is harmless.
func (s *Service) RevokeKey(ctx context.Context, by Principal, project, id uuid.UUID) error {
	return s.revoke(ctx, by, store.RevokeKey, "key", project, id)
}

func (s *Service) revoke(ctx context.Context, by Principal, q store.Query, what string, project, id uuid.UUID) error {
	return s.control(ctx, func(tx pgx.Tx) error {
		n, err := store.Exec(ctx, tx, q, project, id)
		if err != nil || n == 0 {
			return orNotFound(err, what, id)
		}
		return auditServer(ctx, tx, by.Actor(), what+".revoke", id.String(), map[string]any{"project": project})
	})
}
