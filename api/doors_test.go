package api_test

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/api"
	"github.com/ostraka/ostraka/api/limit"
	"github.com/ostraka/ostraka/api/rest"
	apitenant "github.com/ostraka/ostraka/api/tenant"
	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/dispatch"
	"github.com/ostraka/ostraka/functions/tenant"
)

func TestAnAddressThatAsksTooMuchIsRefusedAlone(t *testing.T) {
	r := newRig(t, func(o *api.Options) {
		o.Limits = rest.Limits{PerAddress: limit.Rate{PerSecond: 0.001, Burst: 2}, Proxies: limit.Proxies{netip.MustParsePrefix("127.0.0.0/8")}}
	})
	from := func(address string) answer {
		return r.ask("GET", in("/jobs"), "nonsense", "", "X-Forwarded-For", address)
	}
	require.Equal(t, 401, from("203.0.113.1").StatusCode)
	require.Equal(t, 401, from("203.0.113.1").StatusCode)
	asked := r.fake.asked.Load()
	a := from("203.0.113.1")
	require.Equal(t, "too_many_requests", a.problem(t).Code)
	require.Equal(t, 429, a.StatusCode)
	require.Equal(t, "1000", a.Header.Get("Retry-After"))
	require.Equal(t, `"address";r=0;t=1000`, a.Header.Get("RateLimit"))
	require.Equal(t, `"address";q=2;w=2000`, a.Header.Get("RateLimit-Policy"))
	require.Equal(t, asked, r.fake.asked.Load(), "nobody was asked about the key")
	require.Equal(t, 401, from("203.0.113.2").StatusCode, "another address")
	require.Equal(t, 401, from("203.0.113.1, 203.0.113.3").StatusCode, "what the client writes itself does not count")
	metrics := string(r.ask("GET", "/metrics", "", "").body)
	require.Contains(t, metrics, `ostraka_http_too_many_requests_total{whose="address"} 1`)
}

func TestAKeyThatAsksTooMuchIsRefusedAlone(t *testing.T) {
	r := newRig(t, func(o *api.Options) { o.Limits.PerKey = limit.Rate{PerSecond: 0.001, Burst: 2} })
	for range 2 {
		require.Equal(t, 200, r.ask("GET", in("/jobs"), ownerKey, "").StatusCode)
	}
	a := r.ask("GET", in("/jobs"), ownerKey, "")
	require.Equal(t, 429, a.problem(t).Status)
	require.Contains(t, a.Header.Get("RateLimit"), `"key"`)
	require.Equal(t, 200, r.ask("GET", "/livez", "", "").StatusCode)
}

func TestAKeyThatIsNotValidIsLookedUpOnce(t *testing.T) {
	r := newRig(t)
	for range 3 {
		a := r.ask("GET", in("/jobs"), "nonsense", "")
		require.Equal(t, "unauthorized", a.problem(t).Code)
		require.True(t, strings.HasPrefix(a.Header.Get("WWW-Authenticate"), "Bearer"))
	}
	require.EqualValues(t, 1, r.fake.asked.Load())
	require.Equal(t, 200, r.ask("GET", in("/jobs"), ownerKey, "").StatusCode)
}

// TestInventedSecretsFromOneAddress has one address try a thousand keys and a thousand cookies, and ask for what anybody may: what is asked
// of the database is bounded by the address's bucket.
func TestInventedSecretsFromOneAddress(t *testing.T) {
	const burst = 50
	r := newRig(t, func(o *api.Options) {
		o.Limits = rest.Limits{PerAddress: limit.Rate{PerSecond: 0.0001, Burst: burst}, Proxies: limit.Proxies{netip.MustParsePrefix("127.0.0.0/8")}}
		o.Fresh = time.Hour
	})
	before, refused := r.fake.asked.Load(), 0
	for i := range 1000 {
		if r.ask("GET", in("/jobs"), "invented-"+strconv.Itoa(i), "", "X-Forwarded-For", "203.0.113.1").StatusCode == http.StatusTooManyRequests {
			refused++
		}
	}
	require.Equal(t, 1000-burst, refused)
	require.LessOrEqual(t, r.fake.asked.Load()-before, int64(burst))
	asked := r.fake.asked.Load()
	for _, path := range []string{"/metrics", "/readyz", in("/jobs")} {
		require.Equal(t, http.StatusTooManyRequests, r.ask("GET", path, "", "", "Cookie", "ostraka_session=invented", "X-Forwarded-For", "203.0.113.1").StatusCode, path)
	}
	require.Equal(t, asked, r.fake.asked.Load())
	require.Zero(t, r.fake.looked.Load())
	for range 20 {
		require.Equal(t, 200, r.ask("GET", "/readyz", "", "").StatusCode)
		require.Equal(t, 200, r.ask("GET", "/metrics", "", "").StatusCode)
	}
	require.EqualValues(t, 2, r.fake.looked.Load(), "each was looked up once for all who ask")
}

func TestACookieThatSignsNobodyInIsLookedUpOnce(t *testing.T) {
	r := newRig(t)
	for range 3 {
		require.Equal(t, 401, r.ask("GET", in("/jobs"), "", "", "Cookie", "ostraka_session=invented").StatusCode)
	}
	require.EqualValues(t, 1, r.fake.cookies.Load())
	require.Equal(t, 401, r.ask("GET", in("/jobs"), "", "", "Cookie", "ostraka_session="+ownerKey).StatusCode)
	require.Equal(t, 200, r.ask("GET", in("/jobs"), ownerKey, "").StatusCode, "what is no cookie may be a key")
}

func TestAgentsComeFromWhereTheProxySays(t *testing.T) {
	r := newRig(t, func(o *api.Options) { o.Limits.Proxies = limit.Proxies{netip.MustParsePrefix("127.0.0.0/8")} })
	r.ask("POST", "/v1/agent/leases", agentKey, "", "X-Forwarded-For", "192.0.2.1, 203.0.113.9")
	require.Equal(t, "203.0.113.9", r.fake.from.String())
}

func TestMetricsAndOperatorsPagesApart(t *testing.T) {
	o := api.Options{Service: newFake(), Log: slog.New(slog.DiscardHandler), OpsHandler: opsPage}
	public, ops, err := api.NewApart(o)
	require.NoError(t, err)
	get := func(h http.Handler, path string) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
		return w
	}
	for _, path := range []string{"/metrics", "/ops/river/"} {
		require.Equal(t, 404, get(public, path).Code, path)
		require.NotEqual(t, 404, get(ops, path).Code, path)
	}
	require.Equal(t, 200, get(public, "/livez").Code)
	require.Equal(t, 404, get(ops, "/livez").Code)
	require.Equal(t, 401, get(ops, "/ops/river/").Code)
	figures := get(ops, "/metrics").Body.String()
	for _, name := range []string{"go_goroutines", "process_resident_memory_bytes", "ostraka_open_jobs"} {
		require.Contains(t, figures, name)
	}
}

func TestPathsWithEmptyPartsAreNotFound(t *testing.T) {
	r := newRig(t)
	for _, path := range []string{"/v1/projects//jobs", "//v1/projects", "/v1/projects//", "/v1/../v1/projects", "/v1/./projects"} {
		request := r.request("GET", "/", ownerKey, nil)
		request.URL.Path = path
		a := r.send(request)
		require.Equal(t, "no_such_route", a.problem(t).Code, path)
		require.Equal(t, 404, a.StatusCode)
	}
}

func TestAnAddressThatEnrolsTooMuchIsRefusedAlone(t *testing.T) {
	r := newRig(t, func(o *api.Options) {
		o.Limits = rest.Limits{Enrolments: limit.Rate{PerSecond: 0.001, Burst: 2}, Proxies: limit.Proxies{netip.MustParsePrefix("127.0.0.0/8")}}
	})
	enrol := func(address string) answer {
		return r.ask("POST", "/v1/agent/enrol", joinToken, "{}", "X-Forwarded-For", address)
	}
	for range 2 {
		require.Equal(t, 422, enrol("203.0.113.1").StatusCode)
	}
	require.Equal(t, "too_many_requests", enrol("203.0.113.1").problem(t).Code)
	require.Equal(t, 422, enrol("203.0.113.2").StatusCode)
	require.Equal(t, 401, r.ask("GET", in("/jobs"), "nonsense", "", "X-Forwarded-For", "203.0.113.1").StatusCode, "it is about enrolments")
}

func TestAProjectsOwnRate(t *testing.T) {
	r := newRig(t, func(o *api.Options) { o.Limits.PerKey = limit.Rate{PerSecond: 0.001, Burst: 1} })
	r.fake.own = map[functions.QuotaName]int64{functions.QuotaRequests: 0}
	for range 3 {
		require.Equal(t, 200, r.ask("GET", in("/jobs"), ownerKey, "").StatusCode, "0 is no limit")
	}
	r.fake.own = nil
	require.Equal(t, 200, r.ask("GET", in("/jobs"), ownerKey, "").StatusCode)
	a := r.ask("GET", in("/jobs"), ownerKey, "")
	require.Equal(t, "too_many_requests", a.problem(t).Code, "the server's default")
	require.NotEmpty(t, a.Header.Get("Retry-After"))
}

// TestAnAgentWaitsSoOftenAtOnce at most, whatever its project's values are: more than it has workers is no use to it.
func TestAnAgentWaitsSoOftenAtOnce(t *testing.T) {
	r := newRig(t, func(o *api.Options) { o.Limits.Polls = 0 })
	r.fake.block = true
	answers := make(chan string, dispatch.MaxAgentPolls+1)
	ctx, end := context.WithCancel(t.Context())
	for range dispatch.MaxAgentPolls + 1 {
		go func() {
			answer, err := new(http.Client).Do(r.request("POST", "/v1/agent/leases?wait=60s", agentKey, nil).WithContext(ctx))
			if err != nil {
				answers <- "ended"
				return
			}
			defer answer.Body.Close()
			answers <- answer.Header.Get("RateLimit-Policy")
		}()
	}
	require.Equal(t, `"polls";q=256`, <-answers, "as many as may wait, and one is refused")
	end()
	for range dispatch.MaxAgentPolls {
		require.Equal(t, "ended", <-answers)
	}
}

// TestPlacesToWait holds as many requests as may wait, and refuses one more; others, and requests that do not wait, are not concerned.
func TestPlacesToWait(t *testing.T) {
	r := newRig(t, func(o *api.Options) { o.Limits.Polls, o.Limits.Streams = 5, 1 })
	r.fake.own = map[functions.QuotaName]int64{functions.QuotaPolls: 1}
	r.fake.job.State = functions.JobRunning
	r.fake.changed = make(chan struct{})

	ctx, cancel := context.WithCancel(t.Context())
	request := r.request("GET", in("/jobs/"+jobID.String()+"/events"), ownerKey, nil).WithContext(ctx)
	stream, err := new(http.Client).Do(request)
	require.NoError(t, err)
	require.Equal(t, 200, stream.StatusCode)
	a := r.ask("GET", in("/jobs/"+jobID.String()+"/events"), ownerKey, "")
	p := a.problem(t)
	require.Equal(t, "quota_streams", p.Code)
	require.Equal(t, 429, a.StatusCode)
	require.Equal(t, `"streams";q=1`, a.Header.Get("RateLimit-Policy"))
	require.Equal(t, `"streams";r=0;t=5`, a.Header.Get("RateLimit"))
	require.Equal(t, "5", a.Header.Get("Retry-After"))
	require.Equal(t, 200, r.ask("GET", in("/jobs/"+jobID.String()), ownerKey, "").StatusCode)

	r.fake.block = true
	answers := make(chan string, 2)
	waiting, end := context.WithCancel(t.Context())
	for range 2 {
		go func() {
			answer, err := new(http.Client).Do(r.request("GET", in("/jobs/"+jobID.String()+"?wait=60s"), ownerKey, nil).WithContext(waiting))
			if err != nil {
				answers <- "ended"
				return
			}
			defer answer.Body.Close()
			answers <- answer.Header.Get("RateLimit-Policy")
		}()
	}
	require.Equal(t, `"polls";q=1`, <-answers, "one waits, and the other is refused")
	call := r.ask("POST", in("/functions/bpsw/call"), ownerKey, `{"input":1}`)
	require.Equal(t, "quota_polls", call.problem(t).Code, "a call waits though its request does not say so")
	end()
	require.Equal(t, "ended", <-answers)

	cancel()
	stream.Body.Close()
	require.Eventually(t, func() bool {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		again, err := new(http.Client).Do(r.request("GET", in("/jobs/"+jobID.String()+"/events"), ownerKey, nil).WithContext(ctx))
		if err != nil {
			return false
		}
		defer again.Body.Close()
		return again.StatusCode == http.StatusOK
	}, time.Minute, 10*time.Millisecond, "the place is free again")
}

func TestQuotasOfAProject(t *testing.T) {
	r := newRig(t)
	var shown apitenant.Quotas
	r.ask("GET", in("/quotas"), viewerKey, "").decode(t, 200, &shown)
	require.Equal(t, int64(3), *shown.Quotas[0].Used)
	require.Equal(t, 403, r.ask("PATCH", in("/quotas"), ownerKey, `{"limits":{"open_jobs":7}}`).StatusCode, "operators set them")
	require.Equal(t, 200, r.ask("PATCH", in("/quotas"), operatorKey, `{"limits":{"open_jobs":7,"polls":null}}`).StatusCode)
	require.Equal(t, int64(7), *r.fake.quotas[functions.QuotaOpenJobs])
	value, named := r.fake.quotas[functions.QuotaPolls]
	require.True(t, named)
	require.Nil(t, value)
	r.fake.err = tenant.QuotaReached(functions.QuotaOpenUploads, 9)
	a := r.ask("GET", in("/quotas"), viewerKey, "")
	require.Equal(t, 429, a.StatusCode)
	require.Equal(t, "quota_open_uploads", a.problem(t).Code)
	require.Equal(t, `"open_uploads";q=9`, a.Header.Get("RateLimit-Policy"))
}

func TestBoundsOfNumbersAreWrittenPlainly(t *testing.T) {
	r := newRig(t)
	p := r.ask("POST", in("/enrolment-tokens"), ownerKey, `{"name":"lab","max_uses":1000001}`).problem(t)
	require.Equal(t, "body.max_uses: must be a number, and 1000000 at most", p.Detail)
	require.Equal(t, "must be a number, and 1000000 at most", p.Errors[0].Message)
}
