package api_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/api/jobs"
	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/partition"
)

func TestCallFunction(t *testing.T) {
	r := newRig(t)
	path, submitted := in("/functions/bpsw/call"), functions.Call{}
	r.fake.job.State = functions.JobFinished
	a := r.ask("POST", path, submitterKey, `{"input":123456789012345678901234567890,"version":2,"policy":{"quorum":2}}`, "Idempotency-Key", "k")
	a.decode(t, 200, &submitted)
	require.Equal(t, in("/jobs/"+jobID.String()), a.Header.Get("Location"))
	require.JSONEq(t, `{"found":1}`, string(submitted.Output))
	got := r.fake.newJob
	require.Equal(t, "123456789012345678901234567890\n", string(got.Items), "no number is bent")
	require.Equal(t, partition.KindItems, got.Partition.Kind)
	require.Equal(t, []any{"bpsw", 2, 2}, []any{got.Function, got.Version, got.Quorum})
	require.Equal(t, jobs.DefaultCallWait, r.fake.wait)

	first := r.fake.idem
	r.ask("POST", path+"?wait=100ms", submitterKey, `{"input":123456789012345678901234567890,"version":2,"policy":{"quorum":2}}`, "Idempotency-Key", "k")
	require.Equal(t, first, r.fake.idem, "for how long one waits says nothing of what is called")
	require.Equal(t, 100*time.Millisecond, r.fake.wait)
	r.ask("POST", path, submitterKey, `{"input":1}`, "Idempotency-Key", "k")
	require.NotEqual(t, first, r.fake.idem)
	r.ask("POST", in("/functions/other/call"), submitterKey, `{"input":1}`, "Idempotency-Key", "k")
	require.NotEqual(t, first, r.fake.idem)

	for _, state := range []functions.JobState{functions.JobRunning, functions.JobReview} {
		r.fake.job.State = state
		a = r.ask("POST", path, ownerKey, `{"input":null}`)
		require.Equal(t, 202, a.StatusCode, "%s", a.body)
		require.Equal(t, "null\n", string(r.fake.newJob.Items))
	}
	r.fake.replayed, r.fake.err = true, functions.ErrCallFailed.With("job %s failed: it raised", jobID)
	a = r.ask("POST", path, ownerKey, `{"input":1}`)
	require.Equal(t, "call_failed", a.problem(t).Code)
	require.Equal(t, []string{in("/jobs/" + jobID.String()), "true"}, []string{a.Header.Get("Location"), a.Header.Get("Idempotency-Replayed")})
}

func TestCallsThatAreRefused(t *testing.T) {
	r := newRig(t)
	path := in("/functions/bpsw/call")
	for name, test := range map[string]struct {
		path, key, body string
		status          int
		code            string
	}{
		"no input":          {path, ownerKey, `{}`, 422, "invalid_request"},
		"not JSON":          {path, ownerKey, `{"input":`, 400, "bad_json"},
		"too long a wait":   {path + "?wait=61s", ownerKey, `{"input":1}`, 422, "bad_wait"},
		"too large":         {path, ownerKey, `{"input":"` + strings.Repeat("x", partition.MaxItemBytes) + `"}`, 422, string(partition.CodeItemTooLarge)},
		"a bad name":        {in("/functions/NO_NAME/call"), ownerKey, `{"input":1}`, 404, "not_found"},
		"two policies":      {path, ownerKey, `{"input":1,"policy":{"quorum":2,"none":true}}`, 422, "invalid_request"},
		"by who only reads": {path, viewerKey, `{"input":1}`, 403, "forbidden"},
	} {
		t.Run(name, func(t *testing.T) {
			a := r.ask("POST", test.path, test.key, test.body)
			require.Equal(t, test.status, a.StatusCode, "%s", a.body)
			require.Equal(t, test.code, a.problem(t).Code)
		})
	}
}
