package api_test

import (
	"bytes"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/api"
	"github.com/ostraka/ostraka/api/rest"
	"github.com/ostraka/ostraka/functions/partition"
)

// rig is a server with a fake service behind it.
type rig struct {
	t    *testing.T
	fake *fake
	url  string
	logs *logBuffer
}

// logBuffer is a log that tests can read while the server writes it.
type logBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func newRig(t *testing.T, change ...func(*api.Options)) *rig {
	t.Helper()
	r := &rig{t: t, fake: newFake(), logs: &logBuffer{}}
	o := api.Options{Service: r.fake, Log: slog.New(slog.NewJSONHandler(r.logs, &slog.HandlerOptions{Level: slog.LevelDebug})), Version: "v1.2.3", Fresh: time.Nanosecond}
	for _, c := range change {
		c(&o)
	}
	handler, err := api.New(o)
	require.NoError(t, err)
	server := httptest.NewUnstartedServer(nil)
	server.Config = api.NewHTTPServer(handler, o.Log)
	server.Start()
	t.Cleanup(server.Close)
	r.url = server.URL
	return r
}

// answer is what a request was answered with.
type answer struct {
	*http.Response
	body []byte
}

// ask sends a request. The headers are pairs of name and value.
func (r *rig) ask(method, path, key, body string, headers ...string) answer {
	r.t.Helper()
	return r.send(r.request(method, path, key, strings.NewReader(body), headers...))
}

func (r *rig) request(method, path, key string, body io.Reader, headers ...string) *http.Request {
	r.t.Helper()
	request, err := http.NewRequestWithContext(r.t.Context(), method, r.url+path, body)
	require.NoError(r.t, err)
	if key != "" {
		request.Header.Set("Authorization", "Bearer "+key)
	}
	if body != nil && method != http.MethodGet {
		request.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(headers); i += 2 {
		request.Header.Add(headers[i], headers[i+1])
	}
	return request
}

func (r *rig) send(request *http.Request) answer {
	r.t.Helper()
	response, err := new(http.Client).Do(request)
	require.NoError(r.t, err)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	require.NoError(r.t, err)
	return answer{response, body}
}

// in is a path within the project.
func in(path string) string { return "/v1/projects/" + projectID.String() + path }

// problem reads an answer that must be a problem, and checks what all problems have.
func (a answer) problem(t *testing.T) rest.Problem {
	t.Helper()
	require.Equal(t, "application/problem+json", a.Header.Get("Content-Type"), "%s", a.body)
	var p rest.Problem
	dec := json.NewDecoder(bytes.NewReader(a.body))
	dec.DisallowUnknownFields()
	require.NoError(t, dec.Decode(&p), "%s", a.body)
	require.Equal(t, a.StatusCode, p.Status)
	require.Equal(t, "/docs/problems#"+p.Code, p.Type)
	require.NotEmpty(t, p.Title)
	require.NotEmpty(t, p.Detail)
	require.NotEmpty(t, p.Hint, "every problem says what to do next")
	require.Equal(t, a.Header.Get("X-Request-Id"), p.RequestID)
	require.Len(t, p.RequestID, 36)
	return p
}

func (a answer) decode(t *testing.T, status int, into any) {
	t.Helper()
	require.Equal(t, status, a.StatusCode, "%s", a.body)
	require.Equal(t, "application/json", a.Header.Get("Content-Type"))
	require.NoError(t, json.Unmarshal(a.body, into), "%s", a.body)
}

func rangeSpec(from, to, size string) partition.Spec {
	var s partition.Spec
	if err := s.UnmarshalJSON([]byte(`{"kind":"range","from":"` + from + `","to":"` + to + `","size":"` + size + `"}`)); err != nil {
		panic(err)
	}
	return s
}
