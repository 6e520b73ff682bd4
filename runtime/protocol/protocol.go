// Package protocol numbers the protocol of agents and servers, so that two that do not understand each other say so at once
// instead of failing later.
//
// The number grows when one side must know the other's version to serve it: a new field is no reason. Both send their number in
// a header of every message; a message without one has number 1.
package protocol

import (
	"fmt"
	"strconv"
)

// Header carries the number, in requests of agents and in all answers of servers.
const Header = "Ostraka-Protocol"

const (
	// Current is what this program speaks.
	Current = 1
	// Oldest is the oldest that it understands.
	Oldest = 1
)

// Code is the code of the problem that says that the two do not understand each other.
const Code = "protocol_unsupported"

// Range is what one side understands.
type Range struct{ Oldest, Current int }

// Ours is what this program understands.
func Ours() Range { return Range{Oldest, Current} }

// Mismatch says that the other side speaks what we do not understand.
type Mismatch struct {
	Theirs string
	Ours   Range
	Newer  bool // theirs is newer than ours
}

// Error implements error.
func (m *Mismatch) Error() string {
	if m.Ours.Oldest == m.Ours.Current {
		return fmt.Sprintf("the other side speaks protocol %q, this one %d", m.Theirs, m.Ours.Current)
	}
	return fmt.Sprintf("the other side speaks protocol %q, this one %d to %d", m.Theirs, m.Ours.Oldest, m.Ours.Current)
}

// Check says whether a server understands an agent that says this of itself.
func (r Range) Check(header string) error {
	theirs, err := number(header)
	if err != nil || theirs < r.Oldest || theirs > r.Current {
		return &Mismatch{Theirs: header, Ours: r, Newer: err == nil && theirs > r.Current}
	}
	return nil
}

// CheckServer says whether an agent can talk to a server that says this of itself. A newer server knows by itself which agents it
// still understands.
func (r Range) CheckServer(header string) error {
	theirs, err := number(header)
	if err != nil || theirs < r.Oldest {
		return &Mismatch{Theirs: header, Ours: r}
	}
	return nil
}

// number reads the header; without one it is the first.
func number(header string) (int, error) {
	if header == "" {
		return 1, nil
	}
	n, err := strconv.ParseUint(header, 10, 16)
	if err != nil {
		return 0, fmt.Errorf("the protocol %q is no number: %w", header, err)
	}
	return int(n), nil
}
