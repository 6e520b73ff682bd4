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

// BurstSeconds is how many seconds' worth of requests a client may send at once, after a pause.
const BurstSeconds = 10

// PerSecond is a rate with the usual burst.
func PerSecond(n float64) Rate { return Rate{PerSecond: n, Burst: max(1, n*BurstSeconds)} }

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
	rate   Rate // that it was filled by
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
func (b *Buckets) Take(client string) (wait time.Duration, ok bool) { return b.TakeAt(client, b.rate) }

// TakeAt is Take for a client that has a rate of its own, which may change at any time.
func (b *Buckets) TakeAt(client string, rate Rate) (wait time.Duration, ok bool) {
	if rate.PerSecond <= 0 {
		return 0, true
	}
	now := b.now()
	b.mu.Lock()
	defer b.mu.Unlock()
	left := b.left(client, now, rate)
	if left < 1 {
		return time.Duration(math.Ceil((1 - left) / rate.PerSecond * float64(time.Second))), false
	}
	if len(b.clients) >= maxBuckets {
		b.forget(now)
	}
	b.clients[client] = bucket{tokens: left - 1, at: now, rate: rate}
	return 0, true
}

// left is what the client's bucket holds now.
func (b *Buckets) left(client string, now time.Time, rate Rate) float64 {
	of, known := b.clients[client]
	if !known {
		return rate.Burst
	}
	return min(rate.Burst, of.tokens+now.Sub(of.at).Seconds()*rate.PerSecond)
}

// forget drops the buckets that are full again, and all where none is: so many clients at once are no single one's doing.
func (b *Buckets) forget(now time.Time) {
	for client, of := range b.clients {
		if b.left(client, now, of.rate) >= of.rate.Burst {
			delete(b.clients, client)
		}
	}
	if len(b.clients) >= maxBuckets {
		clear(b.clients)
	}
}
