package api_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/api/rest"
	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/partition"
)

const goodJob = `{"function":"bpsw","partition":{"kind":"range","from":"0","to":"10","size":"5"}}`

func TestEveryRefusalIsAProblem(t *testing.T) {
	deep := strings.Repeat("[", rest.MaxJSONDepth) + strings.Repeat("]", rest.MaxJSONDepth)
	tests := []struct {
		name, method, path, key, body string
		headers                       []string
		status                        int
		code                          string
		says                          string // in the detail
	}{
		{name: "unknown path", method: "GET", path: "/v2/projects", status: 404, code: "no_such_route", says: "/v2/projects"},
		{name: "unknown path below a known one", method: "GET", path: in("/jobs/1/2/3"), key: ownerKey, status: 404, code: "no_such_route"},
		{name: "unknown method", method: "PATCH", path: in("/jobs"), key: ownerKey, status: 405, code: "method_not_allowed", says: "PATCH"},
		{name: "no key", method: "GET", path: in("/jobs"), status: 401, code: "unauthorized"},
		{name: "key that is not valid", method: "GET", path: in("/jobs"), key: "nonsense", status: 401, code: "unauthorized"},
		{name: "another scheme", method: "GET", path: in("/jobs"), headers: []string{"Authorization", "Basic b3duZXI6a2V5"}, status: 401, code: "unauthorized"},
		{name: "endless key", method: "GET", path: in("/jobs"), key: strings.Repeat("x", 600), status: 401, code: "unauthorized"},
		{name: "role that is not enough", method: "POST", path: in("/keys"), key: viewerKey, body: `{}`, status: 403, code: "forbidden", says: "viewer"},
		{name: "role of another world", method: "GET", path: in("/jobs"), key: agentKey, status: 403, code: "forbidden"},
		{name: "another project", method: "GET", path: in("/jobs"), key: strangerKey, status: 404, code: "not_found", says: projectID.String()},
		{name: "another project, and a role that would not be enough", method: "POST", path: "/v1/projects/" + strangerID.String() + "/keys", key: viewerKey, body: `{}`, status: 404, code: "not_found"},
		{name: "project that is no UUID", method: "GET", path: "/v1/projects/numbers/jobs", key: ownerKey, status: 404, code: "not_found"},
		{name: "project that is no UUID, for an operator", method: "GET", path: "/v1/projects/numbers", key: operatorKey, status: 404, code: "not_found"},
		{name: "job that is no UUID", method: "GET", path: in("/jobs/17"), key: ownerKey, status: 404, code: "not_found", says: "17"},
		{name: "no body", method: "POST", path: in("/jobs"), key: ownerKey, status: 400, code: "body_required"},
		{name: "not JSON", method: "POST", path: in("/jobs"), key: ownerKey, body: `{"function":`, status: 400, code: "bad_json", says: "at byte"},
		{name: "more than one value", method: "POST", path: in("/jobs"), key: ownerKey, body: goodJob + `{}`, status: 400, code: "bad_json"},
		{name: "not UTF-8", method: "POST", path: in("/jobs"), key: ownerKey, body: "{\"function\":\"\xff\"}", status: 400, code: "bad_json", says: "UTF-8"},
		{name: "key twice", method: "POST", path: in("/jobs"), key: ownerKey, body: `{"function":"a","function":"b"}`, status: 400, code: "bad_json", says: `"function" occurs twice`},
		{name: "too deep", method: "POST", path: in("/jobs"), key: ownerKey, body: "[" + deep + "]", status: 400, code: "bad_json", says: "deeper"},
		{name: "as deep as may be, but no object", method: "POST", path: in("/jobs"), key: ownerKey, body: deep, status: 422, code: "invalid_request"},
		{name: "unknown field", method: "POST", path: in("/jobs"), key: ownerKey, body: `{"functoin":"bpsw",` + goodJob[1:], status: 422, code: "invalid_request", says: "functoin"},
		{name: "field in another case", method: "POST", path: in("/jobs"), key: ownerKey, body: `{"Function":"bpsw",` + goodJob[len(`{"function":"bpsw",`):], status: 422, code: "invalid_request", says: "function"},
		{name: "missing field", method: "POST", path: in("/jobs"), key: ownerKey, body: `{"function":"bpsw"}`, status: 422, code: "invalid_request", says: "partition"},
		{name: "field of another type", method: "POST", path: in("/jobs"), key: ownerKey, body: `{"function":7,"partition":{}}`, status: 422, code: "invalid_request", says: "body.function"},
		{name: "body is null", method: "POST", path: in("/jobs"), key: ownerKey, body: `null`, status: 422, code: "invalid_request"},
		{name: "another media type", method: "POST", path: in("/jobs"), key: ownerKey, body: `function=bpsw`, headers: []string{"Content-Type", "text/plain"}, status: 400, code: "bad_json"},
		{name: "JSON under another media type", method: "POST", path: in("/jobs"), key: ownerKey, body: goodJob, headers: []string{"Content-Type", "text/plain"}, status: 415, code: "unsupported_media_type"},
		{name: "unknown parameter", method: "GET", path: in("/jobs?limits=5"), key: ownerKey, status: 422, code: "invalid_request", says: "limits"},
		{name: "limit below the least", method: "GET", path: in("/jobs?limit=0"), key: ownerKey, status: 422, code: "invalid_request", says: "limit"},
		{name: "limit above the most", method: "GET", path: in("/jobs?limit=501"), key: ownerKey, status: 422, code: "invalid_request", says: "limit"},
		{name: "limit that is no number", method: "GET", path: in("/jobs?limit=many"), key: ownerKey, status: 422, code: "invalid_request", says: "limit"},
		{name: "state that does not exist", method: "GET", path: in("/jobs?state=lost"), key: ownerKey, status: 422, code: "invalid_request", says: "state"},
		{name: "cursor that is none", method: "GET", path: in("/jobs?cursor=%21"), key: ownerKey, status: 422, code: "bad_cursor"},
		{name: "cursor of another list", method: "GET", path: in("/jobs?cursor=bjEy"), key: ownerKey, status: 422, code: "bad_cursor"}, // "n12"
		{name: "wait that is no time", method: "GET", path: in("/jobs/" + jobID.String() + "?wait=soon"), key: ownerKey, status: 422, code: "bad_wait", says: "soon"},
		{name: "wait past the limit", method: "GET", path: in("/jobs/" + jobID.String() + "?wait=60.001s"), key: ownerKey, status: 422, code: "bad_wait"},
		{name: "wait below zero", method: "GET", path: in("/jobs/" + jobID.String() + "?wait=-1s"), key: ownerKey, status: 422, code: "bad_wait"},
		{name: "empty idempotency key", method: "POST", path: in("/jobs"), key: ownerKey, body: goodJob, headers: []string{"Idempotency-Key", ""}, status: 422, code: "bad_idempotency_key"},
		{name: "idempotency key with a blank", method: "POST", path: in("/jobs"), key: ownerKey, body: goodJob, headers: []string{"Idempotency-Key", "a b"}, status: 422, code: "bad_idempotency_key"},
		{name: "idempotency key past the limit", method: "POST", path: in("/jobs"), key: ownerKey, body: goodJob, headers: []string{"Idempotency-Key", strings.Repeat("k", 256)}, status: 422, code: "bad_idempotency_key"},
		{name: "two idempotency keys", method: "POST", path: in("/jobs"), key: ownerKey, body: goodJob, headers: []string{"Idempotency-Key", "a", "Idempotency-Key", "b"}, status: 422, code: "bad_idempotency_key"},
		{name: "change without If-Match", method: "PATCH", path: in(""), key: ownerKey, body: `{}`, status: 428, code: "if_match_required"},
		{name: "If-Match that is no ETag", method: "PATCH", path: in(""), key: ownerKey, body: `{}`, headers: []string{"If-Match", "3"}, status: 422, code: "bad_if_match"},
		{name: "If-Match for anything", method: "PATCH", path: in(""), key: ownerKey, body: `{}`, headers: []string{"If-Match", "*"}, status: 422, code: "bad_if_match"},
		{name: "document that has changed", method: "PATCH", path: in(""), key: ownerKey, body: `{}`, headers: []string{"If-Match", `"2"`}, status: 412, code: "revision_changed"},
		{name: "deletion without If-Match", method: "DELETE", path: in("/rules/" + thingID.String()), key: ownerKey, status: 428, code: "if_match_required"},
		{name: "event id that is none", method: "GET", path: in("/jobs/" + jobID.String() + "/events"), key: ownerKey, headers: []string{"Last-Event-ID", "last"}, status: 422, code: "bad_event_id"},
		{name: "name that is none", method: "GET", path: in("/functions/NO"), key: ownerKey, status: 404, code: "not_found"},
		{name: "digest that is none", method: "GET", path: in("/objects/abc"), key: ownerKey, status: 404, code: "not_found"},
		{name: "digest of an output that is none", method: "PUT", path: "/v1/agent/leases/" + thingID.String() + "/outputs/abc", key: agentKey, body: `1`, headers: []string{"Content-Type", "application/octet-stream"}, status: 422, code: "bad_digest"},
		{name: "accept without a digest", method: "POST", path: in("/jobs/" + jobID.String() + "/shards/0/resolve"), key: ownerKey, body: `{"decision":"accept","reason":"looked at it"}`, status: 422, code: "invalid_request", says: "digest"},
		{name: "role that a key cannot have", method: "POST", path: in("/keys"), key: ownerKey, body: `{"name":"x","role":"operator"}`, status: 422, code: "invalid_request", says: "role"},
		{name: "policy of two minds", method: "POST", path: in("/jobs"), key: ownerKey, body: `{"policy":{"quorum":2,"none":true},` + goodJob[1:], status: 422, code: "invalid_request", says: "policy"},
		{name: "policy of no mind", method: "POST", path: in("/jobs"), key: ownerKey, body: `{"policy":{},` + goodJob[1:], status: 422, code: "invalid_request", says: "policy"},
		{name: "quorum past the limit", method: "POST", path: in("/jobs"), key: ownerKey, body: `{"policy":{"quorum":17},` + goodJob[1:], status: 422, code: "invalid_request", says: "quorum"},
	}
	r := newRig(t)
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			headers := test.headers
			request := r.request(test.method, test.path, test.key, strings.NewReader(test.body))
			for i := 0; i < len(headers); i += 2 {
				if i == 0 || headers[i] != headers[i-2] {
					request.Header.Del(headers[i])
				}
				request.Header.Add(headers[i], headers[i+1])
			}
			a := r.send(request)
			p := a.problem(t)
			require.Equal(t, test.status, p.Status, "%s", a.body)
			require.Equal(t, test.code, p.Code, "%s", a.body)
			require.Contains(t, p.Detail, test.says)
			if p.Status == http.StatusUnauthorized {
				require.Contains(t, a.Header.Get("WWW-Authenticate"), "Bearer")
			}
			if p.Status == http.StatusMethodNotAllowed {
				require.Equal(t, "GET, HEAD, POST", a.Header.Get("Allow"))
			}
		})
	}
}

func TestWhatTheDomainRefuses(t *testing.T) {
	statuses := map[functions.Kind]int{
		functions.KindInvalid: 422, functions.KindUnauthorized: 401, functions.KindForbidden: 403, functions.KindNotFound: 404,
		functions.KindConflict: 409, functions.KindPrecondition: 412, functions.KindTooLarge: 413, functions.KindUnavailable: 503,
	}
	r := newRig(t)
	for kind, status := range statuses {
		t.Run(string(kind), func(t *testing.T) {
			r.fake.err = fmt.Errorf("doing it: %w", &functions.Error{Kind: kind, Code: "some_code", Message: "it is so", Hint: "do that", Err: errors.New("secret cause")})
			a := r.ask("GET", in("/jobs"), ownerKey, "")
			p := a.problem(t)
			require.Equal(t, status, p.Status)
			require.Equal(t, "some_code", p.Code)
			require.Equal(t, "it is so", p.Detail)
			require.Equal(t, "do that", p.Hint)
			require.NotContains(t, string(a.body), "secret cause")
			require.Equal(t, kind == functions.KindUnavailable, a.Header.Get("Retry-After") != "")
		})
	}
	t.Run("partition", func(t *testing.T) {
		r.fake.err = fmt.Errorf("submitting: %w", &partition.Error{Code: partition.CodeRangeEmpty, Field: "to", Detail: "nothing in it", Hint: "more"})
		p := r.ask("POST", in("/jobs"), ownerKey, goodJob).problem(t)
		require.Equal(t, 422, p.Status)
		require.Equal(t, "range_empty", p.Code)
		require.Equal(t, "partition.to: nothing in it", p.Detail)
	})
}

func TestFaultsOfTheServerTellNothing(t *testing.T) {
	for name, fault := range map[string]func(*fake){
		"error": func(f *fake) { f.err = errors.New("pq: password authentication failed for user ostraka") },
		"panic": func(f *fake) { f.panics = true },
		"kind that does not exist": func(f *fake) {
			f.err = &functions.Error{Kind: "odd", Code: "odd", Message: "password authentication", Hint: "?"}
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			fault(r.fake)
			a := r.ask("GET", in("/jobs"), ownerKey, "")
			p := a.problem(t)
			require.Equal(t, 500, p.Status)
			require.Equal(t, "internal", p.Code)
			require.NotContains(t, string(a.body), "password")
			require.NotContains(t, string(a.body), "fake")
			require.Contains(t, r.logs.String(), p.RequestID, "the log has the cause under the same ID")
			require.Contains(t, r.logs.String(), `"level":"ERROR"`)
		})
	}
}

func TestNothingSecretIsLogged(t *testing.T) {
	r := newRig(t)
	r.ask("POST", in("/keys"), ownerKey, `{"name":"x","role":"viewer"}`)
	r.ask("POST", "/v1/agent/enrol", joinToken, `{}`)
	r.ask("GET", in("/jobs"), "wrong-key", "")
	for _, secret := range []string{ownerKey, joinToken, "wrong-key", "the-secret"} {
		require.NotContains(t, r.logs.String(), secret)
	}
}

func TestEveryAnswerHasItsHeaders(t *testing.T) {
	r := newRig(t)
	for _, path := range []string{in("/jobs"), "/livez", "/nowhere", "/docs", "/metrics"} {
		a := r.ask("GET", path, ownerKey, "")
		require.Len(t, a.Header.Get("X-Request-Id"), 36, path)
		require.Equal(t, "v1.2.3", a.Header.Get("Ostraka-Version"), path)
		require.Equal(t, "nosniff", a.Header.Get("X-Content-Type-Options"), path)
		require.Contains(t, a.Header.Get("Content-Security-Policy"), "default-src 'none'", path)
		require.Contains(t, a.Header.Get("Content-Security-Policy"), "frame-ancestors 'none'", path)
		require.Empty(t, a.Header.Get("Access-Control-Allow-Origin"), path)
	}
	require.Equal(t, "no-store", r.ask("GET", in("/jobs"), ownerKey, "").Header.Get("Cache-Control"))
}
