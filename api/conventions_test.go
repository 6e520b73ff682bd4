package api_test

import (
	"encoding/base64"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/api/rest"
	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/jobs"
	"github.com/ostraka/ostraka/functions/review"
)

func TestIdempotencyKey(t *testing.T) {
	r := newRig(t)
	submit := func(path, body string) functions.Idempotency {
		a := r.ask("POST", path, ownerKey, body, "Idempotency-Key", "k-1")
		require.Equal(t, 201, a.StatusCode, "%s", a.body)
		require.Empty(t, a.Header.Get("Idempotency-Replayed"))
		return r.fake.idem
	}
	first := submit(in("/jobs"), goodJob)
	require.Equal(t, "k-1", first.Key)
	require.Equal(t, first, submit(in("/jobs"), goodJob), "the same request has the same digest")
	require.NotEqual(t, first.RequestDigest, submit(in("/jobs"), strings.Replace(goodJob, "10", "11", 1)).RequestDigest)
	require.NotEqual(t, first.RequestDigest, submit(in("/enrolment-tokens"), `{"name":"x"}`).RequestDigest)

	r.ask("POST", in("/jobs"), ownerKey, goodJob)
	require.Zero(t, r.fake.idem, "no key, nothing asked")
	longest := strings.Repeat("~", rest.MaxIdempotencyKey)
	r.ask("POST", in("/jobs"), ownerKey, goodJob, "Idempotency-Key", longest)
	require.Equal(t, longest, r.fake.idem.Key)

	r.fake.replayed = true
	a := r.ask("POST", in("/jobs"), ownerKey, goodJob, "Idempotency-Key", "k-1")
	require.Equal(t, 201, a.StatusCode)
	require.Equal(t, "true", a.Header.Get("Idempotency-Replayed"))
}

func TestSecretsAreShownOnce(t *testing.T) {
	r := newRig(t)
	requests := []struct{ path, key, body string }{
		{"/v1/projects", operatorKey, `{"name":"numbers"}`},
		{in("/keys"), ownerKey, `{"name":"ci","role":"submitter"}`},
		{in("/enrolment-tokens"), ownerKey, `{"name":"lab"}`},
		{in("/webhooks"), ownerKey, `{"name":"chat","url":"https://hooks.example/x","kinds":["job.failed"]}`},
		{in("/webhooks/" + thingID.String() + "/rotate"), ownerKey, ""},
	}
	for _, request := range requests {
		a := r.ask("POST", request.path, request.key, request.body, "Idempotency-Key", "k")
		require.Contains(t, []int{200, 201}, a.StatusCode, "%s", a.body)
	}
	r.fake.replayed = true
	for _, request := range requests {
		p := r.ask("POST", request.path, request.key, request.body, "Idempotency-Key", "k").problem(t)
		require.Equal(t, 409, p.Status)
		require.Equal(t, "secret_shown_once", p.Code)
	}
}

func TestPages(t *testing.T) {
	r := newRig(t)
	r.fake.items = 3
	var list rest.List[functions.Job]
	a := r.ask("GET", in("/jobs?limit=2&state=running&function=bpsw"), viewerKey, "")
	a.decode(t, 200, &list)
	require.Len(t, list.Items, 2)
	require.NotEmpty(t, list.NextCursor)
	require.Equal(t, jobs.JobFilter{State: functions.JobRunning, Function: "bpsw"}, r.fake.filter)

	link := a.Header.Get("Link")
	require.True(t, strings.HasSuffix(link, `>; rel="next"`), link)
	next, err := url.Parse(strings.TrimPrefix(strings.TrimSuffix(link, `>; rel="next"`), "<"))
	require.NoError(t, err)
	require.Equal(t, list.NextCursor, next.Query().Get("cursor"))
	require.Equal(t, "running", next.Query().Get("state"), "the next page is of the same list")

	r.fake.items = 1
	a = r.ask("GET", next.String(), viewerKey, "")
	list.NextCursor = ""
	a.decode(t, 200, &list)
	require.Equal(t, jobID.String(), r.fake.page.After)
	require.Equal(t, 2, r.fake.page.Limit)
	require.Empty(t, list.NextCursor)
	require.Empty(t, a.Header.Get("Link"))
}

func TestEveryListHasPages(t *testing.T) {
	r := newRig(t)
	for path, key := range map[string]string{
		"/v1/projects": operatorKey, "/v1/agents": operatorKey, in("/keys"): ownerKey, in("/enrolment-tokens"): ownerKey, in("/functions"): viewerKey,
		in("/functions/bpsw/versions"): viewerKey, in("/modules"): viewerKey, in("/jobs"): viewerKey, in("/jobs/" + jobID.String() + "/shards"): viewerKey,
		in("/rules"): viewerKey, in("/flags"): viewerKey, in("/agents"): viewerKey,
	} {
		var list rest.List[any]
		r.fake.items = 0
		a := r.ask("GET", path, key, "")
		a.decode(t, 200, &list)
		require.Contains(t, string(a.body), `"items":[]`, "%s: an empty list is an empty array", path)
		require.Equal(t, rest.DefaultListLimit, r.fake.page.Limit, path)

		r.fake.items = functions.MaxListLimit
		r.ask("GET", path+"?limit="+strconv.Itoa(functions.MaxListLimit), key, "").decode(t, 200, &list)
		require.Len(t, list.Items, functions.MaxListLimit, path)
		require.NotEmpty(t, list.NextCursor, path)
		require.Equal(t, 200, r.ask("GET", path+"?cursor="+list.NextCursor, key, "").StatusCode, "%s takes the cursor that it gave", path)
	}
}

func TestCursorsOfOtherListsAreRefused(t *testing.T) {
	r := newRig(t)
	for kind, path := range map[string]string{
		"n12": in("/jobs"), "sbpsw": in("/jobs"), "i" + jobID.String(): in("/functions"), "s../x": in("/functions"),
		"n-1": in("/jobs/" + jobID.String() + "/shards"), "n9223372036854775808": in("/jobs/" + jobID.String() + "/shards"), "i": in("/jobs"),
	} {
		cursor := base64.RawURLEncoding.EncodeToString([]byte(kind))
		require.Equal(t, "bad_cursor", r.ask("GET", path+"?cursor="+cursor, ownerKey, "").problem(t).Code, kind)
	}
}

func TestDocumentsHaveETags(t *testing.T) {
	r := newRig(t)
	a := r.ask("GET", in(""), viewerKey, "")
	require.Equal(t, `"3"`, a.Header.Get("ETag"))
	a = r.ask("PATCH", in(""), ownerKey, `{"followups_enabled":false}`, "If-Match", `"3"`)
	require.Equal(t, 200, a.StatusCode, "%s", a.body)
	require.EqualValues(t, 3, r.fake.revision)
	require.False(t, *r.fake.followups)
	a = r.ask("PATCH", in(""), operatorKey, `{}`, "If-Match", `W/"3"`)
	require.Equal(t, 200, a.StatusCode, "%s", a.body)
	require.Nil(t, r.fake.followups, "what is left out stays")

	rule := in("/rules/" + thingID.String())
	require.Equal(t, `"7"`, r.ask("GET", rule, viewerKey, "").Header.Get("ETag"))
	a = r.ask("PUT", rule, ownerKey, `{"name":"check","when":"true","then":{"function":"f","partition":"{}"},"enabled":true}`, "If-Match", `"7"`)
	require.Equal(t, 200, a.StatusCode, "%s", a.body)
	require.Equal(t, `"8"`, a.Header.Get("ETag"))
	require.Equal(t, "check", r.fake.rule.Name)
	a = r.ask("DELETE", rule, ownerKey, "", "If-Match", `"8"`)
	require.Equal(t, 204, a.StatusCode, "%s", a.body)
	require.EqualValues(t, 8, r.fake.revision)
}

func TestJobIsNotSentAgainUnchanged(t *testing.T) {
	r := newRig(t)
	path := in("/jobs/" + jobID.String())
	tag := r.ask("GET", path, viewerKey, "").Header.Get("ETag")
	require.NotEmpty(t, tag)
	for _, header := range []string{tag, "W/" + tag, `"other", ` + tag, "*"} {
		a := r.ask("GET", path, viewerKey, "", "If-None-Match", header)
		require.Equal(t, 304, a.StatusCode, header)
		require.Empty(t, a.body)
		require.Equal(t, tag, a.Header.Get("ETag"))
	}
	r.fake.job.Attempts++
	a := r.ask("GET", path, viewerKey, "", "If-None-Match", tag)
	require.Equal(t, 200, a.StatusCode)
	require.NotEqual(t, tag, a.Header.Get("ETag"))
}

func TestProjectIsNotSentAgainUnchanged(t *testing.T) {
	r := newRig(t)
	path := in("")
	tag := r.ask("GET", path, viewerKey, "").Header.Get("ETag")
	require.NotEmpty(t, tag)
	a := r.ask("GET", path, viewerKey, "", "If-None-Match", tag)
	require.Equal(t, 304, a.StatusCode)
	require.Empty(t, a.body)
	require.Equal(t, tag, a.Header.Get("ETag"))
	require.Equal(t, 200, r.ask("GET", path, viewerKey, "", "If-None-Match", `"another"`).StatusCode)
}

func TestWaiting(t *testing.T) {
	r := newRig(t)
	path := in("/jobs/" + jobID.String())
	for wait, want := range map[string]time.Duration{"": 0, "0s": 0, "25s": 25 * time.Second, "1500ms": 1500 * time.Millisecond, "1m": rest.MaxWait} {
		r.fake.wait = 0
		require.Equal(t, 200, r.ask("GET", path+"?wait="+wait, viewerKey, "").StatusCode)
		require.Equal(t, want, r.fake.wait)
		require.Equal(t, 204, r.ask("POST", "/v1/agent/leases?wait="+wait, agentKey, "").StatusCode)
		require.Equal(t, want, r.fake.wait)
	}
}

func TestBigNumbersPassUnharmed(t *testing.T) {
	r := newRig(t)
	r.fake.job.Aggregate = &functions.Aggregate{Value: []byte(`{"n":123456789012345678901234567890,"f":1e400,"s":"<&>"}`), Count: 1}
	a := r.ask("GET", in("/jobs/"+jobID.String()), viewerKey, "")
	require.Contains(t, string(a.body), `{"n":123456789012345678901234567890,"f":1e400,"s":"<&>"}`)
}

func TestFlagsAreFilteredAndDecided(t *testing.T) {
	r := newRig(t)
	a := r.ask("GET", in("/flags?state=all&kind=review&rule=votes&function=bpsw&job="+jobID.String()+"&agent="+thingID.String()), viewerKey, "")
	require.Equal(t, 200, a.StatusCode, "%s", a.body)
	job, agent := jobID, thingID
	require.Equal(t, review.FlagFilter{Job: &job, Agent: &agent, Kind: "review", Rule: "votes", Function: "bpsw"}, r.fake.flagFilter)
	require.Equal(t, 200, r.ask("GET", in("/flags"), viewerKey, "").StatusCode)
	require.Equal(t, review.FlagFilter{State: review.FlagOpen}, r.fake.flagFilter, "those that are open, where nothing is said")
	require.Equal(t, 422, r.ask("GET", in("/flags?state=shut"), viewerKey, "").StatusCode)
	require.Equal(t, 404, r.ask("GET", in("/flags?job=x"), viewerKey, "").StatusCode)

	flag := in("/flags/" + thingID.String())
	require.Equal(t, `"3"`, r.ask("GET", flag, viewerKey, "").Header.Get("ETag"))
	decide := `{"decision":"rerun","reason":"once more"}`
	require.Equal(t, 428, r.ask("POST", flag+"/resolve", ownerKey, decide).StatusCode)
	require.Equal(t, 403, r.ask("POST", flag+"/resolve", viewerKey, decide, "If-Match", `"3"`).StatusCode)
	a = r.ask("POST", flag+"/resolve", ownerKey, decide, "If-Match", `"3"`)
	require.Equal(t, 200, a.StatusCode, "%s", a.body)
	require.Equal(t, `"4"`, a.Header.Get("ETag"))
	require.Equal(t, review.FlagResolution{Decision: "rerun", Reason: "once more"}, r.fake.flagResolution)
	for _, bad := range []string{`{"decision":"rerun"}`, `{"decision":"burn","reason":"r"}`, `{"decision":"accept","reason":"r"}`, `{"decision":"rerun","digest":"` + strings.Repeat("a", 64) + `","reason":"r"}`} {
		require.Equal(t, 422, r.ask("POST", flag+"/resolve", ownerKey, bad, "If-Match", `"3"`).StatusCode, bad)
	}
}
