// Package waiting lets requests that wait for the same thing share one question: a hundred people who wait for a job cost one look,
// and a thousand agents that wait for work are called in turn, about as many as there is work. It knows nothing of databases.
package waiting

import (
	"context"
	"time"
)

// Paces say how often something is looked at that nothing was heard of.
type Paces struct {
	Soon  time.Duration // where it moves
	Rare  time.Duration // where it does not
	Share int           // how many things are looked at in one Soon, or one Rare, at most: where there are more, each waits longer
}

// next is the pause before the next look, after so many that found nothing new, where so many things are watched.
func (p Paces) next(unchanged, watched int) time.Duration {
	pause := p.Soon
	for range unchanged {
		if pause *= 2; pause >= p.Rare {
			pause = p.Rare
			break
		}
	}
	if p.Share > 0 && watched > p.Share {
		pause = pause * time.Duration(watched) / time.Duration(p.Share)
	}
	return pause
}

// Room bounds how many of those who wait do something at a time, so that they leave connections to requests that do not wait.
type Room chan struct{}

// NewRoom makes room for n at a time.
func NewRoom(n int) Room { return make(Room, n) }

// Enter waits for room. The caller must Leave where there is no error.
func (r Room) Enter(ctx context.Context) error {
	select {
	case r <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Leave makes room for another.
func (r Room) Leave() { <-r }

// Listen begins to listen for news of something: the channel gets a token at each, until stop is called.
type Listen[K comparable] func(key K) (news <-chan struct{}, stop func())
