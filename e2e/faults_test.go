package e2e

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// faults is a proxy between an agent and the server that can be told to misbehave.
type faults struct {
	t   *testing.T
	url string

	mu sync.Mutex
	// before, where set, may answer in the server's place; it says whether it did.
	before func(w http.ResponseWriter, r *http.Request) bool
	// after, where set, may change an answer.
	after func(r *http.Response) error
}

func startFaults(t *testing.T, server string) *faults {
	t.Helper()
	target, err := url.Parse("http://" + server)
	require.NoError(t, err)
	f := &faults{t: t}
	proxy := httputil.NewSingleHostReverseProxy(target)
	proxy.ModifyResponse = func(r *http.Response) error {
		if _, after := f.current(); after != nil {
			return after(r)
		}
		return nil
	}
	proxy.ErrorHandler = func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) }
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if before, _ := f.current(); before != nil && before(w, r) {
			return
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		s.CloseClientConnections() // polls that are open must not keep it
		s.Close()
	})
	f.url = s.URL
	return f
}

func (f *faults) current() (before func(http.ResponseWriter, *http.Request) bool, after func(*http.Response) error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.before, f.after
}

// set changes how it misbehaves; nil: not.
func (f *faults) set(before func(http.ResponseWriter, *http.Request) bool, after func(*http.Response) error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.before, f.after = before, after
}

func postsResults(r *http.Request) bool { return strings.HasSuffix(r.URL.Path, "/results") }

func asksForWork(r *http.Request) bool { return r.URL.Path == "/v1/agent/leases" }

// hangUp ends a connection without an answer.
func hangUp() { panic(http.ErrAbortHandler) }

// takeBody reads a request's body and leaves it there.
func takeBody(t *testing.T, r *http.Request) []byte {
	t.Helper()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		t.Logf("reading a request: %v", err)
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	return body
}

// shiftTimes moves the named times in a JSON text.
func shiftTimes(text []byte, by time.Duration, names ...string) []byte {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var value any
	if decoder.Decode(&value) != nil {
		return text
	}
	shift(value, by, names)
	shifted, err := json.Marshal(value)
	if err != nil {
		return text
	}
	return shifted
}

func shift(value any, by time.Duration, names []string) {
	switch v := value.(type) {
	case []any:
		for _, item := range v {
			shift(item, by, names)
		}
	case map[string]any:
		for _, name := range names {
			if text, ok := v[name].(string); ok {
				if at, err := time.Parse(time.RFC3339Nano, text); err == nil {
					v[name] = at.Add(by).Format(time.RFC3339Nano)
				}
			}
		}
		for _, item := range v {
			shift(item, by, names)
		}
	}
}
