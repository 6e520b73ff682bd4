package api_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/api/fleet"
	"github.com/ostraka/ostraka/api/rest"
)

// endless is a body that is said to be long and never comes.
func (r *rig) endless(path, key string, size int64) answer {
	r.t.Helper()
	pipe, open := io.Pipe()
	r.t.Cleanup(func() { _ = open.Close() })
	request := r.request("POST", path, key, pipe)
	request.ContentLength = size
	return r.send(request)
}

func TestNoBodyIsAwaitedThatIsRefusedAnyway(t *testing.T) {
	r := newRig(t)
	results := func(lease string) string { return "/v1/agent/leases/" + lease + "/results" }
	require.Equal(t, 404, r.endless(results(strangerID.String()), agentKey, rest.MaxResultsBody).problem(t).Status, "a lease that the agent does not have")
	require.Equal(t, 404, r.endless(results("none"), agentKey, rest.MaxResultsBody).problem(t).Status)
	require.Equal(t, 401, r.endless(results(thingID.String()), "nonsense", rest.MaxResultsBody).problem(t).Status)
	require.Equal(t, "bad_token", r.endless("/v1/agent/enrol", "nonsense", fleet.MaxEnrolmentBody).problem(t).Code)
	require.Equal(t, 413, r.endless("/v1/agent/enrol", joinToken, fleet.MaxEnrolmentBody+1).problem(t).Status)
	require.Equal(t, 413, r.endless("/v1/agent/enrol", "", fleet.MaxEnrolmentBody+1).problem(t).Status)
}

func TestAnEnrolmentIsAsLargeAsItMayBe(t *testing.T) {
	r := newRig(t)
	body := func(size int) string {
		const empty = `{"name":""}`
		return `{"name":"` + strings.Repeat("x", size-len(empty)) + `"}`
	}
	require.Equal(t, 422, r.ask("POST", "/v1/agent/enrol", joinToken, body(fleet.MaxEnrolmentBody)).problem(t).Status)
	require.Equal(t, 413, r.ask("POST", "/v1/agent/enrol", joinToken, body(fleet.MaxEnrolmentBody+1)).problem(t).Status)
}

func TestTokensOfABodyAreCounted(t *testing.T) {
	r := newRig(t)
	body := func(tokens int) string { // twelve beside the values
		return `{"function":"bpsw","partition":{"kind":"items","values":[` + strings.TrimSuffix(strings.Repeat("0,", tokens-12), ",") + `]}}`
	}
	require.Equal(t, 413, r.ask("POST", in("/jobs"), ownerKey, body(rest.MaxJSONTokens)).problem(t).Status, "too many values, but not too many tokens")
	p := r.ask("POST", in("/jobs"), ownerKey, body(rest.MaxJSONTokens+1)).problem(t)
	require.Equal(t, "bad_json", p.Code)
	require.Contains(t, p.Detail, strconv.Itoa(rest.MaxJSONTokens))
}

func TestAnAnswerListsFewErrors(t *testing.T) {
	r := newRig(t)
	var body strings.Builder
	for i := range 40_000 {
		body.WriteString(`,"` + strconv.Itoa(i) + `":0`)
	}
	a := r.ask("POST", in("/rules"), ownerKey, `{`+body.String()[1:]+`}`)
	require.Len(t, a.problem(t).Errors, 10)
	require.Less(t, len(a.body), 4096)
}

func TestNoMessageSpeaksGo(t *testing.T) {
	r := newRig(t)
	for _, c := range []struct{ path, key, body, says string }{
		{in("/jobs"), ownerKey, strings.Replace(goodJob, `{`, `{"version":1e308,`, 1), "body.version"},
		{in("/jobs"), ownerKey, strings.Replace(goodJob, `{`, `{"version":-0.0,`, 1), "body.version"},
		{in("/jobs"), ownerKey, strings.Replace(goodJob, `{`, `{"version":9223372036854775808,`, 1), "body.version"},
		{"/v1/agent/leases/" + thingID.String() + "/results", agentKey, `{"results":[{"platform":1}],"signature":""}`, "results.platform cannot be a number"},
	} {
		a := r.ask("POST", c.path, c.key, c.body)
		require.Equal(t, 422, a.problem(t).Status)
		require.Contains(t, string(a.body), c.says)
		for _, word := range []string{"Go ", "struct", "unmarshal", "illegal base64", "float64", "type int"} {
			require.NotContains(t, string(a.body), word)
		}
	}
}

// TestAMalformedChunkedBodyIsItsSendersAffair sends what no client of HTTP would.
func TestAMalformedChunkedBodyIsItsSendersAffair(t *testing.T) {
	r := newRig(t)
	for _, chunk := range []string{"zz\r\n", "ffffffffffffffffff\r\n"} {
		for _, path := range []string{in("/objects"), in("/functions"), in("/jobs")} {
			conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", strings.TrimPrefix(r.url, "http://"))
			require.NoError(t, err)
			_, err = io.WriteString(conn, "POST "+path+" HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer "+ownerKey+"\r\nTransfer-Encoding: chunked\r\n\r\n"+chunk)
			require.NoError(t, err)
			a, err := http.ReadResponse(bufio.NewReader(conn), nil)
			require.NoError(t, err)
			text, err := io.ReadAll(a.Body)
			require.NoError(t, err)
			require.NoError(t, a.Body.Close())
			require.NoError(t, conn.Close())
			require.Equal(t, "body_unreadable", answer{a, text}.problem(t).Code, path)
			require.Equal(t, 400, a.StatusCode, path)
		}
	}
}
