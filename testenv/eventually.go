package testenv

import (
	"fmt"
	"testing"
	"time"
)

const (
	// EventuallyLimit is how long Eventually waits before it gives the condition
	// up. It only bounds a failing test, so it is far above what any condition
	// takes on a slow, shared machine.
	EventuallyLimit = 60 * time.Second
	eventuallyPace  = 10 * time.Millisecond
)

// Eventually waits until the condition holds and fails the test, saying what
// was waited for, when it does not within EventuallyLimit. It is the only place
// in the tests that lets time pass; prefer waiting for an event.
func Eventually(t testing.TB, cond func() bool, what string, args ...any) {
	t.Helper()
	deadline := time.Now().Add(EventuallyLimit)
	for !cond() {
		if time.Now().After(deadline) {
			t.Fatalf("waited %v in vain until %s", EventuallyLimit, fmt.Sprintf(what, args...))
		}
		time.Sleep(eventuallyPace)
	}
}
