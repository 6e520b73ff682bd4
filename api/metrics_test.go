package api_test

import (
	"errors"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/api"
	"github.com/ostraka/ostraka/api/rest"
	"github.com/ostraka/ostraka/functions"
)

func TestMetrics(t *testing.T) {
	registry := prometheus.NewRegistry()
	metrics, err := rest.NewMetrics(registry)
	require.NoError(t, err)
	r := newRig(t, func(o *api.Options) { o.Metrics = metrics })
	var observer functions.Observer = metrics
	observer.Results("ok", 3)
	observer.Verdicts("accept", 2)
	observer.Audits("failed", 1)
	observer.Caught()
	r.fake.lease = &functions.Lease{ID: thingID, Shards: make([]functions.LeasedShard, 5)}
	require.Equal(t, 200, r.ask("POST", "/v1/agent/leases", agentKey, "").StatusCode)
	r.ask("GET", in("/jobs"), ownerKey, "")
	r.ask("BREW", "/teapot", "", "")

	a := r.ask("GET", "/metrics", "", "")
	require.Equal(t, 200, a.StatusCode)
	require.Contains(t, a.Header.Get("Content-Type"), "text/plain")
	text := string(a.body)
	for _, line := range []string{
		`ostraka_queue_jobs{kind="verify",queue="default",state="available"} 5`,
		`ostraka_queue_oldest_seconds{kind="verify",queue="default"} 3`,
		`ostraka_agents{state="active"} 4`, `ostraka_agents_seen 4`, `ostraka_open_jobs 2`, `ostraka_stats_up 1`,
		`ostraka_audits_total{outcome="failed"} 1`, `ostraka_audits_total{outcome="passed"} 0`, `ostraka_caught_agents_total 1`, `ostraka_agents{state="draining"} 0`,
		`ostraka_leases_total 1`, `ostraka_leased_shards_total 5`, `ostraka_results_total{status="ok"} 3`, `ostraka_verdicts_total{decision="accept"} 2`,
		`ostraka_http_request_duration_seconds_count{operation="listJobs",status="2xx"} 1`,
		`ostraka_http_request_duration_seconds_count{operation="other",status="4xx"} 1`,
	} {
		require.Contains(t, text, line+"\n")
	}
	for _, tenant := range []string{projectID.String(), jobID.String(), agentID.String(), "bpsw", "BREW", "teapot"} {
		require.NotContains(t, text, tenant, "figures name no tenant, and nothing that a client can choose")
	}

	r.fake.err = errors.New("the database is away")
	a = r.ask("GET", "/metrics", "", "")
	require.Equal(t, 200, a.StatusCode)
	require.Contains(t, string(a.body), "ostraka_stats_up 0\n")
	require.Contains(t, string(a.body), "ostraka_leases_total 1\n", "what the process knows by itself is still told")

	_, err = rest.NewMetrics(registry)
	require.Error(t, err, "twice in one registry is a mistake")
}
