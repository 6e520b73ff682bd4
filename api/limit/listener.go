package limit

import (
	"net"
	"net/netip"
	"sync"
)

// Connections bound how many connections are open at a time.
type Connections struct {
	All  int // in all; 0: as many as come
	Each int // of one address; 0: as many as come. The server's own machine and proxies may have as many as there may be in all
}

// Listener accepts no more connections than there may be: one too many is closed at once.
func Listener(l net.Listener, most Connections, proxies Proxies) net.Listener {
	return &listener{Listener: l, most: most, proxies: proxies, each: map[string]int{}}
}

type listener struct {
	net.Listener
	most    Connections
	proxies Proxies

	mu   sync.Mutex
	all  int
	each map[string]int
}

// Accept implements net.Listener.
func (l *listener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		from := l.name(c)
		if l.enter(from) {
			return &conn{Conn: c, leave: sync.OnceFunc(func() { l.leave(from) })}, nil
		}
		_ = c.Close()
	}
}

// name is whose connection it is, "" where that is not counted.
func (l *listener) name(c net.Conn) string {
	from, err := netip.ParseAddrPort(c.RemoteAddr().String())
	if err != nil || l.proxies.trusts(from.Addr().Unmap()) {
		return ""
	}
	name, _ := Of(from.Addr().Unmap())
	return name
}

func (l *listener) enter(from string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.most.All > 0 && l.all >= l.most.All || l.most.Each > 0 && from != "" && l.each[from] >= l.most.Each {
		return false
	}
	l.all++
	if from != "" {
		l.each[from]++
	}
	return true
}

func (l *listener) leave(from string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all--
	if from == "" {
		return
	}
	if l.each[from]--; l.each[from] == 0 {
		delete(l.each, from)
	}
}

type conn struct {
	net.Conn
	leave func()
}

// Close implements net.Conn.
func (c *conn) Close() error {
	c.leave()
	return c.Conn.Close()
}
