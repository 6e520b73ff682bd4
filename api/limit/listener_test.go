package limit_test

import (
	"net"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/api/limit"
)

// queued is a listener to which connections come from addresses.
type queued chan string

func (q queued) Accept() (net.Conn, error) {
	from, open := <-q
	if !open {
		return nil, net.ErrClosed
	}
	return &stub{from: net.TCPAddrFromAddrPort(netip.MustParseAddrPort(from))}, nil
}

func (q queued) Close() error   { return nil }
func (q queued) Addr() net.Addr { return &net.TCPAddr{} }

type stub struct {
	net.Conn
	from net.Addr
}

func (s *stub) RemoteAddr() net.Addr { return s.from }
func (s *stub) Close() error         { return nil }

func TestConnectionsAreBoundedInAllAndForEachAddress(t *testing.T) {
	q := make(queued, 20)
	l := limit.Listener(q, limit.Connections{All: 5, Each: 2}, limit.Proxies{netip.MustParsePrefix("10.0.0.0/8")})
	var open []net.Conn
	accept := func(want string, from ...string) {
		t.Helper()
		for _, address := range from {
			q <- address + ":1"
		}
		c, err := l.Accept()
		require.NoError(t, err)
		require.Equal(t, want+":1", c.RemoteAddr().String())
		open = append(open, c)
	}
	accept("203.0.113.1", "203.0.113.1")
	accept("203.0.113.1", "203.0.113.1")
	accept("127.0.0.1", "203.0.113.1", "127.0.0.1") // the third is closed
	require.NoError(t, open[0].Close())
	require.NoError(t, open[0].Close(), "a second time changes nothing")
	accept("203.0.113.1", "203.0.113.1")
	accept("10.0.0.1", "10.0.0.1")
	accept("10.0.0.1", "10.0.0.1")
	q <- "10.0.0.1:1" // a sixth
	close(q)
	_, err := l.Accept()
	require.ErrorIs(t, err, net.ErrClosed)
}
