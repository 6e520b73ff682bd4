package model

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const secret = "sk-very-secret"

// serve starts an endpoint.
func serve(t *testing.T, handle http.HandlerFunc) *Client {
	t.Helper()
	s := httptest.NewServer(handle)
	t.Cleanup(s.Close)
	key := filepath.Join(t.TempDir(), "key")
	require.NoError(t, os.WriteFile(key, []byte(secret+"\n"), 0o600))
	c, err := New(Options{URL: s.URL + "/v1/", Model: "small", KeyFile: key})
	require.NoError(t, err)
	t.Cleanup(c.Close)
	return c
}

// completion is an answer of a model that says this.
func completion(content string) string {
	text, _ := json.Marshal(content)
	return fmt.Sprintf(`{"choices":[{"message":{"role":"assistant","content":%s}}],"usage":{"total_tokens":321}}`, text)
}

func ask(t *testing.T, c *Client, items ...Item) ([]Answer, Usage, error) {
	t.Helper()
	list, err := c.Prepare(items)
	require.NoError(t, err)
	require.Len(t, list, 1)
	return c.Ask(t.Context(), list[0])
}

var one = Item{ID: "7", Kind: "result", Text: `{"n":1}`}

func TestAGoodAnswer(t *testing.T) {
	t.Parallel()
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if r.URL.Path != "/v1/chat/completions" || r.Header.Get("Authorization") != "Bearer "+secret || !strings.Contains(string(body), `\"id\":\"7\"`) {
			w.WriteHeader(http.StatusTeapot)
			return
		}
		_, _ = io.WriteString(w, completion(`{"findings":[{"id":"7","score":0.75,"label":"odd","why":"too many"}]}`))
	})
	answers, usage, err := ask(t, c, one)
	require.NoError(t, err)
	require.Equal(t, []Answer{{ID: "7", Score: 0.75, Label: "odd", Why: "too many"}}, answers)
	require.Equal(t, int64(321), usage.Tokens)
	require.Empty(t, c.Trouble())
}

func TestBadEndpoints(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		handle http.HandlerFunc
		says   string
		final  bool
	}{
		"500":     {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) }, "status 500", false},
		"refused": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadRequest) }, "status 400", true},
		"redirect": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://169.254.169.254/", http.StatusFound)
		}, "redirect 302", false},
		"huge": {func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, strings.Repeat("x", MaxResponse+1))
		}, "more than 262144 bytes", false},
		"garbage": {func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>") }, "no chat completion", true},
		"injected": {func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, completion(`{"findings":[],"accept":["7"]}`))
		}, "not the JSON object", true},
		"talk": {func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, completion("Sure! All is fine."))
		}, "not the JSON object", true},
		"more": {func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, completion(`{"findings":[]} ok`))
		}, "after the JSON object", true},
		"other": {func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, completion(`{"findings":[{"id":"8","score":1,"label":"x","why":""}]}`))
		}, "not asked about", true},
		"score": {func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, completion(`{"findings":[{"id":"7","score":1.01,"label":"x","why":""}]}`))
		}, "from 0 to 1", true},
		"text": {func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, completion(`{"findings":[{"id":"7","score":1,"label":"x","why":"\u001b[2J"}]}`))
		}, "control characters", true},
	} {
		client := serve(t, c.handle)
		_, _, err := ask(t, client, one)
		var failed *Error
		require.ErrorAs(t, err, &failed, name)
		require.Contains(t, failed.Message, c.says, name)
		require.Equal(t, c.final, failed.Final, name)
		require.NotContains(t, err.Error(), secret)
	}
}

func TestAnEndpointThatIsAwayIsLeftAlone(t *testing.T) {
	t.Parallel()
	var calls atomic.Int64
	c := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		calls.Add(1)
		w.WriteHeader(http.StatusServiceUnavailable)
	})
	now := time.Now()
	c.now = func() time.Time { return now }
	for i := range breakAfter + 2 {
		_, usage, err := ask(t, c, one)
		require.Error(t, err)
		require.Equal(t, i < breakAfter, usage.Called)
	}
	require.EqualValues(t, breakAfter, calls.Load())
	require.Contains(t, c.Trouble(), "status 503")
	now = now.Add(breakFor)
	require.Empty(t, c.Trouble())
	_, _, err := ask(t, c, one)
	require.Error(t, err)
	require.EqualValues(t, breakAfter+1, calls.Load(), "then it is tried again")
}

func TestASlowEndpointEndsWithItsCaller(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	c := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-release:
		case <-r.Context().Done():
		}
	})
	t.Cleanup(func() { close(release) })
	c.http.Timeout = time.Millisecond
	_, usage, err := ask(t, c, one)
	require.Error(t, err)
	require.Greater(t, usage.Tokens, int64(MaxAnswerTokens), "it may have worked: that counts as the most")
}

// TestWhatACallCosts: what nobody knows counts as the most, and what the endpoint has not worked for as nothing.
func TestWhatACallCosts(t *testing.T) {
	t.Parallel()
	says := func(text string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, text) }
	}
	for name, c := range map[string]struct {
		handle http.HandlerFunc
		tokens int64 // -1: the most
	}{
		"told":      {says(completion(`{"findings":[]}`)), 321},
		"nonsense":  {says(completion("Sure!")), 321},
		"not told":  {says(`{"choices":[{"message":{"content":"{\"findings\":[]}"}}]}`), -1},
		"negative":  {says(`{"choices":[],"usage":{"total_tokens":-5}}`), -1},
		"absurd":    {says(`{"choices":[],"usage":{"total_tokens":9223372036854775807}}`), maxTokens},
		"garbage":   {says("<html>"), -1},
		"too long":  {says(strings.Repeat("x", MaxResponse+1)), -1},
		"broken":    {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, -1},
		"refused":   {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadRequest) }, 0},
		"not ready": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) }, 0},
	} {
		client := serve(t, c.handle)
		list, err := client.Prepare([]Item{one})
		require.NoError(t, err)
		_, usage, _ := client.Ask(t.Context(), list[0])
		if c.tokens == -1 {
			c.tokens = list[0].MostTokens()
		}
		require.Equal(t, c.tokens, usage.Tokens, name)
		require.True(t, usage.Called, name)
	}
}

// TestNoAddressIsTold: projects read why the endpoint is away, and need not know where the operator has it.
func TestNoAddressIsTold(t *testing.T) {
	t.Parallel()
	for where, says := range map[string]string{"http://127.0.0.1:1": "connection refused", "http://secret-host.invalid": "its name is not found"} {
		c, err := New(Options{URL: where, Model: "m"})
		require.NoError(t, err)
		_, usage, err := ask(t, c, one)
		require.EqualError(t, err, "asking the external model: it cannot be reached: "+says)
		require.Zero(t, usage.Tokens)
	}
	s := httptest.NewTLSServer(http.NotFoundHandler())
	s.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	t.Cleanup(s.Close)
	c, err := New(Options{URL: s.URL, Model: "m"})
	require.NoError(t, err)
	_, _, err = ask(t, c, one)
	require.EqualError(t, err, "asking the external model: its certificate is not accepted")
}

// TestRequestsThatAreRefusedBlockNobody: one project's requests must not keep the endpoint from the others.
func TestRequestsThatAreRefusedBlockNobody(t *testing.T) {
	t.Parallel()
	c := serve(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusRequestEntityTooLarge) })
	for range breakAfter {
		_, _, err := ask(t, c, one)
		require.ErrorContains(t, err, "refuses the request with the status 413")
	}
	require.Empty(t, c.Trouble())
}

func TestRequestsAreBounded(t *testing.T) {
	t.Parallel()
	c, err := New(Options{URL: "http://localhost/v1", Model: "m"})
	require.NoError(t, err)
	var items []Item
	for i := range 500 {
		items = append(items, Item{ID: fmt.Sprint(i), Text: strings.Repeat(`"`, MaxItem+1)})
	}
	list, err := c.Prepare(items)
	require.NoError(t, err)
	asked := 0
	for _, r := range list {
		require.LessOrEqual(t, len(r.body), MaxRequest)
		asked += r.Items()
	}
	require.Equal(t, 500, asked)
	require.Contains(t, string(list[0].body), `\"cut\":true`)
}

func TestOptionsThatMakeNoSense(t *testing.T) {
	t.Parallel()
	for _, u := range []string{"", "localhost", "ftp://x/", "http://user:pass@x/", "http://x/?key=1", "http://", "http://x/#a", "http://\x00"} {
		_, err := New(Options{URL: u, Model: "m"})
		require.Error(t, err, u)
		require.NotContains(t, err.Error(), "pass@")
	}
	_, err := New(Options{URL: "http://x"})
	require.Error(t, err)
	_, err = New(Options{URL: "http://x", Model: "m", KeyFile: filepath.Join(t.TempDir(), "none")})
	require.Error(t, err)
}

// FuzzParseAnswer: whatever a model says, what comes out are scores of what was asked about.
func FuzzParseAnswer(f *testing.F) {
	for _, s := range []string{`{"findings":[{"id":"7","score":0.5,"label":"x","why":"y"}]}`, `{"findings":null}`, "", `{"findings":[{}]}`} {
		f.Add([]byte(completion(s)))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		answers, tokens, err := ParseAnswer(body, []string{"7", "8"})
		require.GreaterOrEqual(t, tokens, int64(0))
		if err != nil {
			require.Empty(t, answers)
			return
		}
		require.LessOrEqual(t, len(answers), 2)
		for _, a := range answers {
			require.Contains(t, []string{"7", "8"}, a.ID)
			require.True(t, a.Score >= 0 && a.Score <= 1)
			require.LessOrEqual(t, len(a.Why), MaxWhy)
		}
	})
}
