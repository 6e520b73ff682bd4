// Package timetable says when a repeated event is due: by a cron expression in a time zone, or by a pause. It also says which
// missed times are made up for. It is pure: no I/O, no clock, no randomness.
//
// A cron expression names times of a clock on the wall, and such clocks jump. A time that a clock jumps over comes once, when the clock has
// jumped; several that it jumps over come together, once. A time that a clock shows twice comes once, the first time.
package timetable

import (
	"fmt"
	"time"
	_ "time/tzdata" // the zones, for machines that have none: what is due when must not depend on the machine
)

// Spec is a timetable as people write it.
type Spec struct {
	Cron   string        // five fields; or
	Every  time.Duration // a pause
	Zone   string        // whose clock cron means, as IANA names it; "": UTC
	Jitter time.Duration // by how much each time may be late on purpose
	// Starts and Ends are the first and the last moment at which a time may be; zero: there is none.
	Starts, Ends time.Time
}

// Timetable is a Spec that makes sense.
type Timetable struct {
	spec  Spec
	seed  []byte
	times interface {
		// next is the first time after a moment, whatever Starts and Ends say. All times are whole seconds.
		next(after time.Time) (at time.Time, found bool)
	}
}

// Error says what is wrong with a Spec.
type Error struct {
	Field, Detail, Hint string
}

// Error implements error.
func (e *Error) Error() string { return e.Field + ": " + e.Detail }

// New checks a Spec. anchor is when the first time of Every would be, where Starts does not say; seed makes the jitter of one timetable differ
// from that of another.
func New(spec Spec, anchor time.Time, seed []byte) (*Timetable, error) {
	t := &Timetable{spec: spec, seed: seed}
	var err error
	switch {
	case (spec.Cron == "") == (spec.Every == 0):
		err = &Error{Field: "cron", Detail: "exactly one of cron and every is to be given", Hint: `write "cron": "0 3 * * *", or "every": "6h"`}
	case spec.Jitter < 0 || spec.Jitter > MaxJitter || spec.Jitter%time.Second != 0:
		err = &Error{Field: "jitter", Detail: fmt.Sprintf("%v is no jitter", spec.Jitter), Hint: fmt.Sprintf("choose whole seconds, %v at most", MaxJitter)}
	case !spec.Starts.IsZero() && !spec.Ends.IsZero() && spec.Ends.Before(spec.Starts):
		err = &Error{Field: "ends", Detail: "it ends before it starts", Hint: "choose a later moment, or leave it out"}
	case spec.Cron != "":
		t.times, err = readCron(spec.Cron, spec.Zone)
	default:
		if !spec.Starts.IsZero() {
			anchor = spec.Starts
		}
		t.times, err = readEvery(spec.Every, spec.Zone, anchor)
	}
	if err != nil {
		return nil, err
	}
	return t, nil
}

// Next is the first time after a moment.
func (t *Timetable) Next(after time.Time) (at time.Time, found bool) {
	if s := t.spec.Starts; after.Before(s) {
		after = s.Add(-1)
	}
	at, found = t.times.next(after)
	if !found || !t.spec.Ends.IsZero() && at.After(t.spec.Ends) {
		return time.Time{}, false
	}
	return at.UTC(), true
}

// Upcoming are the first n times after a moment.
func (t *Timetable) Upcoming(after time.Time, n int) (list []time.Time) {
	for range n {
		at, found := t.Next(after)
		if !found {
			break
		}
		list = append(list, at)
		after = at
	}
	return list
}

// last is the newest time of those from one moment until another, both included. from is a time itself, or later than none that counts.
func (t *Timetable) last(from, until time.Time) (at time.Time, found bool) {
	before, after := from.Unix()-1, until.Unix()
	at, found = t.Next(time.Unix(before, 0))
	if !found || at.After(until) {
		return time.Time{}, false
	}
	for after-before > 1 { // after the second before there is a time until then, after the second after there is none
		middle := before + (after-before)/2
		if next, found := t.Next(time.Unix(middle, 0)); found && !next.After(until) {
			before, at = middle, next
		} else {
			after = middle
		}
	}
	return at, true
}
