package api_test

import (
	"io"
	"net"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestNothingFollowsARequestWhoseEndIsUnclear has a request with both lengths, behind which a proxy that believes the other one would
// have passed on the request of somebody else: what follows it is not answered.
func TestNothingFollowsARequestWhoseEndIsUnclear(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	const next = "GET /livez HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
	for _, c := range []struct {
		name, request string
		answers       int
	}{
		{"both", "POST /v1/agent/enrol HTTP/1.1\r\nHost: x\r\nContent-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 1},
		{"both, the other way round", "POST /v1/agent/enrol HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nContent-Length: 6\r\n\r\n0\r\n\r\n", 1},
		{"both, for what takes no body", "GET /livez HTTP/1.1\r\nHost: x\r\nContent-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 1},
		{"chunked alone", "GET /livez HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 1},
		{"chunks in HTTP/1.0", "GET /livez HTTP/1.0\r\nHost: x\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\nContent-Length: 0\r\n\r\n", 1},
		{"a Content-Length alone", "GET /livez HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n", 2},
		{"two that differ", "GET /livez HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nContent-Length: 6\r\n\r\n", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", strings.TrimPrefix(r.url, "http://"))
			require.NoError(t, err)
			defer conn.Close()
			_, err = io.WriteString(conn, c.request+next)
			require.NoError(t, err)
			answers, err := io.ReadAll(conn)
			if err != nil {
				require.ErrorContains(t, err, "reset", "closed with what follows unread")
			}
			require.Equal(t, c.answers, strings.Count(string(answers), "HTTP/1."), "%s", answers)
			require.Contains(t, string(answers), "Connection: close")
		})
	}
}
