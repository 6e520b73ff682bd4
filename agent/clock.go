package agent

import (
	"log/slog"
	"net/http"
	"sync"
	"time"
)

const (
	// clockOff is how far this machine's clock may be from the server's before the log says so: far above what a slow answer takes.
	clockOff = 2 * time.Minute
	// clockRight is how near they must be again.
	clockRight = time.Minute
)

// clockWatch compares this machine's clock with the server's, by the Date of its answers. Nothing but the owner's schedule depends on
// it, and an owner who wonders about that is told.
type clockWatch struct {
	next http.RoundTripper
	log  *slog.Logger
	now  func() time.Time

	mu  sync.Mutex
	off bool
}

// watchClock has the clocks compared with every answer.
func (r *remote) watchClock(log *slog.Logger, now func() time.Time) {
	doer, ok := r.connections.(*http.Client)
	if !ok {
		return
	}
	doer.Transport = &clockWatch{next: doer.Transport, log: log, now: now}
}

// RoundTrip implements http.RoundTripper.
func (c *clockWatch) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := c.next.RoundTrip(r)
	if err == nil {
		if date, err := http.ParseTime(response.Header.Get("Date")); err == nil {
			c.compare(c.now().Sub(date))
		}
	}
	return response, err
}

// CloseIdleConnections lets idle connections go, for http.Client.
func (c *clockWatch) CloseIdleConnections() {
	if next, ok := c.next.(interface{ CloseIdleConnections() }); ok {
		next.CloseIdleConnections()
	}
}

func (c *clockWatch) compare(ahead time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch apart := ahead.Abs(); {
	case apart > clockOff && !c.off:
		c.off = true
		c.log.Warn("this machine's clock and the server's do not agree: leases do not depend on them, the hours in the preferences go by this machine's",
			"ahead", ahead.Round(time.Second))
	case apart < clockRight && c.off:
		c.off = false
		c.log.Info("this machine's clock and the server's agree again")
	}
}
