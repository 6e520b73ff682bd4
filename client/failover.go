package client

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"
)

// MaxServers is how many servers of one installation a client may know.
const MaxServers = 8

// dialWait is how long a server may take to accept a connection where there is another one to ask.
const dialWait = 5 * time.Second

// failover sends requests to one of several servers of one installation: they share all state, so that any of them will do.
type failover struct {
	transport *http.Transport
	servers   []*url.URL   // the client writes its requests for the first
	at        atomic.Int64 // which of them answered last
}

func newFailover(transport *http.Transport, servers []string) (*failover, error) {
	if len(servers) == 0 || len(servers) > MaxServers {
		return nil, fmt.Errorf("connecting to %d servers: a client knows 1 to %d", len(servers), MaxServers)
	}
	transport.DialContext = (&net.Dialer{Timeout: dialWait, KeepAlive: 30 * time.Second}).DialContext
	f := &failover{transport: transport}
	for _, server := range servers {
		u, err := url.Parse(server)
		if err != nil {
			return nil, fmt.Errorf("connecting to %s: %w", server, err)
		}
		f.servers = append(f.servers, u)
	}
	return f, nil
}

// RoundTrip sends a request to the server that answered last, and on to the others while it has reached none. What a server may have
// received is sent again only where that changes nothing.
func (f *failover) RoundTrip(r *http.Request) (*http.Response, error) {
	first := int(f.at.Load())
	var failed error
	for i := range f.servers {
		n := (first + i) % len(f.servers)
		request, err := f.to(n, r)
		if err != nil {
			return nil, errors.Join(failed, err)
		}
		answer, err := f.transport.RoundTrip(request)
		if err == nil {
			f.at.Store(int64(n))
			return answer, nil
		}
		if r.Context().Err() != nil || !f.again(r, err) {
			return nil, err
		}
		failed = err
	}
	return nil, failed
}

// to is the request for the server n. The request itself is for the first.
func (f *failover) to(n int, r *http.Request) (*http.Request, error) {
	out := r.Clone(r.Context())
	if r.GetBody != nil {
		body, err := r.GetBody()
		if err != nil {
			return nil, fmt.Errorf("reading the request's body again: %w", err)
		}
		out.Body = body
	}
	server := f.servers[n]
	out.URL.Scheme, out.URL.Host, out.Host = server.Scheme, server.Host, server.Host
	out.URL.Path = strings.TrimSuffix(server.Path, "/") + strings.TrimPrefix(r.URL.Path, strings.TrimSuffix(f.servers[0].Path, "/"))
	if r.URL.RawPath != "" {
		out.URL.RawPath = strings.TrimSuffix(server.EscapedPath(), "/") + strings.TrimPrefix(r.URL.RawPath, strings.TrimSuffix(f.servers[0].EscapedPath(), "/"))
	}
	return out, nil
}

// again says whether a request that failed may go to another server: its body can be read again, and no server has had it, or having it
// twice does no harm.
func (f *failover) again(r *http.Request, err error) bool {
	if r.Body != nil && r.Body != http.NoBody && r.GetBody == nil {
		return false
	}
	var dialled *net.OpError
	return errors.As(err, &dialled) && dialled.Op == "dial" || r.Method == http.MethodGet || r.Method == http.MethodHead
}
