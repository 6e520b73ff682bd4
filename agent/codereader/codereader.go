// Package codereader has the built-in heuristic code-risk read a function before an agent runs it, in a process that can be killed. Its
// findings are remembered by the bundle's digest.
package codereader

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/ostraka/ostraka/guardian"
	"github.com/ostraka/ostraka/runtime/bundle"
)

const (
	// maxKnown is of how many bundles an agent remembers what was found in them; beyond it, it forgets all and reads again.
	maxKnown = 64
	// maxTime is how long reading one bundle may take: others that are new wait for as long.
	maxTime = 2 * time.Minute
	// failureStays is how long it is remembered that a bundle could not be read where the bundle may not be to blame: a process that did not
	// start, a full disk, a machine without memory or time. It is long enough that its leases do not make others wait again and again, and
	// short enough that a machine which has recovered works soon. A fault of the bundle itself is never forgotten by time.
	failureStays = 10 * time.Minute
)

// fault is an error of the bundle itself: reading it again finds the same.
type fault struct{ error }

// Unwrap is what is wrong with it.
func (f fault) Unwrap() error { return f.error }

// Reading is what was found in a function.
type Reading struct {
	Findings []guardian.Finding
	Whole    bool // all of its code was read
}

// result is what is known of a bundle.
type result struct {
	Reading
	err   error
	until time.Time // of an error; zero: it stays
}

// holds says whether it is still as good as a new reading.
func (r result) holds(now time.Time) bool {
	return r.err == nil || r.until.IsZero() || now.Before(r.until)
}

// Reader reads functions, one at a time. It may be used by several goroutines at once: a call for a known one does not wait.
type Reader struct {
	read    func(context.Context, *bundle.Bundle) (Reading, error)
	end     func()
	reading chan struct{} // holds a value while one is read

	mu    sync.Mutex
	known map[string]result
}

func newReader(read func(context.Context, *bundle.Bundle) (Reading, error), end func()) *Reader {
	return &Reader{read: read, end: end, reading: make(chan struct{}, 1), known: map[string]result{}}
}

// Read says what is found in a function.
func (r *Reader) Read(ctx context.Context, b *bundle.Bundle) (Reading, error) {
	if found, known := r.remembered(b.Digest); known {
		return found.Reading, found.err
	}
	select {
	case r.reading <- struct{}{}:
		defer func() { <-r.reading }()
	case <-ctx.Done():
		return Reading{}, context.Cause(ctx)
	}
	if found, known := r.remembered(b.Digest); known { // workers that hold the same function waited for one reading
		return found.Reading, found.err
	}
	bounded, cancel := context.WithTimeoutCause(ctx, maxTime, fmt.Errorf("it takes longer than %v to read", maxTime))
	defer cancel()
	found, err := r.read(bounded, b)
	if ctx.Err() != nil { // which says nothing about the bundle
		return Reading{}, context.Cause(ctx)
	}
	if err != nil && bounded.Err() != nil {
		err = context.Cause(bounded)
	}
	found.Findings = guardian.Trim(found.Findings)
	known := result{Reading: found, err: err}
	if of := (fault{}); !errors.As(err, &of) {
		known.until = time.Now().Add(failureStays)
	}
	r.remember(b.Digest, known)
	return found, err
}

func (r *Reader) remembered(digest string) (result, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	found, known := r.known[digest]
	return found, known && found.holds(time.Now())
}

func (r *Reader) remember(digest string, found result) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.known) >= maxKnown {
		clear(r.known)
	}
	r.known[digest] = found
}

// Close ends the process that reads, after the last reading.
func (r *Reader) Close() {
	r.reading <- struct{}{}
	defer func() { <-r.reading }()
	r.end()
}
