package tenant

import (
	"context"
	"net/http"
	"time"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/api/rest"
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

// SignInPage is the page of the portal that takes a sign-in link. The secret stands behind the #, where no server and no proxy sees it.
const SignInPage = "/sign-in"

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
	Session rest.PathID `path:"session"`
}

func (s *server) sessionOperations() {
	people := rest.Roles(functions.RoleOwner, functions.RoleSubmitter, functions.RoleViewer, functions.RoleAuditor, functions.RoleReviewer, functions.RoleOperator)
	opening := people
	opening.OpensSession = true
	rest.Register(s.Server, rest.Operation{
		ID: "createSession", Method: http.MethodPost, Path: "/v1/session", Tag: "sessions", Summary: "Sign a browser in",
		About: "Exchanges the key in the header Authorization, or the secret of a sign-in link, for a cookie, which is accepted wherever the key is, for as long as the key is. " +
			"It ends when it is not used for 16 hours, and after 30 days.",
		Access: opening, Status: http.StatusCreated,
	}, s.createSession)
	rest.Register(s.Server, rest.Operation{
		ID: "getSession", Method: http.MethodGet, Path: "/v1/session", Tag: "sessions", Summary: "Who I am", Access: people,
	}, func(_ context.Context, c *rest.Call, _ *rest.Empty) (*identityOutput, error) {
		return &identityOutput{Body: identityOf(c.Principal)}, nil
	})
	rest.Register(s.Server, rest.Operation{
		ID: "deleteSession", Method: http.MethodDelete, Path: "/v1/session", Tag: "sessions", Summary: "Sign out",
		About: "Ends the session that the request came with. A request with a key ends none.", Access: people, Status: http.StatusNoContent,
	}, s.deleteSession)
	rest.Register(s.Server, rest.Operation{
		ID: "createSignInLink", Method: http.MethodPost, Path: "/v1/session/links", Tag: "sessions", Summary: "Make a sign-in link",
		About:  "The link signs one browser in as the key that asks. It works once, and for ten minutes.",
		Access: people, Status: http.StatusCreated,
	}, s.createSignInLink)
	rest.Register(s.Server, rest.Operation{
		ID: "listSessions", Method: http.MethodGet, Path: "/v1/sessions", Tag: "sessions", Summary: "List open sessions",
		About: "Operators see all, owners those of their project, others their own.", Access: people,
	}, s.listSessions)
	rest.Register(s.Server, rest.Operation{
		ID: "revokeSession", Method: http.MethodDelete, Path: "/v1/sessions/{session}", Tag: "sessions", Summary: "End a session",
		Access: people, Status: http.StatusNoContent, Ends: true,
	}, s.revokeSession)
}

func (s *server) createSession(ctx context.Context, c *rest.Call, _ *rest.Empty) (*signedInOutput, error) {
	secret, err := s.service.OpenSession(ctx, c.Principal, c.Request.UserAgent())
	if err != nil {
		return nil, err
	}
	s.Doors.Refused.Forget(rest.AsCookie + secret)
	return &signedInOutput{SetCookie: s.Cookie(c.Request, secret), Body: identityOf(c.Principal)}, nil
}

func (s *server) deleteSession(ctx context.Context, c *rest.Call, _ *rest.Empty) (*cookieOutput, error) {
	if c.Principal.Session != uuid.Nil {
		if err := s.service.RevokeSession(ctx, c.Principal, c.Principal.Session); err != nil {
			return nil, err
		}
	}
	return &cookieOutput{SetCookie: s.Cookie(c.Request, "")}, nil
}

func (s *server) createSignInLink(ctx context.Context, c *rest.Call, _ *rest.Empty) (*signInLinkOutput, error) {
	secret, expires, err := s.service.CreateSignInLink(ctx, c.Principal)
	if err != nil {
		return nil, err
	}
	return &signInLinkOutput{Body: SignInLink{Path: SignInPath(secret), ExpiresAt: expires}}, nil
}

// SignInPath is where a sign-in link with this secret leads.
func SignInPath(secret string) string { return SignInPage + "#link=" + secret }

func (s *server) listSessions(ctx context.Context, c *rest.Call, in *rest.Paging) (*rest.Listed[tenant.Session], error) {
	page, err := in.Page(rest.CursorOfID)
	if err != nil {
		return nil, err
	}
	items, err := s.service.ListSessions(ctx, c.Principal, page)
	if err != nil {
		return nil, err
	}
	return rest.AnswerList(c, page, items, rest.CursorOfID, func(f tenant.Session) string { return f.ID.String() }), nil
}

func (s *server) revokeSession(ctx context.Context, c *rest.Call, in *SessionPath) (*rest.Nothing, error) {
	id, err := rest.ReadID("session", in.Session)
	if err != nil {
		return nil, err
	}
	return nil, s.service.RevokeSession(ctx, c.Principal, id)
}
