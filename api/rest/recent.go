package rest

import (
	"context"
	"sync"
	"time"
)

// RecentFor is how old an answer may be that anybody may ask for: however many ask, one look a second is made for all of them.
const RecentFor = time.Second

// Recent is an answer that is the same for all who ask, kept for a moment. It is looked up for one, whom the others wait for.
type Recent[T any] struct {
	Keep  time.Duration
	Limit time.Duration // of a look
	Look  func(ctx context.Context) T

	mu     sync.Mutex
	at     time.Time
	value  T
	flying chan struct{} // closed when the look that is under way ends; nil: there is none
}

// Get returns an answer that is no older than it may be. It is the zero value where the context ends before.
func (r *Recent[T]) Get(ctx context.Context) T {
	r.mu.Lock()
	if !r.at.IsZero() && time.Since(r.at) < r.Keep {
		defer r.mu.Unlock()
		return r.value
	}
	flying := r.flying
	if flying == nil {
		flying = make(chan struct{})
		r.flying = flying
		go r.fetch(flying)
	}
	r.mu.Unlock()
	var none T
	select {
	case <-ctx.Done():
		return none
	case <-flying:
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.value
}

// fetch looks for all who wait: that the first of them goes away must not end it.
func (r *Recent[T]) fetch(flying chan struct{}) {
	ctx, cancel := context.WithTimeout(context.Background(), r.Limit)
	defer cancel()
	value := r.Look(ctx)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.value, r.at, r.flying = value, time.Now(), nil
	close(flying)
}
