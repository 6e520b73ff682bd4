package webhook

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var secret = []byte("0123456789abcdef0123456789abcdef")

// local is a client that may call this machine.
func local() *Client {
	return NewClient(Guard{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}, "1")
}

func serve(t *testing.T, handler http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(handler)
	t.Cleanup(s.Close)
	return s.URL
}

func TestWhatIsPosted(t *testing.T) {
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body := make([]byte, 100)
		n, _ := r.Body.Read(body)
		m := Message{ID: r.Header.Get(HeaderID), Timestamp: r.Header.Get(HeaderTimestamp), Signature: r.Header.Get(HeaderSignature), Body: body[:n]}
		if r.Method != http.MethodPost || r.Header.Get("Content-Type") != "application/json" || r.Header.Get("User-Agent") != "Ostraka-Webhook/1" || Verify(secret, m, time.Now()) != nil {
			w.WriteHeader(http.StatusBadRequest)
		}
	})
	answer, err := local().Post(t.Context(), url, "msg_1", []byte("{}"), []byte("another secret that signs as well"), secret)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, answer.Status)
}

// TestNobodyElseIsCalled: no redirect is followed, and no proxy is asked, which would look the name up itself.
func TestNobodyElseIsCalled(t *testing.T) {
	var called atomic.Int32
	other := serve(t, func(http.ResponseWriter, *http.Request) { called.Add(1) })
	url := serve(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, other, http.StatusTemporaryRedirect) })
	answer, err := local().Post(t.Context(), url, "msg_1", []byte("{}"), secret)
	require.NoError(t, err)
	require.Equal(t, http.StatusTemporaryRedirect, answer.Status)
	require.Zero(t, called.Load())
	require.Nil(t, local().transport(false).Proxy)
}

// TestANameThatMeansThisMachineIsRefused when it is called: what it means is known then, and not when it was written.
func TestANameThatMeansThisMachineIsRefused(t *testing.T) {
	var called atomic.Int32
	url := serve(t, func(http.ResponseWriter, *http.Request) { called.Add(1) })
	port := url[strings.LastIndex(url, ":"):]
	none := NewClient(Guard{Allow: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}}, "1") // which lets http through the check of URLs
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://localhost"+port, nil)
	require.NoError(t, err)
	_, err = none.transport(true).RoundTrip(req)
	require.Error(t, err)
	var refused *RefusedError
	told := none.told(err, "localhost")
	require.ErrorAs(t, told, &refused)
	require.ErrorContains(t, told, "an address of the host is not called: ")
	require.NotContains(t, told.Error(), "127.0.0.1:", "what a name means is nobody's business")
	require.NotContains(t, told.Error(), "::1]:")
	require.NotContains(t, told.Error(), port)
	require.ErrorContains(t, none.told(err, "127.0.0.1"), port, "who has written an address knows it")
	require.Contains(t, refused.Error(), "loopback")
	require.Contains(t, refused.Error(), "ostraka server --webhook-allow CIDR")
	require.Zero(t, called.Load())
	answer, err := local().Post(t.Context(), "http://localhost"+port, "msg_1", nil, secret)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, answer.Status)
}

func TestASlowReceiverIsCutOff(t *testing.T) {
	c := local()
	c.limit = 50 * time.Millisecond
	silent := serve(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	_, err := c.Post(t.Context(), silent, "msg_1", nil, secret)
	require.ErrorContains(t, err, "no answer within 50ms")
	begun := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusAccepted)
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	})
	answer, err := c.Post(t.Context(), begun, "msg_1", nil, secret)
	require.NoError(t, err, "the status was said in time")
	require.Equal(t, http.StatusAccepted, answer.Status)
}

// switching answers 101, and then holds the connection until the other side lets go of it.
func switching(t *testing.T) (url string, ended chan struct{}) {
	t.Helper()
	ended = make(chan struct{})
	return serve(t, func(w http.ResponseWriter, _ *http.Request) {
		defer close(ended)
		conn, both, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Errorf("taking the connection: %v", err)
			return
		}
		defer conn.Close()
		_, _ = both.WriteString("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: own\r\n\r\n")
		_ = both.Flush()
		_, _ = io.Copy(io.Discard, conn)
	}), ended
}

// TestAnotherProtocolIsNotSpoken: the body of a 101 is the connection, which would hold who reads it for ever.
func TestAnotherProtocolIsNotSpoken(t *testing.T) {
	url, ended := switching(t)
	answer, err := local().Post(t.Context(), url, "msg_1", nil, secret)
	require.NoError(t, err)
	require.Equal(t, http.StatusSwitchingProtocols, answer.Status)
	<-ended
}

// TestAConnectionEndsWithItsTry also where no context of a request ends it any more.
func TestAConnectionEndsWithItsTry(t *testing.T) {
	c := local()
	c.limit = 50 * time.Millisecond
	url, ended := switching(t)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, nil)
	require.NoError(t, err)
	res, err := c.transport(true).RoundTrip(req)
	require.NoError(t, err)
	defer res.Body.Close()
	_, err = io.Copy(io.Discard, res.Body)
	require.True(t, timedOut(err), "%v", err)
	require.NoError(t, res.Body.Close())
	<-ended
}

// TestAnEndlessAnswerIsNotRead further than its limit: the status has been said.
func TestAnEndlessAnswerIsNotRead(t *testing.T) {
	ended := make(chan struct{})
	url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		defer close(ended)
		w.WriteHeader(http.StatusOK)
		for {
			if _, err := w.Write(make([]byte, 32<<10)); err != nil {
				return
			}
		}
	})
	answer, err := local().Post(t.Context(), url, "msg_1", nil, secret)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, answer.Status)
	<-ended
	large := serve(t, func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("X", strings.Repeat("x", 2*maxAnswer)) })
	_, err = local().Post(t.Context(), large, "msg_1", nil, secret)
	require.ErrorContains(t, err, "the connection broke")
}

func TestErrorsTellLittle(t *testing.T) {
	closed := httptest.NewServer(http.NotFoundHandler())
	closed.Close()
	_, err := local().Post(t.Context(), closed.URL+"/secret", "msg_1", nil, secret)
	require.EqualError(t, err, "nothing listens there: the connection was refused")
	clear := serve(t, func(http.ResponseWriter, *http.Request) {})
	_, err = local().Post(t.Context(), strings.Replace(clear, "http:", "https:", 1)+"/secret", "msg_1", nil, secret)
	require.EqualError(t, err, "the connection broke, or the other side speaks no HTTP")
	own := httptest.NewTLSServer(http.NotFoundHandler())
	defer own.Close()
	_, err = local().Post(t.Context(), own.URL, "msg_1", nil, secret)
	require.ErrorContains(t, err, "its certificate does not hold")
	_, err = local().Post(t.Context(), "http://receiver.invalid/secret", "msg_1", nil, secret)
	require.ErrorContains(t, err, "the name of the host cannot be resolved")
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = local().Post(ended, clear, "msg_1", nil, secret)
	require.Error(t, err)
	_, err = NewClient(Guard{}, "1").Post(t.Context(), clear, "msg_1", nil, secret)
	require.ErrorContains(t, err, "clear text", "what was allowed when it was written")
}

func TestRetryAfter(t *testing.T) {
	c := local()
	c.now = func() time.Time { return time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC) }
	for text, want := range map[string]time.Duration{
		"": 0, "0": 0, "120": 2 * time.Minute, "-1": 0, "x": 0, "99999999999": 0,
		"Fri, 01 Jan 2027 00:01:00 GMT": time.Minute, "Thu, 31 Dec 2026 00:00:00 GMT": 0,
	} {
		require.Equal(t, want, c.retryAfter(text), text)
	}
}
