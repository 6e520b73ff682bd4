// Package limit bounds what one client can take of the server: bytes in memory, connections and requests. It knows nothing of HTTP's
// operations; the API tells it who the client is.
package limit

import (
	"context"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"
)

// Bytes bounds the bytes of requests that a process holds at a time, in all and of one client.
type Bytes struct {
	all  *semaphore.Weighted
	each int64
	wait time.Duration

	mu   sync.Mutex
	held map[string]int64 // by client
}

// NewBytes makes a bound of all bytes in all, and of each for one client. A caller that finds them taken waits for as long as wait.
func NewBytes(all, each int64, wait time.Duration) *Bytes {
	return &Bytes{all: semaphore.NewWeighted(all), each: each, wait: wait, held: map[string]int64{}}
}

// Take reserves n bytes for the client. It is false where there is no room; otherwise release gives them back.
func (b *Bytes) Take(ctx context.Context, client string, n int64) (release func(), ok bool) {
	if !b.book(client, n) {
		return nil, false
	}
	if !b.all.TryAcquire(n) {
		ctx, cancel := context.WithTimeout(ctx, b.wait)
		defer cancel()
		if err := b.all.Acquire(ctx, n); err != nil {
			b.unbook(client, n)
			return nil, false
		}
	}
	return sync.OnceFunc(func() {
		b.all.Release(n)
		b.unbook(client, n)
	}), true
}

func (b *Bytes) book(client string, n int64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.held[client]+n > b.each {
		return false
	}
	b.held[client] += n
	return true
}

func (b *Bytes) unbook(client string, n int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.held[client] -= n; b.held[client] == 0 {
		delete(b.held, client)
	}
}
