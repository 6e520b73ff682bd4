package tenant

import (
	"context"
	"strings"
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
	// SessionIdle is how long a session lives without a request: a working day and its evening.
	SessionIdle = 16 * time.Hour
	// SessionLife is how long a session lives however much it is used: after a month people show their key again.
	SessionLife = 30 * 24 * time.Hour
	// PersonLife is SessionLife for whom an identity provider vouches: it is asked again twice a day whether it still does.
	PersonLife = 12 * time.Hour
	// SignInLinkTTL is how long a sign-in link works: long enough to find the browser, short enough that a line in a terminal's history
	// opens nothing.
	SignInLinkTTL = 10 * time.Minute
	// MaxSessions is how many sessions one key, or one person, has open at a time; one more ends the one that was used longest ago.
	MaxSessions = 50
	// sessionTouch is how old the recorded last use of a session may be before it is written again: one write in some minutes, not one a request.
	sessionTouch = 5 * time.Minute
	// maxUserAgent is how many bytes of a browser's name are kept.
	maxUserAgent = 200
)

// The kinds of secrets of people who sign in, as newSecret names them.
const (
	sessionKind = "session"
	linkKind    = "link"
)

// Session is a browser that is signed in.
type Session struct {
	ID        uuid.UUID      `json:"id"`
	KeyID     *uuid.UUID     `json:"key_id,omitempty" doc:"The key that it was opened with. Without one an identity provider vouches for whoever it is."`
	Name      string         `json:"name" doc:"The name of the key, or of the person."`
	Role      functions.Role `json:"role" doc:"What the session may do."`
	Project   *uuid.UUID     `json:"project,omitempty" doc:"The project that it is bound to; operators are bound to none."`
	UserAgent string         `json:"user_agent" doc:"What the browser calls itself."`
	CreatedAt time.Time      `json:"created_at"`
	SeenAt    time.Time      `json:"seen_at" doc:"When it was used last, to some minutes."`
	ExpiresAt time.Time      `json:"expires_at" doc:"When it ends if it is not used."`
}

// IsSignInLink says whether a secret is that of a sign-in link, and no key.
func IsSignInLink(secret string) bool { return strings.HasPrefix(secret, "ostraka_"+linkKind+"_") }

// OpenSession signs a browser in as the principal that it has proved to be. The secret goes into its cookie and is shown this once.
func (s *Service) OpenSession(ctx context.Context, as functions.Principal, userAgent string) (secret string, err error) {
	if as.Role == functions.RoleAgent || as.Role == "" {
		return "", ErrNoSession
	}
	secret = base.NewSecret(sessionKind)
	id := base.NewID()
	err = s.env.DoControl(ctx, sessionIntent(as, guardian.SessionCreate, "session"), func(tx pgx.Tx) error {
		var key, project *uuid.UUID
		var subject *string
		var role *functions.Role
		if as.Subject == "" {
			key = &as.KeyID
		} else {
			subject, role, project = &as.Subject, &as.Role, projectOf(as)
		}
		if _, err := store.Exec(ctx, tx, sql.AddSession, id, key, role, project, subject, base.SecretDigest(secret), cutText(userAgent, maxUserAgent)); err != nil {
			return err
		}
		if _, err := store.Exec(ctx, tx, sql.TrimSessions, key, subject, SessionIdle, SessionLife, MaxSessions); err != nil {
			return err
		}
		return base.AuditServer(ctx, tx, as.Actor(), "session.open", id.String(), map[string]any{"role": as.Role, "project": projectOf(as)})
	})
	return secret, err
}

// projectOf is the project that somebody is bound to; operators are bound to none.
func projectOf(p functions.Principal) *uuid.UUID {
	if p.Project == uuid.Nil {
		return nil
	}
	return &p.Project
}

// cutText takes what Postgres cannot hold out of a text that strangers wrote, and its end off.
func cutText(text string, most int) string {
	text = strings.ReplaceAll(text[:min(len(text), most)], "\x00", "")
	return strings.ToValidUTF8(text, "")
}

// AuthenticateSession says who signed in. As with keys nothing is cached: a session whose key was revoked a moment ago is refused.
func (s *Service) AuthenticateSession(ctx context.Context, secret string) (functions.Principal, error) {
	if !base.LooksLikeSecret(secret) {
		return functions.Principal{}, ErrNoSession
	}
	type row struct {
		Session   uuid.UUID
		Stale     bool
		KeyID     *uuid.UUID
		Role      functions.Role
		ProjectID *uuid.UUID
		Subject   string
		Quotas    map[functions.QuotaName]int64
	}
	found, ok, err := store.One[row](ctx, s.env.Store.Pool, sql.AuthenticateSession, base.SecretDigest(secret), SessionIdle, SessionLife, sessionTouch, PersonLife)
	if err != nil {
		return functions.Principal{}, base.Translate(err, uuid.Nil)
	}
	if !ok {
		return functions.Principal{}, ErrNoSession
	}
	if found.Stale {
		if _, err := store.Exec(ctx, s.env.Store.Pool, sql.TouchSession, found.Session); err != nil {
			return functions.Principal{}, base.Translate(err, uuid.Nil)
		}
	}
	p := functions.Principal{Session: found.Session, Role: found.Role, Subject: found.Subject, Quotas: found.Quotas}
	if found.KeyID != nil {
		p.KeyID = *found.KeyID
	}
	if found.ProjectID != nil {
		p.Project = *found.ProjectID
	}
	return p, nil
}

// CreateSignInLink makes the secret of a link that signs one browser in, once, as the key that asks.
func (s *Service) CreateSignInLink(ctx context.Context, by functions.Principal) (secret string, expires time.Time, err error) {
	if by.KeyID == uuid.Nil || by.Role == functions.RoleAgent {
		return "", time.Time{}, &functions.Error{Kind: functions.KindForbidden, Code: "no_key_to_sign_in", Message: "only a key can hand out sign-in links", Hint: "make the link with an API key, or sign in where your organisation does"}
	}
	secret = base.NewSecret(linkKind)
	err = s.env.DoControl(ctx, sessionIntent(by, guardian.SessionCreate, "link"), func(tx pgx.Tx) error {
		_, err := store.Exec(ctx, tx, sql.AddSignInLink, base.SecretDigest(secret), by.KeyID)
		return err
	})
	return secret, time.Now().Add(SignInLinkTTL).UTC(), err
}

// UseSignInLink says whose link this is, and spends it.
func (s *Service) UseSignInLink(ctx context.Context, secret string) (p functions.Principal, err error) {
	type row struct {
		KeyID     uuid.UUID
		Role      functions.Role
		ProjectID *uuid.UUID
	}
	err = s.env.Control(ctx, func(tx pgx.Tx) error {
		link, found, err := store.One[row](ctx, tx, sql.UseSignInLink, base.SecretDigest(secret), SignInLinkTTL)
		if err != nil {
			return err
		}
		if !found {
			return &functions.Error{
				Kind: functions.KindUnauthorized, Code: "link_used", Message: "the sign-in link does not work: it works once, and for ten minutes",
				Hint: "make another with ostraka open, or sign in with your key",
			}
		}
		p = functions.Principal{KeyID: link.KeyID, Role: link.Role}
		if link.ProjectID != nil {
			p.Project = *link.ProjectID
		}
		return nil
	})
	return p, err
}

// ListSessions lists the open sessions that somebody may end: operators all, owners those of their project, others their own.
func (s *Service) ListSessions(ctx context.Context, by functions.Principal, page functions.ListPage) ([]Session, error) {
	key, subject, project := sessionScope(by)
	return base.ListControl[Session](ctx, s.env, sql.ListSessions, page, key, subject, project, SessionIdle, SessionLife, PersonLife)
}

// RevokeSession ends a session at once. Ending one twice is harmless.
func (s *Service) RevokeSession(ctx context.Context, by functions.Principal, id uuid.UUID) error {
	return s.env.DoControl(ctx, sessionIntent(by, guardian.SessionRevoke, id.String()), func(tx pgx.Tx) error {
		key, subject, project := sessionScope(by)
		n, err := store.Exec(ctx, tx, sql.RevokeSession, id, key, subject, project)
		if err != nil || n == 0 {
			return base.OrNotFound(err, "session", id)
		}
		return base.AuditServer(ctx, tx, by.Actor(), "session.revoke", id.String(), map[string]any{})
	})
}

// sessionIntent is what happens with a session of a project, or of an operator, in the words of the guardian.
func sessionIntent(by functions.Principal, kind guardian.Kind, subject string) base.Intent {
	return base.Intent{By: by, Project: by.Project, Kind: kind, Subject: subject, Facts: guardian.KeyFacts{Key: guardian.Key{Role: string(by.Role)}}}
}

// sessionScope says whose sessions somebody sees.
func sessionScope(by functions.Principal) (key *uuid.UUID, subject *string, project *uuid.UUID) {
	switch {
	case by.Role == functions.RoleOperator:
		return nil, nil, nil
	case by.Role == functions.RoleOwner:
		return nil, nil, &by.Project
	case by.Subject != "":
		return nil, &by.Subject, &by.Project
	default:
		return &by.KeyID, nil, nil
	}
}

// ErrNoSession says that a cookie belongs to no session.
var ErrNoSession = &functions.Error{
	Kind: functions.KindUnauthorized, Code: "no_session", Message: "the session has ended: it was not used for long, was revoked, or its key was",
	Hint: "sign in again, with a key or with the link that ostraka open prints",
}
