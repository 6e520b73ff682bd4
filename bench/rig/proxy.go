package rig

import (
	"context"
	"io"
	"net"
	"sync"
)

// Proxy is the network between an agent and a server. It can be cut.
type Proxy struct {
	URL string

	listener net.Listener
	target   string
	mu       sync.Mutex
	cut      bool
	open     map[net.Conn]bool
}

// NewProxy stands in front of an address.
func NewProxy(ctx context.Context, target string) (*Proxy, error) {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &Proxy{URL: "http://" + l.Addr().String(), listener: l, target: target, open: map[net.Conn]bool{}}
	go p.serve(ctx)
	return p, nil
}

// Close ends it with all connections.
func (p *Proxy) Close() error {
	p.Cut()
	return p.listener.Close()
}

// Cut ends all connections in the middle of whatever they carry, and lets none through until Mend.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cut = true
	for c := range p.open {
		if tcp, ok := c.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0) // a reset, as of a machine that is gone
		}
		_ = c.Close()
	}
	clear(p.open)
}

// Mend lets connections through again.
func (p *Proxy) Mend() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cut = false
}

func (p *Proxy) serve(ctx context.Context) {
	for {
		c, err := p.listener.Accept()
		if err != nil {
			return
		}
		go p.carry(ctx, c)
	}
}

// keep notes a connection, unless the network is cut.
func (p *Proxy) keep(c net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.cut {
		p.open[c] = true
	}
	return !p.cut
}

func (p *Proxy) drop(c net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.open, c)
	_ = c.Close()
}

func (p *Proxy) carry(ctx context.Context, from net.Conn) {
	defer p.drop(from)
	if !p.keep(from) {
		return
	}
	var d net.Dialer
	to, err := d.DialContext(ctx, "tcp", p.target)
	if err != nil {
		return
	}
	defer p.drop(to)
	if !p.keep(to) {
		return
	}
	ended := make(chan struct{}, 2)
	for _, way := range [][2]net.Conn{{from, to}, {to, from}} {
		go func() {
			_, _ = io.Copy(way[0], way[1])
			ended <- struct{}{}
		}()
	}
	<-ended
}
