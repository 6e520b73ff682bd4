package tenant

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/functions/tenant/sql"
	"github.com/ostraka/ostraka/guardian"
)

const (
	// keyTouch is how old the recorded last use of a key may be before it is written again: one write in some minutes, not one a request.
	keyTouch = 5 * time.Minute
	// MaxKeyOverlap is how long a key that was replaced may continue working: long enough for a deployment that is made once a month.
	MaxKeyOverlap = 31 * 24 * time.Hour
)

// NewKey is a key or token that is to be made.
type NewKey struct {
	id      uuid.UUID // nil: a new one
	Role    functions.Role
	project *uuid.UUID
	Agent   *uuid.UUID
	Name    string
	expires *time.Time
}

// AddKey makes one, and returns its secret, which is stored nowhere.
func AddKey(ctx context.Context, control store.DB, k NewKey) (functions.Key, string, error) {
	if k.id == uuid.Nil {
		k.id = base.NewID()
	}
	secret := base.NewSecret(string(k.Role))
	key, _, err := store.One[functions.Key](ctx, control, sql.AddKey, k.id, k.Role, k.project, k.Agent, k.Name, base.SecretDigest(secret), k.expires)
	return key, secret, err
}

// Authenticate says whose key this is. A key that was revoked a moment ago is refused: nothing is cached.
func (s *Service) Authenticate(ctx context.Context, secret string) (functions.Principal, error) {
	unauthorized := &functions.Error{
		Kind: functions.KindUnauthorized, Code: "bad_key", Message: "the key is not valid",
		Hint: "send a key that exists, has not expired and was not revoked, as Authorization: Bearer KEY",
	}
	if !base.LooksLikeSecret(secret) {
		return functions.Principal{}, unauthorized
	}
	type row struct {
		ID           uuid.UUID
		Role         functions.Role
		ProjectID    *uuid.UUID
		AgentID      *uuid.UUID
		Instance     *uuid.UUID
		Revoked      bool
		AgentRevoked bool
		Quotas       map[functions.QuotaName]int64
		Stale        bool
	}
	key, found, err := store.One[row](ctx, s.env.Store.Pool, sql.Authenticate, base.SecretDigest(secret), keyTouch)
	if err != nil {
		return functions.Principal{}, base.Translate(err, uuid.Nil)
	}
	switch {
	case !found:
		return functions.Principal{}, unauthorized
	case key.AgentRevoked:
		return functions.Principal{}, functions.ErrAgentRevoked
	case key.Revoked:
		return functions.Principal{}, unauthorized
	}
	if key.Stale {
		if _, err := store.Exec(ctx, s.env.Store.Pool, sql.TouchKey, key.ID); err != nil {
			return functions.Principal{}, base.Translate(err, uuid.Nil)
		}
	}
	p := functions.Principal{KeyID: key.ID, Role: key.Role, Quotas: key.Quotas}
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

// CreateOperatorKey makes a key for an operator of the installation. It is for the server's own machine: no API call reaches it.
func (s *Service) CreateOperatorKey(ctx context.Context, name string, expires *functions.Expiry) (k functions.Key, secret string, err error) {
	now := time.Now()
	if err := CheckNewSecret("key", name, expires, now); err != nil {
		return functions.Key{}, "", err
	}
	err = s.env.Control(ctx, func(tx pgx.Tx) error {
		if k, secret, err = AddKey(ctx, tx, NewKey{Role: functions.RoleOperator, Name: name, expires: expires.From(now)}); err != nil {
			return err
		}
		return base.AuditServer(ctx, tx, "server", "key.create", k.ID.String(), map[string]any{"role": functions.RoleOperator, "name": name})
	})
	return k, secret, err
}

// ListOperatorKeys lists the keys of those who run the installation, without their secrets. It is for the server's own machine.
func (s *Service) ListOperatorKeys(ctx context.Context, page functions.ListPage) ([]functions.Key, error) {
	return base.ListControl[functions.Key](ctx, s.env, sql.ListOperatorKeys, page)
}

// RevokeOperatorKey ends an operator's key, and the sessions that were opened with it, at once. Revoking twice is harmless; the last one
// may go too, since another is made with access to the database. It is for the server's own machine.
func (s *Service) RevokeOperatorKey(ctx context.Context, id uuid.UUID) error {
	return s.env.Control(ctx, func(tx pgx.Tx) error {
		n, err := store.Exec(ctx, tx, sql.RevokeOperatorKey, id)
		if err != nil || n == 0 {
			return base.OrNotFound(err, "key", id)
		}
		return base.AuditServer(ctx, tx, "server", "key.revoke", id.String(), map[string]any{"role": functions.RoleOperator})
	})
}

// CreateKey makes a key of a project. The secret is shown this once and empty when the request is replayed.
func (s *Service) CreateKey(ctx context.Context, by functions.Principal, project uuid.UUID, name string, role functions.Role, expires *functions.Expiry, idem functions.Idempotency) (k functions.Key, secret string, replayed bool, err error) {
	now := time.Now()
	if err := CheckNewSecret("key", name, expires, now); err != nil {
		return functions.Key{}, "", false, err
	}
	if role != functions.RoleOwner && role != functions.RoleSubmitter && role != functions.RoleViewer && role != functions.RoleAuditor && role != functions.RoleReviewer {
		return functions.Key{}, "", false, functions.Invalid("bad_role", "a project's keys are for owners, submitters, viewers, auditors and reviewers", "choose the role owner, submitter, viewer, auditor or reviewer")
	}
	err = s.env.Control(ctx, func(tx pgx.Tx) error {
		if _, err := GetProject(ctx, tx, project); err != nil {
			return err
		}
		var id uuid.UUID
		if id, replayed, err = base.Remember(ctx, tx, project, "create-key", idem, base.NewID()); err != nil {
			return err
		}
		if replayed {
			k, _, err = store.One[functions.Key](ctx, tx, sql.GetKey, project, id)
			return err
		}
		intent := newKeyIntent(by, project, guardian.KeyCreate, guardian.Key{Name: name, Role: string(role)}, keyAsked{Expiry: expires}, now)
		if err := s.env.AskControl(ctx, tx, intent); err != nil {
			return err
		}
		if k, secret, err = AddKey(ctx, tx, NewKey{id: id, Role: role, project: &project, Name: name, expires: expires.From(now)}); err != nil {
			return err
		}
		return base.AuditServer(ctx, tx, by.Actor(), "key.create", id.String(), map[string]any{"project": project, "role": role, "name": name})
	})
	return k, secret, replayed, err
}

// RotateKey makes a key that replaces another one of the project: of the same name and role, with the end given. The old one keeps working
// for overlap, so that its user can change it without an interruption; 0 ends it at once. The secret is shown this once and empty
// when the request is replayed.
func (s *Service) RotateKey(ctx context.Context, by functions.Principal, project, id uuid.UUID, overlap time.Duration, expires *functions.Expiry, idem functions.Idempotency) (k functions.Key, secret string, replayed bool, err error) {
	if overlap < 0 || overlap > MaxKeyOverlap {
		return functions.Key{}, "", false, functions.Invalid("bad_overlap", fmt.Sprintf("the old key may go on working for 0 to %d seconds", int64(MaxKeyOverlap.Seconds())), "choose a time within that")
	}
	now := time.Now()
	if err := expires.Check(now); err != nil {
		return functions.Key{}, "", false, err
	}
	err = s.env.Control(ctx, func(tx pgx.Tx) error {
		old, found, err := store.One[functions.Key](ctx, tx, sql.GetKey, project, id)
		if err != nil || !found {
			return base.OrNotFound(err, "key", id)
		}
		var made uuid.UUID
		if made, replayed, err = base.Remember(ctx, tx, project, "rotate-key", idem, base.NewID()); err != nil {
			return err
		}
		if replayed {
			k, _, err = store.One[functions.Key](ctx, tx, sql.GetKey, project, made)
			return err
		}
		about := guardian.Key{ID: id.String(), Name: old.Name, Role: string(old.Role), Rotated: true}
		asked := keyAsked{Expiry: expires, OverlapSeconds: int64(overlap.Seconds())}
		if err := s.env.AskControl(ctx, tx, newKeyIntent(by, project, guardian.KeyCreate, about, asked, now)); err != nil {
			return err
		}
		if n, err := store.Exec(ctx, tx, sql.RetireKey, project, id, now.Add(overlap)); err != nil || n == 0 {
			return orEnded(err, id)
		}
		if k, secret, err = AddKey(ctx, tx, NewKey{id: made, Role: old.Role, project: &project, Name: old.Name, expires: expires.From(now)}); err != nil {
			return err
		}
		return base.AuditServer(ctx, tx, by.Actor(), "key.rotate", made.String(), map[string]any{"project": project, "role": old.Role, "name": old.Name, "replaces": id, "overlap_seconds": int64(overlap.Seconds())})
	})
	return k, secret, replayed, err
}

func orEnded(err error, id uuid.UUID) error {
	if err != nil {
		return err
	}
	return &functions.Error{
		Kind: functions.KindConflict, Code: "key_ended", Message: "the key " + id.String() + " has ended already: it was revoked, or has expired", Hint: "create a key instead",
	}
}

// RecoverOwner makes an owner's key for a project whose owner has lost theirs. Operators alone may, with a reason; the project's own log
// keeps who did it and why, so that its owner sees every key that was not made by themselves. The secret is shown this once and empty when
// the request is replayed.
func (s *Service) RecoverOwner(ctx context.Context, by functions.Principal, project uuid.UUID, name, reason string, expires *functions.Expiry, idem functions.Idempotency) (k functions.Key, secret string, replayed bool, err error) {
	now := time.Now()
	if err := CheckNewSecret("key", name, expires, now); err != nil {
		return functions.Key{}, "", false, err
	}
	if err := functions.CheckResolutionReason(reason); err != nil {
		return functions.Key{}, "", false, err
	}
	err = s.env.Project(ctx, project, func(tx *store.Tx) error {
		control, err := tx.AsServer(ctx)
		if err != nil {
			return err
		}
		var id uuid.UUID
		if id, replayed, err = base.Remember(ctx, control, project, "recover-owner", idem, base.NewID()); err != nil {
			return err
		}
		if replayed {
			k, _, err = store.One[functions.Key](ctx, control, sql.GetKey, project, id)
			return err
		}
		about := guardian.Key{Name: name, Role: string(functions.RoleOwner)}
		if err := s.env.Ask(ctx, tx, newKeyIntent(by, project, guardian.OwnerRecover, about, keyAsked{Expiry: expires, Reason: reason}, now)); err != nil {
			return err
		}
		if k, secret, err = AddKey(ctx, control, NewKey{id: id, Role: functions.RoleOwner, project: &project, Name: name, expires: expires.From(now)}); err != nil {
			return err
		}
		detail := map[string]any{"project": project, "role": functions.RoleOwner, "name": name, "reason": reason}
		if err := base.AuditServer(ctx, control, by.Actor(), "key.recover", id.String(), detail); err != nil {
			return err
		}
		if err := tx.AsProject(ctx); err != nil {
			return err
		}
		return base.Audit(ctx, tx, by.Actor(), "key.recover", id.String(), detail)
	})
	return k, secret, replayed, err
}

// CheckNewSecret refuses a name or an end that a key or token cannot have.
func CheckNewSecret(what, name string, expires *functions.Expiry, now time.Time) error {
	if err := functions.CheckLabel(what, name); err != nil {
		return err
	}
	return expires.Check(now)
}

// ListKeys lists a project's keys.
func (s *Service) ListKeys(ctx context.Context, project uuid.UUID, page functions.ListPage) ([]functions.Key, error) {
	return base.ListControl[functions.Key](ctx, s.env, sql.ListKeys, page, project)
}

// RevokeKey ends a key at once. Revoking twice is harmless.
func (s *Service) RevokeKey(ctx context.Context, by functions.Principal, project, id uuid.UUID) error {
	intent := keyIntent(by, project, guardian.KeyRevoke, guardian.Key{ID: id.String()})
	intent.Subject = id.String()
	return s.RevokeSecret(ctx, intent, sql.RevokeKey, "key", id)
}

// keyIntent is what happens with a key, in the words of the guardian.
func keyIntent(by functions.Principal, project uuid.UUID, kind guardian.Kind, k guardian.Key) base.Intent {
	return base.Intent{By: by, Project: project, Kind: kind, Subject: k.Name, Facts: guardian.KeyFacts{Key: k}}
}

// keyAsked is what is asked for of a new key beyond what its facts say, or what they say by the clock.
type keyAsked struct {
	*functions.Expiry
	OverlapSeconds int64  `json:"overlap_seconds,omitempty"` // for which the key works on whose place it takes
	Reason         string `json:"reason,omitempty"`
}

// newKeyIntent is the making of a key in the words of the guardian.
func newKeyIntent(by functions.Principal, project uuid.UUID, kind guardian.Kind, k guardian.Key, asked keyAsked, now time.Time) base.Intent {
	if ends := asked.From(now); ends != nil {
		k.Expires, k.LifetimeSeconds = *ends, asked.Lifetime(now)
	}
	i := keyIntent(by, project, kind, k)
	i.Asked = asked
	return i
}

// RevokeSecret ends a key or token by the query for its kind, and says who did.
func (s *Service) RevokeSecret(ctx context.Context, i base.Intent, q store.Query, what string, id uuid.UUID) error {
	return s.env.DoControl(ctx, i, func(tx pgx.Tx) error {
		n, err := store.Exec(ctx, tx, q, i.Project, id)
		if err != nil || n == 0 {
			return base.OrNotFound(err, what, id)
		}
		return base.AuditServer(ctx, tx, i.By.Actor(), what+".revoke", id.String(), map[string]any{"project": i.Project})
	})
}
