package api_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/dispatch"
	"github.com/ostraka/ostraka/functions/jobs"
	"github.com/ostraka/ostraka/runtime/bundle"
	"github.com/ostraka/ostraka/wasm/precheck"
)

func TestUploads(t *testing.T) {
	r := newRig(t)
	lease := "/v1/agent/leases/" + thingID.String()
	digest := strings.Repeat("ab", 32)
	for name, test := range map[string]struct {
		method, path, key, mediaType string
		limit, status                int
	}{
		"function": {"POST", in("/functions"), ownerKey, "application/octet-stream", bundle.MaxArchiveBytes, 201},
		"module":   {"POST", in("/modules?name=fold"), ownerKey, "application/wasm", precheck.MaxModuleBytes, 201},
		"output":   {"PUT", lease + "/outputs/" + digest, agentKey, "application/octet-stream", int(bundle.MaxLimits().OutputBytes), 200},
	} {
		t.Run(name, func(t *testing.T) {
			send := func(body io.Reader) answer {
				request := r.request(test.method, test.path, test.key, body)
				request.Header.Set("Content-Type", test.mediaType)
				return r.send(request)
			}
			most := bytes.Repeat([]byte("m"), test.limit)
			a := send(bytes.NewReader(most))
			require.Equal(t, test.status, a.StatusCode, "%s", a.body)
			require.True(t, bytes.Equal(most, r.fake.stored), "the body arrives whole")

			p := send(bytes.NewReader(append(most, 'x'))).problem(t)
			require.Equal(t, 413, p.Status)
			require.Equal(t, map[bool]string{true: "module_too_large", false: "body_too_large"}[name == "module"], p.Code)
			p = send(io.MultiReader(bytes.NewReader(append(most, 'x')))).problem(t) // without a Content-Length
			require.Equal(t, 413, p.Status)

			a = send(strings.NewReader("\x00not JSON"))
			require.Equal(t, test.status, a.StatusCode, "%s", a.body)
		})
	}
}

func TestPushingAgainIsTheSameVersion(t *testing.T) {
	r := newRig(t)
	require.Equal(t, 201, r.ask("POST", in("/functions"), ownerKey, "x").StatusCode)
	r.fake.replayed = true
	for _, path := range []string{in("/functions"), in("/modules?name=fold&kind=aggregator")} {
		require.Equal(t, 200, r.ask("POST", path, ownerKey, "x").StatusCode)
	}
	require.Equal(t, 422, r.ask("POST", in("/modules?name=NO"), ownerKey, "x").problem(t).Status)
	require.Equal(t, 422, r.ask("POST", in("/modules?name=fold&kind=magic"), ownerKey, "x").problem(t).Status)
}

func TestObjectsMayBeNamedInAdvance(t *testing.T) {
	r := newRig(t)
	sum := sha256.Sum256([]byte("data"))
	digest, header := hex.EncodeToString(sum[:]), "sha-256=:"+base64.StdEncoding.EncodeToString(sum[:])+":"
	for name, test := range map[string]struct{ query, header, want string }{
		"not at all": {}, "in the query": {query: "?digest=" + digest, want: digest}, "in the header": {header: header, want: digest},
		"in both": {"?digest=" + digest, header, digest},
	} {
		t.Run(name, func(t *testing.T) {
			var headers []string
			if test.header != "" {
				headers = []string{"Content-Digest", test.header}
			}
			a := r.ask("POST", in("/objects"+test.query), submitterKey, "data", headers...)
			require.Equal(t, 201, a.StatusCode, "%s", a.body)
			require.Equal(t, test.want, r.fake.digest)
			require.Equal(t, "data", string(r.fake.stored))
		})
	}
	for _, header := range []string{"sha-256=:AAAA:", "md5=:" + strings.Repeat("A", 22) + "==:", "sha-256=" + digest, header + ", " + header} {
		require.Equal(t, "bad_digest", r.ask("POST", in("/objects"), ownerKey, "data", "Content-Digest", header).problem(t).Code, header)
	}
	other := "?digest=" + strings.Repeat("0", 64)
	require.Equal(t, "bad_digest", r.ask("POST", in("/objects"+other), ownerKey, "data", "Content-Digest", header).problem(t).Code)
	require.Equal(t, "invalid_request", r.ask("POST", in("/objects?digest=ABC"), ownerKey, "data").problem(t).Code)
}

// TestUploadThatBreaksOff hangs up in the middle of a body. Nobody hears the answer; the log must not call it a fault of ours.
func TestUploadThatBreaksOff(t *testing.T) {
	r := newRig(t)
	connection, err := net.Dial("tcp", strings.TrimPrefix(r.url, "http://"))
	require.NoError(t, err)
	_, err = io.WriteString(connection, "POST "+in("/objects")+" HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer "+ownerKey+
		"\r\nContent-Type: application/octet-stream\r\nContent-Length: 100\r\n\r\nonly this")
	require.NoError(t, err)
	require.NoError(t, connection.(*net.TCPConn).CloseWrite())
	answer, err := io.ReadAll(connection)
	require.NoError(t, err)
	require.NoError(t, connection.Close())
	require.Contains(t, string(answer), "400 Bad Request")
	require.Contains(t, string(answer), "body_unreadable")
	require.NotContains(t, r.logs.String(), `"level":"ERROR"`)
}

func TestDownloads(t *testing.T) {
	r := newRig(t)
	r.fake.object = bytes.Repeat([]byte("0123456789"), 50_000)
	digest := strings.Repeat("ab", 32)
	for path, key := range map[string]string{in("/objects/" + digest): viewerKey, "/v1/agent/leases/" + thingID.String() + "/bundle": agentKey} {
		r.fake.breakAt, r.fake.err = 0, nil
		a := r.ask("GET", path, key, "")
		require.Equal(t, 200, a.StatusCode)
		require.Equal(t, "application/octet-stream", a.Header.Get("Content-Type"))
		require.Equal(t, r.fake.object, a.body)

		r.fake.breakAt = 123_456
		response, err := new(http.Client).Do(r.request("GET", path, key, nil))
		require.NoError(t, err)
		_, err = io.ReadAll(response.Body)
		require.ErrorIs(t, err, io.ErrUnexpectedEOF, "an object that is not whole does not look whole")
		require.NoError(t, response.Body.Close())

		r.fake.breakAt, r.fake.err = 0, functions.NotFound("object", digest)
		require.Equal(t, 404, r.ask("GET", path, key, "").problem(t).Status)
	}
}

func TestStreamOfResults(t *testing.T) {
	r := newRig(t)
	for i := range int64(2000) {
		r.fake.results = append(r.fake.results, jobs.ResultLine{Shard: i, Output: []byte(`{"n":123456789012345678901234567890,"s":"<&>"}`), OutputDigest: strings.Repeat("ab", 32), Agent: agentID})
	}
	c, err := client.Connect(r.url, viewerKey, "test/1")
	require.NoError(t, err)
	read := func(after *int64) (int64, error) {
		response, err := c.StreamResults(t.Context(), projectID, jobID, &client.StreamResultsParams{After: after})
		require.NoError(t, err)
		defer response.Body.Close()
		require.Equal(t, 200, response.StatusCode)
		require.Equal(t, "application/x-ndjson", response.Header.Get("Content-Type"))
		lines := client.NewResultReader(response.Body)
		for n := int64(0); ; n++ {
			result, line, err := lines.Next()
			if err != nil {
				return n, err
			}
			require.Equal(t, n, result.Shard)
			require.Equal(t, `{"n":123456789012345678901234567890,"s":"<&>"}`, string(result.Output))
			require.NotContains(t, string(line), "\n")
		}
	}
	n, err := read(nil)
	require.ErrorIs(t, err, io.EOF)
	require.EqualValues(t, 2000, n)
	require.EqualValues(t, -1, r.fake.after)
	_, err = read(new(int64(41)))
	require.ErrorIs(t, err, io.EOF)
	require.EqualValues(t, 41, r.fake.after)

	r.fake.resultErr = errors.New("the database went away")
	n, err = read(nil)
	require.ErrorIs(t, err, io.ErrUnexpectedEOF, "a stream that is not whole does not look whole")
	require.LessOrEqual(t, n, int64(2000))

	r.fake.results = nil
	a := r.ask("GET", in("/jobs/"+jobID.String()+"/results"), viewerKey, "")
	require.Equal(t, 500, a.problem(t).Status, "before the first line there is still time for a problem")
	r.fake.resultErr = nil
	a = r.ask("GET", in("/jobs/"+jobID.String()+"/results"), viewerKey, "")
	require.Equal(t, 200, a.StatusCode)
	require.Empty(t, a.body)
}

func TestAgentProtocol(t *testing.T) {
	r := newRig(t)
	c, err := client.Connect(r.url, agentKey, "test/1")
	require.NoError(t, err)
	r.fake.lease = &functions.Lease{ID: thingID, Project: projectID, Job: jobID, Shards: []functions.LeasedShard{{Number: 7, Input: `{"n": 123456789012345678901234567890}`}}}
	response, err := c.LeaseShards(t.Context(), &client.LeaseShardsParams{Max: new(int64(dispatch.MaxLeaseShards)), IdempotencyKey: new("poll-1")})
	require.NoError(t, err)
	parsed, err := client.ParseLeaseShardsResponse(response)
	require.NoError(t, err)
	require.Equal(t, 200, parsed.StatusCode())
	require.Equal(t, `{"n": 123456789012345678901234567890}`, parsed.JSON200.Shards[0].Input)
	require.Equal(t, dispatch.MaxLeaseShards, r.fake.most)
	require.Equal(t, "poll-1", r.fake.idem.Key)

	response, err = c.PostResults(t.Context(), thingID, nil, client.ResultsRequest{Signature: make([]byte, 64), Results: []client.ShardResult{{
		Shard: 7, Status: client.ShardResultStatusOk, Output: `{"n":123456789012345678901234567890}`, ExitCode: new(int64(0)),
	}}})
	require.NoError(t, err)
	recorded, err := client.ParsePostResultsResponse(response)
	require.NoError(t, err)
	require.NotNil(t, recorded.JSON200, "%s", recorded.Body)
	require.EqualValues(t, 1, recorded.JSON200.Recorded)
	require.Equal(t, `{"n":123456789012345678901234567890}`, r.fake.submission.Results[0].Output)
	require.Equal(t, 0, *r.fake.submission.Results[0].ExitCode)
	require.Len(t, r.fake.submission.Signature, 64)

	response, err = c.Heartbeat(t.Context(), nil, client.Heartbeat{Leases: []uuid.UUID{thingID}})
	require.NoError(t, err)
	beat, err := client.ParseHeartbeatResponse(response)
	require.NoError(t, err)
	require.NotNil(t, beat.JSON200, "%s", beat.Body)
	require.Contains(t, string(beat.Body), `"ended_leases":[]`)

	response, err = c.ReturnLease(t.Context(), thingID, nil, client.Refusal{Code: "stopping"})
	require.NoError(t, err)
	require.Equal(t, 204, response.StatusCode)
	require.NoError(t, response.Body.Close())
	require.Equal(t, 204, r.ask("POST", "/v1/agent/leases/"+thingID.String()+"/return", agentKey, "").StatusCode, "the reason may be left out")
	require.Equal(t, 422, r.ask("POST", "/v1/agent/leases/"+thingID.String()+"/return", agentKey, `{"code":"A b","text":"","refuses":true}`).StatusCode)
}

func TestEnrolment(t *testing.T) {
	r := newRig(t)
	body := `{"public_key":"` + base64.StdEncoding.EncodeToString(make([]byte, 32)) + `","name":"lab-1","isolation":"process","proof":"AAAA",` +
		`"platform":{"os":"linux","arch":"amd64","interpreter":"CPython 3.13","libc":"glibc","cpus":4,"memory_bytes":1000,"agent":"1"}}`
	a := r.ask("POST", "/v1/agent/enrol", joinToken, body)
	require.Equal(t, 201, a.StatusCode, "%s", a.body)
	require.Len(t, r.fake.enrolment.PublicKey, 32)
	require.Equal(t, "lab-1", r.fake.enrolment.Name)
	require.Equal(t, 401, r.ask("POST", "/v1/agent/enrol", "", body).problem(t).Status)
	require.Equal(t, "bad_token", r.ask("POST", "/v1/agent/enrol", ownerKey, body).problem(t).Code)
	require.Equal(t, 422, r.ask("POST", "/v1/agent/enrol", joinToken, strings.Replace(body, "process", "magic", 1)).problem(t).Status)
}
