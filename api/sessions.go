package api

import (
	"context"
	"net/http"
	"time"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/tenant"
)

// Sessions is what the API asks of the domain about portal sessions and the links that open them.
type Sessions interface {
	OpenSession(ctx context.Context, as functions.Principal, userAgent string) (secret string, err error)
	CreateSignInLink(ctx context.Context, by functions.Principal) (secret string, expires time.Time, err error)
	ListSessions(ctx context.Context, by functions.Principal, page functions.ListPage) ([]tenant.Session, error)
	RevokeSession(ctx context.Context, by functions.Principal, id uuid.UUID) error
}

// sessionCookie holds the secret of a session. It is for the browser alone: no script reads it, and no other site makes it be sent.
const sessionCookie = "ostraka_session"

// signInPath is the page of the portal that takes a sign-in link. The secret stands behind the #, where no server and no proxy sees it.
const signInPath = "/sign-in"

// Identity says as whom a request is answered.
type Identity struct {
	Role    functions.Role `json:"role"`
	Project *uuid.UUID     `json:"project,omitempty" doc:"The project that the key is of; operators are of none."`
	KeyID   *uuid.UUID     `json:"key_id,omitempty" doc:"Left out where an identity provider vouches for whoever it is."`
	Subject string         `json:"subject,omitempty" doc:"Who signed in at an identity provider."`
	Session *uuid.UUID     `json:"session,omitempty" doc:"The session that the request came with; left out for a request with a key."`
}

func identityOf(p functions.Principal) Identity {
	some := func(id uuid.UUID) *uuid.UUID {
		if id == uuid.Nil {
			return nil
		}
		return &id
	}
	return Identity{Role: p.Role, Project: some(p.Project), KeyID: some(p.KeyID), Subject: p.Subject, Session: some(p.Session)}
}

// SignInLink signs one browser in, once.
type SignInLink struct {
	Path      string    `json:"path" doc:"What to open at the server's address. The part behind the # is the secret; add &to=PATH to go on to a page."`
	ExpiresAt time.Time `json:"expires_at"`
}

type identityOutput struct {
	Body Identity
}

type cookieOutput struct {
	SetCookie string `header:"Set-Cookie"`
}

type signedInOutput struct {
	SetCookie string `header:"Set-Cookie"`
	Body      Identity
}

type signInLinkOutput struct {
	Body SignInLink
}

// SessionPath names a session.
type SessionPath struct {
	Session PathID `path:"session"`
}

func (s *server) sessionOperations() {
	people := roles(functions.RoleOwner, functions.RoleSubmitter, functions.RoleViewer, functions.RoleAuditor, functions.RoleReviewer, functions.RoleOperator)
	opening := people
	opening.opensSession = true
	register(s, operation{
		id: "createSession", method: http.MethodPost, path: "/v1/session", tag: "sessions", summary: "Sign a browser in",
		about: "Exchanges the key in the header Authorization, or the secret of a sign-in link, for a cookie, which is accepted wherever the key is, for as long as the key is. " +
			"It ends when it is not used for 16 hours, and after 30 days.",
		access: opening, status: http.StatusCreated,
	}, s.createSession)
	register(s, operation{
		id: "getSession", method: http.MethodGet, path: "/v1/session", tag: "sessions", summary: "Who I am", access: people,
	}, func(_ context.Context, c *call, _ *empty) (*identityOutput, error) {
		return &identityOutput{Body: identityOf(c.principal)}, nil
	})
	register(s, operation{
		id: "deleteSession", method: http.MethodDelete, path: "/v1/session", tag: "sessions", summary: "Sign out",
		about: "Ends the session that the request came with. A request with a key ends none.", access: people, status: http.StatusNoContent,
	}, s.deleteSession)
	register(s, operation{
		id: "createSignInLink", method: http.MethodPost, path: "/v1/session/links", tag: "sessions", summary: "Make a sign-in link",
		about:  "The link signs one browser in as the key that asks. It works once, and for ten minutes.",
		access: people, status: http.StatusCreated,
	}, s.createSignInLink)
	register(s, operation{
		id: "listSessions", method: http.MethodGet, path: "/v1/sessions", tag: "sessions", summary: "List open sessions",
		about: "Operators see all, owners those of their project, others their own.", access: people,
	}, s.listSessions)
	register(s, operation{
		id: "revokeSession", method: http.MethodDelete, path: "/v1/sessions/{session}", tag: "sessions", summary: "End a session",
		access: people, status: http.StatusNoContent,
	}, s.revokeSession)
}

func (s *server) createSession(ctx context.Context, c *call, _ *empty) (*signedInOutput, error) {
	secret, err := s.service.OpenSession(ctx, c.principal, c.request.UserAgent())
	if err != nil {
		return nil, err
	}
	s.doors.refused.Forget(asCookie + secret)
	return &signedInOutput{SetCookie: s.cookie(c.request, secret), Body: identityOf(c.principal)}, nil
}

func (s *server) deleteSession(ctx context.Context, c *call, _ *empty) (*cookieOutput, error) {
	if c.principal.Session != uuid.Nil {
		if err := s.service.RevokeSession(ctx, c.principal, c.principal.Session); err != nil {
			return nil, err
		}
	}
	return &cookieOutput{SetCookie: s.cookie(c.request, "")}, nil
}

func (s *server) createSignInLink(ctx context.Context, c *call, _ *empty) (*signInLinkOutput, error) {
	secret, expires, err := s.service.CreateSignInLink(ctx, c.principal)
	if err != nil {
		return nil, err
	}
	return &signInLinkOutput{Body: SignInLink{Path: SignInPath(secret), ExpiresAt: expires}}, nil
}

// SignInPath is where a sign-in link with this secret leads.
func SignInPath(secret string) string { return signInPath + "#link=" + secret }

func (s *server) listSessions(ctx context.Context, c *call, in *Paging) (*Listed[tenant.Session], error) {
	page, err := in.page(cursorOfID)
	if err != nil {
		return nil, err
	}
	items, err := s.service.ListSessions(ctx, c.principal, page)
	if err != nil {
		return nil, err
	}
	return listed(c, page, items, cursorOfID, func(f tenant.Session) string { return f.ID.String() }), nil
}

func (s *server) revokeSession(ctx context.Context, c *call, in *SessionPath) (*nothing, error) {
	id, err := pathID("session", in.Session)
	if err != nil {
		return nil, err
	}
	return nil, s.service.RevokeSession(ctx, c.principal, id)
}

// cookie is what gives a browser a session, or, with an empty secret, takes it. The server decides when a session ends; the cookie only
// has to outlive it.
func (s *server) cookie(r *http.Request, secret string) string {
	cookie := http.Cookie{ //nolint:gosec // Secure where the server is reached by TLS; ostraka dev has none
		Name: sessionCookie, Value: secret, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: s.secure || r.TLS != nil,
		MaxAge: int(tenant.SessionLife / time.Second),
	}
	if secret == "" {
		cookie.MaxAge = -1
	}
	return cookie.String()
}

// bySession admits a browser by its cookie; with is false where the request has none. Browsers send cookies with whatever makes them
// send a request, so that one which changes something must come from our own pages.
func (s *server) bySession(r *http.Request) (p functions.Principal, with bool, err error) {
	cookie, err := r.Cookie(sessionCookie)
	if err != nil || r.Header.Get("Authorization") != "" {
		return p, false, nil //nolint:nilerr // no cookie
	}
	if err := s.crossSite.Check(r); err != nil {
		return p, true, newProblem(http.StatusForbidden, codeCrossSite, "another site made your browser send this request", "open the portal itself")
	}
	if len(cookie.Value) > maxTokenBytes {
		return p, true, tenant.ErrNoSession
	}
	p, err = s.notRefused(r.Context(), asCookie+cookie.Value, cookie.Value, s.service.AuthenticateSession)
	return p, true, err
}
