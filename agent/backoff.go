package agent

import (
	"context"
	"math/rand/v2"
	"time"
)

const (
	// firstBackoff is the longest wait after a first failure: long enough for a server that restarts behind a proxy.
	firstBackoff = 500 * time.Millisecond
	// maxBackoff is the longest wait between two tries: a thousand agents then ask a server that comes back about 70 times a second.
	maxBackoff = 30 * time.Second
	// maxRetryAfter bounds how long a server may make an agent wait at a time, so that a wrong header does not put it to sleep for good.
	maxRetryAfter = 5 * time.Minute
	// sayEvery is how often an agent says that a server is still away.
	sayEvery = time.Minute
)

// backoff says how long to wait before the next try: a random time up to a bound that doubles ("full jitter"), so that agents that
// were cut off together do not come back together.
type backoff struct {
	failures int
}

func (b *backoff) next() time.Duration {
	bound := maxBackoff
	if b.failures < 16 { // beyond, the shift would pass the bound anyway, and at last overflow
		bound = min(maxBackoff, firstBackoff<<b.failures)
	}
	b.failures++
	// Never below a tenth, or a run of luck would be a run of requests.
	return bound/10 + rand.N(bound-bound/10) //nolint:gosec // it spreads load and protects nothing
}

func (b *backoff) reset() { b.failures = 0 }

// over says whether a context has ended.
func over(ctx context.Context) bool { return ctx.Err() != nil }

// sleep waits and says whether the whole time passed.
func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}
