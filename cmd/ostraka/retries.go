package main

import (
	"context"
	"time"
)

const (
	// maxRetries is how often a request that may be sent again is, when a person waits for it: some seconds in all, as long as a
	// server takes to restart.
	maxRetries = 4
	firstRetry = 250 * time.Millisecond
)

// retries counts tries of something that may go away by itself.
type retries struct {
	left int
	wait time.Duration
}

func newRetries() *retries {
	r := &retries{}
	r.reset()
	return r
}

// reset is for when something went well in between.
func (r *retries) reset() { r.left, r.wait = maxRetries, firstRetry }

// again waits and says whether to try again.
func (r *retries) again(ctx context.Context) bool {
	if r.left == 0 {
		return false
	}
	r.left--
	t := time.NewTimer(r.wait)
	defer t.Stop()
	r.wait *= 2
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}
