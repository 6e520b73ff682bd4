package rest

import (
	"net/http"
	"time"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/tenant"
)

// sessionCookie holds the secret of a session. It is for the browser alone: no script reads it, and no other site makes it be sent.
const sessionCookie = "ostraka_session"

// Cookie is what gives a browser a session, or, with an empty secret, takes it. The server decides when a session ends; the cookie only
// has to outlive it.
func (s *Server) Cookie(r *http.Request, secret string) string {
	cookie := http.Cookie{ //nolint:gosec // Secure where the server is reached by TLS; ostraka dev has none
		Name: sessionCookie, Value: secret, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: s.Secure || r.TLS != nil,
		MaxAge: int(tenant.SessionLife / time.Second),
	}
	if secret == "" {
		cookie.MaxAge = -1
	}
	return cookie.String()
}

// BySession admits a browser by its cookie; with is false where the request has none. Browsers send cookies with whatever makes them
// send a request, so that one which changes something must come from our own pages.
func (s *Server) BySession(r *http.Request) (p functions.Principal, with bool, err error) {
	cookie, err := r.Cookie(sessionCookie)
	if err != nil || r.Header.Get("Authorization") != "" {
		return p, false, nil //nolint:nilerr // no cookie
	}
	if err := s.crossSite.Check(r); err != nil {
		return p, true, NewProblem(http.StatusForbidden, CodeCrossSite, "another site made your browser send this request", "open the portal itself")
	}
	if len(cookie.Value) > MaxTokenBytes {
		return p, true, tenant.ErrNoSession
	}
	p, err = s.notRefused(r.Context(), AsCookie+cookie.Value, cookie.Value, s.service.AuthenticateSession)
	return p, true, err
}
