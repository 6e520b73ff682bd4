package api_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/api"
	"github.com/ostraka/ostraka/api/tenant"
	"github.com/ostraka/ostraka/functions"
)

// signIn returns the cookie of a browser that has signed in with the key or the link.
func (r *rig) signIn(secret string) *http.Cookie {
	r.t.Helper()
	a := r.ask("POST", "/v1/session", secret, "")
	var who tenant.Identity
	a.decode(r.t, 201, &who)
	cookies := a.Cookies()
	require.Len(r.t, cookies, 1)
	return cookies[0]
}

// browse sends a request as a browser that is signed in.
func (r *rig) browse(cookie *http.Cookie, method, path, body string, headers ...string) answer {
	r.t.Helper()
	return r.ask(method, path, "", body, append([]string{"Cookie", cookie.Name + "=" + cookie.Value}, headers...)...)
}

func TestABrowserSignsIn(t *testing.T) {
	r := newRig(t)
	cookie := r.signIn(ownerKey)
	require.True(t, cookie.HttpOnly)
	require.Equal(t, http.SameSiteStrictMode, cookie.SameSite)
	require.Equal(t, "/", cookie.Path)
	require.NotContains(t, []string{"", ownerKey}, cookie.Value)

	var who tenant.Identity
	r.browse(cookie, "GET", "/v1/session", "").decode(t, 200, &who)
	require.Equal(t, functions.RoleOwner, who.Role)
	require.Equal(t, projectID, *who.Project)
	require.Equal(t, thingID, *who.Session)
	require.Equal(t, 200, r.browse(cookie, "GET", in("/jobs"), "").StatusCode)
	require.Equal(t, 201, r.browse(cookie, "POST", in("/jobs"), goodJob, "Sec-Fetch-Site", "same-origin").StatusCode)

	r.ask("GET", "/v1/session", ownerKey, "").decode(t, 200, &who)
	require.Equal(t, 401, r.browse(cookie, "POST", "/v1/session", "").problem(t).Status, "a session opens no session")
	require.Equal(t, 401, r.ask("POST", "/v1/session", "nonsense", "").problem(t).Status)
	require.Equal(t, 403, r.ask("POST", "/v1/session", agentKey, "").problem(t).Status, "agents have no browser")
}

func TestASessionIsWorthWhatItsKeyIs(t *testing.T) {
	r := newRig(t)
	viewer := r.signIn(viewerKey)
	require.Equal(t, "forbidden", r.browse(viewer, "POST", in("/jobs"), goodJob).problem(t).Code)
	require.Equal(t, "not_found", r.browse(viewer, "GET", "/v1/projects/"+strangerID.String()+"/jobs", "").problem(t).Code)
	require.Equal(t, 403, r.browse(viewer, "GET", in("/jobs"), "", "Authorization", "Bearer "+agentKey).problem(t).Status, "a key that is given counts, and not the cookie")
	r.fake.signedOut = true
	require.Equal(t, "no_session", r.browse(viewer, "GET", in("/jobs"), "").problem(t).Code)
}

func TestOtherSitesDoNotUseASession(t *testing.T) {
	r := newRig(t)
	cookie := r.signIn(ownerKey)
	for _, headers := range [][]string{{"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Site", "same-site"}, {"Origin", "https://evil.example"}} {
		require.Equal(t, "cross_site_request", r.browse(cookie, "POST", in("/jobs"), goodJob, headers...).problem(t).Code, "%v", headers)
		require.Equal(t, "cross_site_request", r.browse(cookie, "DELETE", "/v1/session", "", headers...).problem(t).Code, "%v", headers)
	}
	require.Equal(t, 201, r.ask("POST", in("/jobs"), ownerKey, goodJob, "Origin", "https://notebook.example").StatusCode, "a key is no browser's to send by itself")
}

func TestSigningOut(t *testing.T) {
	r := newRig(t)
	cookie := r.signIn(ownerKey)
	a := r.browse(cookie, "DELETE", "/v1/session", "")
	require.Equal(t, 204, a.StatusCode, "%s", a.body)
	require.Negative(t, a.Cookies()[0].MaxAge)
	require.Equal(t, 401, r.browse(cookie, "GET", "/v1/session", "").problem(t).Status)
}

func TestSignInLinks(t *testing.T) {
	r := newRig(t)
	var link tenant.SignInLink
	r.ask("POST", "/v1/session/links", ownerKey, "").decode(t, 201, &link)
	require.Equal(t, "/sign-in#link="+goodLink, link.Path)
	require.Equal(t, 200, r.browse(r.signIn(goodLink), "GET", in("/jobs"), "").StatusCode)
	require.Equal(t, "link_used", r.ask("POST", "/v1/session", "ostraka_link_other", "").problem(t).Code)
	require.Equal(t, 401, r.ask("GET", "/v1/session", goodLink, "").problem(t).Status, "a link only signs in")
}

func TestOperatorsOpenTheirPagesWithASession(t *testing.T) {
	r := newRig(t, func(o *api.Options) { o.OpsHandler = opsPage })
	a := r.browse(r.signIn(operatorKey), "GET", "/ops/river/", "")
	require.Equal(t, 200, a.StatusCode, "%s", a.body)
	require.Equal(t, 401, r.browse(r.signIn(ownerKey), "GET", "/ops/river/", "").problem(t).Status)
}

func TestACookieIsForTLSAloneWhereAProxyEndsTLS(t *testing.T) {
	require.False(t, newRig(t).signIn(ownerKey).Secure)
	require.True(t, newRig(t, func(o *api.Options) { o.SecureCookies = true }).signIn(ownerKey).Secure)
}
