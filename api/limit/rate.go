package limit

import (
	"math"
	"sync"
	"time"
)

// maxBuckets is how many clients are remembered at a time. Those whose bucket is full again are forgotten first: nothing is lost by that.
const maxBuckets = 100_000

// Rate is how many requests a client may send.
type Rate struct {
	PerSecond float64 // 0: as many as it likes
	Burst     float64 // at once, after a pause
}

// Buckets hold a bucket of tokens for each client: a request takes one, and Rate.PerSecond come back every second.
type Buckets struct {
	rate Rate
	now  func() time.Time

	mu      sync.Mutex
	clients map[string]bucket
}

type bucket struct {
	tokens float64
	at     time.Time
}

// NewBuckets makes the buckets of a kind of client. now is the time; nil: time.Now.
func NewBuckets(rate Rate, now func() time.Time) *Buckets {
	if now == nil {
		now = time.Now
	}
	return &Buckets{rate: rate, now: now, clients: map[string]bucket{}}
}

// Rate is what the clients may.
func (b *Buckets) Rate() Rate { return b.rate }

// Take takes a token of the client's. Where there is none, wait says when there will be one.
func (b *Buckets) Take(client string) (wait time.Duration, ok bool) {
	if b.rate.PerSecond <= 0 {
		return 0, true
	}
	now := b.now()
	b.mu.Lock()
	defer b.mu.Unlock()
	left := b.left(client, now)
	if left < 1 {
		return time.Duration(math.Ceil((1 - left) / b.rate.PerSecond * float64(time.Second))), false
	}
	if len(b.clients) >= maxBuckets {
		b.forget(now)
	}
	b.clients[client] = bucket{tokens: left - 1, at: now}
	return 0, true
}

// left is what the client's bucket holds now.
func (b *Buckets) left(client string, now time.Time) float64 {
	of, known := b.clients[client]
	if !known {
		return b.rate.Burst
	}
	return min(b.rate.Burst, of.tokens+now.Sub(of.at).Seconds()*b.rate.PerSecond)
}

// forget drops the buckets that are full again, and all where none is: so many clients at once are no single one's doing.
func (b *Buckets) forget(now time.Time) {
	for client := range b.clients {
		if b.left(client, now) >= b.rate.Burst {
			delete(b.clients, client)
		}
	}
	if len(b.clients) >= maxBuckets {
		clear(b.clients)
	}
}
