package recheck

import "fmt"

// Class says why a batch could not be executed. None of them says anything of a shard or an agent.
type Class string

// The classes.
const (
	Unavailable Class = "unavailable" // there is no answer, or a refusal
	Slow        Class = "slow"        // no answer in time
	Full        Class = "full"        // no room: disk, memory, processes
	Image       Class = "image"       // the image is missing, or is not the one that was named
	Crashed     Class = "crashed"     // the sandbox ended in the middle of a batch
	Broken      Class = "broken"      // the walls could not be put up, or what answers makes no sense
)

// Error says why a batch could not be executed, and what an operator does about it.
type Error struct {
	Class Class
	Hint  string // what to do; empty: to wait
	Err   error
}

// Error implements error.
func (e *Error) Error() string {
	s := fmt.Sprintf("rechecks are delayed (%s): %v", e.Class, e.Err)
	if e.Hint != "" {
		s += ": " + e.Hint
	}
	return s
}

// Unwrap gives the reason.
func (e *Error) Unwrap() error { return e.Err }
