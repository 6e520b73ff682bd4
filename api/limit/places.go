package limit

import "sync"

// Places bound how many requests of a client are under way at a time.
type Places struct {
	mu    sync.Mutex
	taken map[string]int64
}

// NewPlaces makes places that are all free.
func NewPlaces() *Places { return &Places{taken: map[string]int64{}} }

// Take takes one of the client's places; most is their number at this moment. It is false where none is free; otherwise release gives
// it back.
func (p *Places) Take(client string, most int64) (release func(), ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.taken[client] >= most {
		return nil, false
	}
	p.taken[client]++
	return sync.OnceFunc(func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.taken[client]--; p.taken[client] == 0 {
			delete(p.taken, client)
		}
	}), true
}
