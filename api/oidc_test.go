package api_test

import (
	"context"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/zitadel/oidc/v3/example/server/exampleop"
	"github.com/zitadel/oidc/v3/example/server/storage"
	"github.com/zitadel/oidc/v3/pkg/oidc"
	"github.com/zitadel/oidc/v3/pkg/op"

	"github.com/ostraka/ostraka/api"
	"github.com/ostraka/ostraka/functions"
)

// people are the users of an OpenID provider, with groups.
type people struct {
	*storage.Storage
	groups map[string][]string // by user
}

func (p people) SetUserinfoFromRequest(ctx context.Context, info *oidc.UserInfo, token op.IDTokenRequest, scopes []string) error {
	if err := p.Storage.SetUserinfoFromRequest(ctx, info, token, scopes); err != nil {
		return err
	}
	info.AppendClaims("groups", p.groups[token.GetSubject()])
	return nil
}

func (p people) SetUserinfoFromToken(ctx context.Context, info *oidc.UserInfo, tokenID, subject, origin string) error {
	if err := p.Storage.SetUserinfoFromToken(ctx, info, tokenID, subject, origin); err != nil {
		return err
	}
	info.AppendClaims("groups", p.groups[subject])
	return nil
}

// openProvider runs a real OpenID provider whose user test-user2 is in the groups.
func openProvider(t *testing.T, callback string, groups ...string) (issuer string) {
	t.Helper()
	storage.RegisterClients(storage.WebClient("ostraka", "the-secret-of-the-client", callback))
	var handler http.Handler
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { handler.ServeHTTP(w, r) }))
	t.Cleanup(provider.Close)
	users := people{storage.NewStorage(storage.NewUserStore(provider.URL)), map[string][]string{"id2": groups}}
	handler = exampleop.SetupServer(provider.URL, users, nil, false)
	return provider.URL
}

// oidcRig is a server whose people sign in at a provider, and a browser.
func oidcRig(t *testing.T, groups ...string) (*rig, *http.Client) {
	t.Helper()
	var r *rig
	late := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		http.Error(w, "unused", http.StatusTeapot)
	}))
	late.Close()
	address := strings.Replace(late.URL, "127.0.0.1", "localhost", 1)
	issuer := openProvider(t, address+"/v1/session/oidc/callback", groups...)
	r = newRig(t, withPortal, func(o *api.Options) {
		o.OIDC = &api.OIDC{
			Issuer: issuer, ClientID: "ostraka", ClientSecret: "the-secret-of-the-client", PublicURL: address, GroupsClaim: "groups",
			Grants: []api.OIDCGrant{{Group: "admins", Role: functions.RoleOperator}, {Group: "staff", Role: functions.RoleViewer, Project: projectID}},
		}
	})
	jar, err := cookiejar.New(nil)
	require.NoError(t, err)
	browser := &http.Client{Jar: jar, Transport: toRig{r.url, address}}
	return r, browser
}

// toRig sends what is for the public address to the rig, as a proxy does.
type toRig struct{ rig, public string }

func (d toRig) RoundTrip(r *http.Request) (*http.Response, error) {
	if "http://"+r.URL.Host == d.public {
		r = r.Clone(r.Context())
		to, err := url.Parse(d.rig)
		if err != nil {
			return nil, err
		}
		r.URL.Host = to.Host
	}
	return http.DefaultTransport.RoundTrip(r) //nolint:forbidigo // a test
}

// walk goes from the sign-in page to the provider, signs in there and comes back.
func walk(t *testing.T, browser *http.Client, start string) *http.Response {
	t.Helper()
	get := func(address string) *http.Response {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
		require.NoError(t, err)
		request.Header.Set("Accept", "text/html")
		response, err := browser.Do(request)
		require.NoError(t, err)
		return response
	}
	login := get(start)
	defer login.Body.Close()
	page, err := io.ReadAll(login.Body)
	require.NoError(t, err)
	id := regexp.MustCompile(`name="id" value="([^"]+)"`).FindSubmatch(page)
	require.NotNil(t, id, "%s %s", login.Request.URL, page)
	form := url.Values{"username": {"test-user2"}, "password": {"verysecure"}, "id": {string(id[1])}}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, login.Request.URL.Scheme+"://"+login.Request.URL.Host+"/login/username", strings.NewReader(form.Encode()))
	require.NoError(t, err)
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	request.Header.Set("Accept", "text/html")
	response, err := browser.Do(request)
	require.NoError(t, err)
	t.Cleanup(func() { response.Body.Close() })
	return response
}

func TestPeopleOfAnOrganisationSignIn(t *testing.T) {
	r, browser := oidcRig(t, "everybody", "staff")
	public := browser.Transport.(toRig).public
	require.Equal(t, "oidc", r.ask("GET", "/livez", "", "").Header.Get("Ostraka-Sign-In"))
	back := walk(t, browser, public+"/v1/session/oidc?to=/p/numbers/jobs")
	require.Equal(t, 200, back.StatusCode)
	require.Equal(t, "/p/numbers/jobs", back.Request.URL.Path)
	who := r.fake.opened
	require.Equal(t, functions.RoleViewer, who.Role)
	require.Equal(t, projectID, who.Project)
	require.True(t, strings.HasSuffix(who.Subject, "#id2"), who.Subject)
	public2, err := url.Parse(public)
	require.NoError(t, err)
	names := map[string]bool{}
	for _, c := range browser.Jar.Cookies(public2) {
		names[c.Name] = true
	}
	require.Equal(t, map[string]bool{"ostraka_session": true}, names, "what was carried there and back is gone")
}

func TestTheFirstRoleThatFitsCounts(t *testing.T) {
	r, browser := oidcRig(t, "staff", "admins")
	walk(t, browser, browser.Transport.(toRig).public+"/v1/session/oidc?to=https://evil.example/")
	require.Equal(t, functions.RoleOperator, r.fake.opened.Role)
}

func TestWhoHasNoRoleIsNotLetIn(t *testing.T) {
	r, browser := oidcRig(t, "guests")
	back := walk(t, browser, browser.Transport.(toRig).public+"/v1/session/oidc")
	require.Equal(t, "error=no_role", back.Request.URL.Fragment)
	require.Zero(t, r.fake.opened)
}

func TestTheWayBackBelongsToAWayThere(t *testing.T) {
	r, _ := oidcRig(t, "staff")
	for name, headers := range map[string][]string{
		"no cookie": nil, "no state in it": {"Cookie", "ostraka_oidc=e30"}, "another state": {"Cookie", "ostraka_oidc=eyJzdGF0ZSI6ImEifQ"}, "nonsense": {"Cookie", "ostraka_oidc=%%"},
	} {
		request := r.request("GET", "/v1/session/oidc/callback?code=x&state=b", "", nil, headers...)
		response, err := http.DefaultTransport.RoundTrip(request) //nolint:forbidigo // a test
		require.NoError(t, err)
		response.Body.Close()
		require.Equal(t, "/sign-in#error=state", response.Header.Get("Location"), name)
	}
	require.Zero(t, r.fake.opened)
	require.Equal(t, 404, newRig(t).ask("GET", "/v1/session/oidc", "", "").problem(t).Status, "without a provider there is nothing")
}
