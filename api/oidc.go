package api

import (
	"context"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/google/uuid"
	"golang.org/x/oauth2"

	"github.com/ostraka/ostraka/api/rest"
	"github.com/ostraka/ostraka/api/tenant"
	"github.com/ostraka/ostraka/functions"
)

// OIDC says where an organisation's people sign in, and what they may do then.
type OIDC struct {
	Issuer       string
	ClientID     string
	ClientSecret string
	PublicURL    string // of this server, as browsers know it
	GroupsClaim  string // the claim that lists somebody's groups; "": groups
	Grants       []OIDCGrant
}

// OIDCGrant gives a role to a group.
type OIDCGrant struct {
	Group   string
	Role    functions.Role
	Project uuid.UUID // nil for operators
}

const (
	oidcPath     = "/v1/session/oidc"
	oidcCallback = oidcPath + "/callback"
	// oidcCookie holds what the way back is checked with. It must come along when the provider sends the browser back, so that it is Lax.
	oidcCookie = "ostraka_oidc"
	// oidcTime is how long somebody may take to sign in at the provider.
	oidcTime = 10 * time.Minute
	// oidcRequestTime is how long the provider may take to answer the server.
	oidcRequestTime = 15 * time.Second
)

// signInFaults are why the way over the provider led nowhere; the sign-in page is told one of them.
var (
	errOIDCDenied  = errors.New("denied")      // the provider or the person said no
	errOIDCState   = errors.New("state")       // the way back does not belong to a way there
	errOIDCNoRole  = errors.New("no_role")     // none of the person's groups has a role here
	errOIDCFailure = errors.New("unavailable") // the provider cannot be used
)

// oidcFlow signs people in at an OpenID provider, by the authorization code flow with PKCE.
type oidcFlow struct {
	server  *server
	options OIDC

	mu       sync.Mutex
	provider *oidc.Provider // nil until the provider has answered once
}

// oidcTrip is what a browser carries from the way there to the way back.
type oidcTrip struct {
	State    string `json:"state"`
	Nonce    string `json:"nonce"`
	Verifier string `json:"verifier"`
	To       string `json:"to"`
}

func (f *oidcFlow) serve(mux *http.ServeMux) {
	mux.HandleFunc("GET "+oidcPath, f.leave)
	mux.HandleFunc("GET "+oidcCallback, f.arrive)
}

// leave sends the browser to the provider.
func (f *oidcFlow) leave(w http.ResponseWriter, r *http.Request) {
	rest.CallOf(r.Context()).Operation = "oidc"
	config, _, err := f.config(r.Context())
	if err != nil {
		f.fail(w, r, err)
		return
	}
	trip := oidcTrip{State: oauth2.GenerateVerifier(), Nonce: oauth2.GenerateVerifier(), Verifier: oauth2.GenerateVerifier(), To: localPath(r.URL.Query().Get("to"))}
	text, err := json.Marshal(trip)
	if err != nil {
		f.fail(w, r, err)
		return
	}
	f.setTrip(w, base64.RawURLEncoding.EncodeToString(text), int(oidcTime/time.Second))
	http.Redirect(w, r, config.AuthCodeURL(trip.State, oidc.Nonce(trip.Nonce), oauth2.S256ChallengeOption(trip.Verifier)), http.StatusSeeOther)
}

// arrive takes the browser back and signs it in.
func (f *oidcFlow) arrive(w http.ResponseWriter, r *http.Request) {
	rest.CallOf(r.Context()).Operation = "oidc"
	trip, err := tripOf(r)
	f.setTrip(w, "", -1)
	if err != nil {
		f.fail(w, r, err)
		return
	}
	who, err := f.identify(r, trip)
	if err != nil {
		f.fail(w, r, err)
		return
	}
	secret, err := f.server.service.OpenSession(r.Context(), who, r.UserAgent())
	if err != nil {
		f.fail(w, r, err)
		return
	}
	w.Header().Add("Set-Cookie", f.server.Cookie(r, secret))
	http.Redirect(w, r, trip.To, http.StatusSeeOther)
}

// identify finds out from the provider who somebody is, and what they may do here.
func (f *oidcFlow) identify(r *http.Request, trip oidcTrip) (who functions.Principal, err error) {
	query := r.URL.Query()
	if query.Get("error") != "" || query.Get("code") == "" {
		return who, fmt.Errorf("%w: %.200q", errOIDCDenied, query.Get("error"))
	}
	ctx, cancel := context.WithTimeout(r.Context(), oidcRequestTime)
	defer cancel()
	config, provider, err := f.config(ctx)
	if err != nil {
		return who, err
	}
	token, err := config.Exchange(ctx, query.Get("code"), oauth2.VerifierOption(trip.Verifier))
	if err != nil {
		return who, fmt.Errorf("%w: exchanging the code: %w", errOIDCFailure, err)
	}
	raw, ok := token.Extra("id_token").(string)
	if !ok {
		return who, fmt.Errorf("%w: it gave no ID token", errOIDCFailure)
	}
	id, err := provider.Verifier(&oidc.Config{ClientID: f.options.ClientID}).Verify(ctx, raw)
	if err != nil {
		return who, fmt.Errorf("%w: the ID token does not hold: %w", errOIDCFailure, err)
	}
	if subtle.ConstantTimeCompare([]byte(id.Nonce), []byte(trip.Nonce)) != 1 {
		return who, errOIDCState
	}
	groups, told, err := f.groups(id.Claims)
	if err == nil && !told { // some providers tell them only when asked
		info, err := provider.UserInfo(ctx, oauth2.StaticTokenSource(token))
		if err != nil || info.Subject != id.Subject {
			return who, fmt.Errorf("%w: asking about the person: %w", errOIDCFailure, err)
		}
		groups, _, err = f.groups(info.Claims)
		if err != nil {
			return who, err
		}
	}
	if err != nil {
		return who, err
	}
	return f.grant(id.Issuer+"#"+id.Subject, groups)
}

// groups reads the claim that lists somebody's groups: a list of texts, or one text.
func (f *oidcFlow) groups(claims func(any) error) (list []string, told bool, err error) {
	var all map[string]json.RawMessage
	if err := claims(&all); err != nil {
		return nil, false, fmt.Errorf("%w: reading the claims: %w", errOIDCFailure, err)
	}
	raw, told := all[f.options.GroupsClaim]
	if !told {
		return nil, false, nil
	}
	var one string
	if json.Unmarshal(raw, &one) == nil {
		return []string{one}, true, nil
	}
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, true, fmt.Errorf("%w: the claim %s is no list of texts: %w", errOIDCFailure, f.options.GroupsClaim, err)
	}
	return list, true, nil
}

// grant gives somebody the first role, in the order in which the operator wrote them, that one of their groups has.
func (f *oidcFlow) grant(subject string, groups []string) (functions.Principal, error) {
	for _, g := range f.options.Grants {
		if slices.Contains(groups, g.Group) {
			return functions.Principal{Role: g.Role, Project: g.Project, Subject: subject}, nil
		}
	}
	return functions.Principal{}, errOIDCNoRole
}

// config asks the provider once what it can do. One that is away is asked again by the next who signs in.
func (f *oidcFlow) config(ctx context.Context) (*oauth2.Config, *oidc.Provider, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.provider == nil {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), oidcRequestTime)
		defer cancel()
		provider, err := oidc.NewProvider(ctx, f.options.Issuer)
		if err != nil {
			return nil, nil, fmt.Errorf("%w: %w", errOIDCFailure, err)
		}
		f.provider = provider
	}
	return &oauth2.Config{
		ClientID: f.options.ClientID, ClientSecret: f.options.ClientSecret, Endpoint: f.provider.Endpoint(),
		RedirectURL: strings.TrimSuffix(f.options.PublicURL, "/") + oidcCallback, Scopes: scopesOf(f.provider),
	}, f.provider, nil
}

// scopesOf is what is asked for: groups where the provider knows such a scope, since others refuse what they do not know.
func scopesOf(provider *oidc.Provider) []string {
	scopes := []string{oidc.ScopeOpenID, "profile"}
	var says struct {
		Scopes []string `json:"scopes_supported"`
	}
	if provider.Claims(&says) == nil && slices.Contains(says.Scopes, "groups") {
		scopes = append(scopes, "groups")
	}
	return scopes
}

// fail takes somebody back to the sign-in page, which says why.
func (f *oidcFlow) fail(w http.ResponseWriter, r *http.Request, err error) {
	why := "internal"
	for _, known := range []error{errOIDCDenied, errOIDCState, errOIDCNoRole, errOIDCFailure} {
		if errors.Is(err, known) {
			why = known.Error()
		}
	}
	f.server.Log.WarnContext(r.Context(), "signing somebody in at the OpenID provider failed", "request_id", rest.CallOf(r.Context()).RequestID, "error", err)
	http.Redirect(w, r, tenant.SignInPage+"#error="+why, http.StatusSeeOther)
}

func (f *oidcFlow) setTrip(w http.ResponseWriter, value string, seconds int) {
	http.SetCookie(w, &http.Cookie{ //nolint:gosec // Secure where the server is reached by TLS; ostraka dev has none
		Name: oidcCookie, Value: value, Path: oidcPath, MaxAge: seconds, HttpOnly: true, SameSite: http.SameSiteLaxMode,
		Secure: strings.HasPrefix(f.options.PublicURL, "https:"),
	})
}

// tripOf reads what the browser carries, and checks that the way back belongs to it.
func tripOf(r *http.Request) (trip oidcTrip, err error) {
	cookie, err := r.Cookie(oidcCookie)
	if err != nil {
		return trip, errOIDCState
	}
	text, err := base64.RawURLEncoding.DecodeString(cookie.Value)
	if err != nil || json.Unmarshal(text, &trip) != nil || trip.State == "" ||
		subtle.ConstantTimeCompare([]byte(trip.State), []byte(r.URL.Query().Get("state"))) != 1 {
		return trip, errOIDCState
	}
	trip.To = localPath(trip.To)
	return trip, nil
}

// localPath is a path on this server; what leads anywhere else becomes /.
func localPath(to string) string {
	u, err := url.Parse(to)
	if err != nil || u.Scheme != "" || u.Host != "" || !strings.HasPrefix(to, "/") || strings.HasPrefix(to, "//") || strings.ContainsAny(to, "\\\r\n\t") {
		return "/"
	}
	return to
}
