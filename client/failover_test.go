package client_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/client"
)

// nobody is the URL of a port on which nothing listens.
func nobody(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, l.Close())
	return "http://" + l.Addr().String()
}

// breaking closes each connection after it has read the request, and counts the requests.
func breaking(t *testing.T, served *atomic.Int32) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		served.Add(1)
		_, _ = io.Copy(io.Discard, r.Body)
		panic(http.ErrAbortHandler)
	}))
	t.Cleanup(s.Close)
	return s
}

func TestSeveralServers(t *testing.T) {
	var seen []string
	whole := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		seen = append(seen, r.Method+" "+r.URL.Path+" "+r.Header.Get("Authorization")+" "+string(body))
	}))
	t.Cleanup(whole.Close)
	send := func(t *testing.T, method string, body io.Reader, servers ...string) error {
		t.Helper()
		c, err := client.ConnectAny(servers, "k", "test/1")
		require.NoError(t, err)
		r, err := http.NewRequestWithContext(t.Context(), method, servers[0]+"/v1/x", body)
		require.NoError(t, err)
		r.Header.Set("Authorization", "Bearer k")
		answer, err := c.Client.Do(r)
		if err == nil {
			require.NoError(t, answer.Body.Close())
		}
		return err
	}
	t.Run("a server that does not run is passed over, and the body goes along", func(t *testing.T) {
		seen = nil
		require.NoError(t, send(t, http.MethodPost, strings.NewReader("body"), nobody(t), whole.URL+"/under"))
		require.Equal(t, []string{"POST /under/v1/x Bearer k body"}, seen)
	})
	t.Run("what was received may be sent again only where that changes nothing", func(t *testing.T) {
		var served atomic.Int32
		seen = nil
		broken := breaking(t, &served)
		require.NoError(t, send(t, http.MethodGet, nil, broken.URL, whole.URL))
		require.Len(t, seen, 1)
		served.Store(0)
		require.Error(t, send(t, http.MethodPost, strings.NewReader("body"), broken.URL, whole.URL))
		require.EqualValues(t, 1, served.Load())
		require.Len(t, seen, 1)
	})
	t.Run("a body that cannot be read again is sent once", func(t *testing.T) {
		seen = nil
		require.Error(t, send(t, http.MethodPut, io.MultiReader(strings.NewReader("body")), nobody(t), whole.URL))
		require.Empty(t, seen)
	})
	t.Run("none runs", func(t *testing.T) {
		require.Error(t, send(t, http.MethodGet, nil, nobody(t), nobody(t)))
	})
	t.Run("the server that answered is asked first the next time", func(t *testing.T) {
		var served atomic.Int32
		seen = nil
		broken := breaking(t, &served)
		c, err := client.ConnectAny([]string{broken.URL, whole.URL}, "k", "test/1")
		require.NoError(t, err)
		for range 3 {
			answer, err := c.GetSession(context.WithoutCancel(t.Context()))
			require.NoError(t, err)
			require.NoError(t, answer.Body.Close())
		}
		require.EqualValues(t, 1, served.Load())
		require.Len(t, seen, 3)
	})
	t.Run("how many", func(t *testing.T) {
		_, err := client.ConnectAny(slices.Repeat([]string{whole.URL}, client.MaxServers), "k", "test/1")
		require.NoError(t, err)
		_, err = client.ConnectAny(slices.Repeat([]string{whole.URL}, client.MaxServers+1), "k", "test/1")
		require.Error(t, err)
	})
}
