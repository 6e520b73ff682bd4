package testenv

import (
	"fmt"
	"testing"
	"time"
)

const (
	// EventuallyLimit is how long Eventually waits before it gives the condition
	// up. It only bounds a failing test, so it is far above what any condition
	// takes on a slow machine that does other things at the same time.
	EventuallyLimit = 15 * time.Minute
	eventuallyPace  = 10 * time.Millisecond
)

// Eventually waits until the condition holds and fails the test, saying what
// was waited for, when it does not within EventuallyLimit; prefer waiting for
// an event.
func Eventually(t testing.TB, cond func() bool, what string, args ...any) {
	t.Helper()
	if !Holds(cond) {
		t.Fatalf("waited %v in vain until %s", EventuallyLimit, fmt.Sprintf(what, args...))
	}
}

// Holds waits until the condition holds, and says whether it did within
// EventuallyLimit. It is the only place in the tests that lets time pass.
func Holds(cond func() bool) bool {
	deadline := time.Now().Add(EventuallyLimit)
	for !cond() {
		if time.Now().After(deadline) {
			return false
		}
		time.Sleep(eventuallyPace)
	}
	return true
}
