package api_test

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/api"
)

func TestSpecificationIsUpToDate(t *testing.T) {
	want, err := api.OpenAPIYAML()
	require.NoError(t, err)
	got, err := os.ReadFile("../openapi.yaml")
	require.NoError(t, err)
	require.Equal(t, string(want), string(got), "run go generate ./api ./client")
	r := newRig(t)
	require.Equal(t, string(want), string(r.ask("GET", "/openapi.yaml", "", "").body))
}

func TestDocumentationNeedsNoNetwork(t *testing.T) {
	r := newRig(t)
	for path, mediaType := range map[string]string{
		"/docs": "text/html; charset=utf-8", "/docs/problems": "text/html; charset=utf-8", "/docs/style.css": "text/css; charset=utf-8",
		"/openapi.yaml": "application/openapi+yaml", "/openapi.json": "application/openapi+json",
		"/openapi-3.0.yaml": "application/openapi+yaml", "/openapi-3.0.json": "application/openapi+json",
	} {
		a := r.ask("GET", path, "", "")
		require.Equal(t, 200, a.StatusCode, path)
		require.Equal(t, mediaType, a.Header.Get("Content-Type"))
		if !strings.HasPrefix(mediaType, "text/") {
			continue
		}
		text := string(a.body)
		require.NotRegexp(t, `(?i)(src|href)="(https?:)?//`, text, "%s refers to nothing outside", path)
		require.NotRegexp(t, `(?i)<script| style="|<style| on[a-z]+="|@import|url\(`, text, "%s has nothing that its policy forbids", path)
		require.NotContains(t, a.Header.Get("Content-Security-Policy"), "unsafe")
	}
	require.Contains(t, string(r.ask("GET", "/openapi-3.0.yaml", "", "").body), "openapi: 3.0.3")
	require.Contains(t, string(r.ask("GET", "/openapi.yaml", "", "").body), "openapi: 3.1.0")
}

// TestEveryOperationIsDocumented on the page, whose groups are the tags that the specification lists.
func TestEveryOperationIsDocumented(t *testing.T) {
	text, err := api.OpenAPIYAML()
	require.NoError(t, err)
	page := string(newRig(t).ask("GET", "/docs", "", "").body)
	operations := regexp.MustCompile(`(?m)^ +operationId: (\w+)$`).FindAllStringSubmatch(string(text), -1)
	require.NotEmpty(t, operations)
	for _, o := range operations {
		require.Contains(t, page, `id="`+o[1]+`"`)
	}
}

func TestLinksOfTheDocumentationLead(t *testing.T) {
	r := newRig(t)
	for _, path := range []string{"/docs", "/docs/problems"} {
		text := string(r.ask("GET", path, "", "").body)
		ids := map[string]bool{}
		for _, match := range regexp.MustCompile(` id="([^"]*)"`).FindAllStringSubmatch(text, -1) {
			require.False(t, ids[match[1]], "%s has the id %s twice", path, match[1])
			ids[match[1]] = true
		}
		for _, match := range regexp.MustCompile(` href="#([^"]*)"`).FindAllStringSubmatch(text, -1) {
			require.True(t, ids[match[1]], "%s: #%s leads nowhere", path, match[1])
		}
		require.NotEmpty(t, ids)
	}
}

// TestEveryProblemIsExplained reads the codes out of the source, so that none can be forgotten.
func TestEveryProblemIsExplained(t *testing.T) {
	domain, err := filepath.Glob("../functions/*.go")
	require.NoError(t, err)
	rooms, err := filepath.Glob("../functions/*/*.go")
	require.NoError(t, err)
	parts, err := filepath.Glob("../functions/trust/*/*.go")
	require.NoError(t, err)
	page := string(newRig(t).ask("GET", "/docs/problems", "", "").body)
	found := 0
	for _, file := range slices.Concat(domain, rooms, parts, []string{"rest/codes.go"}) {
		source, err := os.ReadFile(file)
		require.NoError(t, err)
		pattern := regexp.MustCompile(`(?:Error\{\s*Kind:\s+[\w.]+,\s*Code:\s+|Invalid\(|\tcode\w+ += |\tCode\w+ +Code = )"([a-z_]+)"`)
		if file == "rest/codes.go" {
			pattern = regexp.MustCompile(`\tCode\w+ += "([a-z_]+)"`)
		}
		codes := pattern.FindAllStringSubmatch(string(source), -1)
		for _, code := range codes {
			if code[1] == "module_" { // and a class: see moduleProblems
				continue
			}
			found++
			require.Contains(t, page, `<article id="`+code[1]+`">`, "%s has the code %s: explain it in explain.go or explain_domain.go", file, code[1])
		}
	}
	require.Greater(t, found, 70, "the pattern finds the codes")
}

func TestHealth(t *testing.T) {
	r := newRig(t)
	var health api.Health
	r.ask("GET", "/livez", "", "").decode(t, 200, &health)
	require.Equal(t, "ok", health.Status)
	r.ask("GET", "/readyz", "", "").decode(t, 200, &health)
	require.Equal(t, map[string]string{"database": "ok"}, health.Checks)
	r.fake.ready = false
	r.ask("GET", "/readyz", "", "").decode(t, 503, &health)
	require.Equal(t, "does not answer", health.Checks["database"])
	r.ask("GET", "/livez", "", "").decode(t, 200, &health)
}

// opsPage shows what reaches the pages of the operators.
var opsPage = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
	_, _ = io.WriteString(w, r.URL.Path+" "+r.Header.Get("Authorization"))
})

func TestOperatorsPages(t *testing.T) {
	r := newRig(t, func(o *api.Options) { o.OpsHandler = opsPage })
	basic := func(method, key string, headers ...string) answer {
		request := r.request(method, "/ops/river/jobs", "", nil, headers...)
		request.SetBasicAuth("anybody", key)
		return r.send(request)
	}
	for _, a := range []answer{r.ask("GET", "/ops/river/jobs", operatorKey, ""), basic("GET", operatorKey), basic("POST", operatorKey), basic("POST", operatorKey, "Sec-Fetch-Site", "same-origin")} {
		require.Equal(t, 200, a.StatusCode, "%s", a.body)
		require.Equal(t, "/ops/river/jobs ", string(a.body), "the key is not passed on")
		require.Contains(t, a.Header.Get("Content-Security-Policy"), "frame-ancestors 'none'")
	}
	require.Equal(t, "/ops/river/ ", string(r.ask("GET", "/ops/river", operatorKey, "").body))
	for name, a := range map[string]answer{
		"no key": r.ask("GET", "/ops/river/", "", ""), "wrong password": basic("GET", "wrong"), "no password": basic("GET", ""), "wrong key": r.ask("GET", "/ops/river/", "wrong", ""),
	} {
		require.Equal(t, 401, a.problem(t).Status, name)
		require.Contains(t, a.Header.Get("WWW-Authenticate"), "Basic", "%s: the browser asks for a password", name)
	}
	require.Equal(t, 403, basic("GET", ownerKey).problem(t).Status)
	require.Equal(t, 403, r.ask("GET", "/ops/river/", agentKey, "").problem(t).Status)
	require.Equal(t, "cross_site_request", basic("POST", operatorKey, "Sec-Fetch-Site", "cross-site").problem(t).Code)
	require.Equal(t, "cross_site_request", basic("POST", operatorKey, "Origin", "https://evil.example").problem(t).Code)
	require.Equal(t, 404, newRig(t).ask("GET", "/ops/river/", operatorKey, "").problem(t).Status, "without a page there is nothing")
}
