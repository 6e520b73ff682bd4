package tree

import "context"

// flight is the work on one digest: only one call at a time compares, fetches and unpacks it.
type flight struct {
	landed chan struct{} // closed when it has ended, well or not
	bytes  int64         // what it unpacks will have; none before it is known. Guarded by Cache.mu.
}

// take gives a tree with one more user. The first provides it and the others wait, each for as long as its own context lasts. They do not
// share an error, as those of package singleflight would: the first may have failed with its own context or lease, so the next one tries.
func (c *Cache) take(ctx context.Context, digest string, fetch Fetch) (*held, error) {
	for {
		h, f, first := c.join(digest)
		switch {
		case h != nil:
			return h, nil
		case first:
			return c.fly(ctx, digest, fetch, f)
		}
		select {
		case <-f.landed:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// join gives a tree that is there, with one more user, or the flight of its digest, which the first to ask begins.
func (c *Cache) join(digest string) (h *held, f *flight, first bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if h = c.used[digest]; h != nil {
		h.users++
		return h, nil, false
	}
	if f = c.flights[digest]; f != nil {
		return nil, f, false
	}
	f = &flight{landed: make(chan struct{})}
	c.flights[digest] = f
	return nil, f, true
}

// fly provides a tree, with one user, and lets those that wait for it go on.
func (c *Cache) fly(ctx context.Context, digest string, fetch Fetch, f *flight) (h *held, err error) {
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if h != nil {
			h.users++
			c.used[digest] = h
		}
		delete(c.flights, digest)
		close(f.landed)
	}()
	return c.provide(ctx, digest, fetch, f)
}
