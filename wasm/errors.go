package wasm

import (
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"
)

// Class says what kind of failure an Error is. Classes are stable: clients and
// the database switch on them.
type Class string

// The classes. Deadline and host are operational: the batch may be tried again
// and nothing is held against the module. The others are the module's own.
const (
	ClassRejected     Class = "rejected"      // the pre-check or the compiler refused the bytes
	ClassCompileLimit Class = "compile_limit" // compiling took too much time or memory
	ClassExit         Class = "exit"          // the module ended with a code other than 0
	ClassTrap         Class = "trap"          // the module's code failed: unreachable, out of bounds, stack overflow
	ClassMemoryLimit  Class = "memory_limit"  // the module failed after it was refused memory
	ClassFuel         Class = "fuel"          // the module used more units than a batch may
	ClassOutputLimit  Class = "output_limit"  // too many bytes of stdout, or a line too long
	ClassBadOutput    Class = "bad_output"    // stdout is not what the contract asks for
	// The same batch gave two answers, or the answer depended on how pages were cut.
	ClassNondeterministic Class = "nondeterministic"
	ClassDeadline         Class = "deadline" // the batch took too long by the wall clock
	ClassHost             Class = "host"     // something failed on our side, or the caller cancelled
)

// Exit codes that the contract gives a meaning. 1 and 2 have none: languages
// use them for their own panics.
const (
	ExitUnsupported = 64 // the module does not know this kind or phase
	ExitBadInput    = 65 // the module does not understand a record or its parameters
	ExitTemporary   = 75 // try again
)

// Error is a failed check or run of a module, with all that its owner needs to
// find the cause. Texts in it come from the module and are cleaned of control
// characters.
type Error struct {
	Class    Class    `json:"class"`
	Rule     string   `json:"rule,omitempty"` // of the pre-check, if that refused
	Message  string   `json:"message"`        // what happened, one line
	Hint     string   `json:"hint,omitempty"` // what to do next
	Digest   string   `json:"digest,omitempty"`
	ExitCode uint32   `json:"exit_code,omitempty"`
	Trap     string   `json:"trap,omitempty"`
	Frames   []string `json:"frames,omitempty"` // of the trap, innermost first
	Stderr   string   `json:"stderr,omitempty"` // the tail
	// Header is the batch's first line: with the records it repeats the run.
	Header   string        `json:"header,omitempty"`
	InLines  int64         `json:"in_lines"` // records that were sent, the header not counted
	OutLines int64         `json:"out_lines"`
	Memory   int64         `json:"memory"` // bytes at the end
	Fuel     int64         `json:"fuel"`   // units that were used
	Wall     time.Duration `json:"wall_ns"`
	Err      error         `json:"-"` // the cause, where there is one
}

// Error describes the failure in one line.
func (e *Error) Error() string {
	text := fmt.Sprintf("module %s: %s: %s", short(e.Digest), e.Class, e.Message)
	if e.Hint != "" {
		text += " (" + e.Hint + ")"
	}
	return text
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Operational tells whether the batch may be tried again: the failure was not
// the module's, or the module asked for another try.
func (e *Error) Operational() bool {
	switch e.Class {
	case ClassHost, ClassDeadline:
		return true
	case ClassExit:
		return e.ExitCode == ExitTemporary
	default:
		return false
	}
}

// RuleMeter is the rule of an Error whose module passed the pre-check and could
// not be metered.
const RuleMeter = "meter"

// ErrClosed is wrapped by what a closed Pool returns.
var ErrClosed = errors.New("the pool of wasm runners is closed")

// short shows enough of a digest to recognise a module.
func short(digest string) string {
	const shown = 12
	if len(digest) > shown {
		return digest[:shown]
	}
	return digest
}

// clean makes text from a module safe for terminals, logs and JSON: valid
// UTF-8, no control characters but line ends and tabs.
func clean(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' || unicode.IsPrint(r) {
			return r
		}
		return -1
	}, strings.ToValidUTF8(text, "\uFFFD"))
}
