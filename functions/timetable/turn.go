package timetable

import (
	"crypto/sha256"
	"encoding/binary"
	"time"
)

// CatchUp says what becomes of times that were missed: while no server worked, or while something else kept them waiting.
type CatchUp string

// The ways to catch up.
const (
	CatchUpNone CatchUp = "none" // they are passed over
	CatchUpOne  CatchUp = "one"  // the newest stands for all of them
	CatchUpAll  CatchUp = "all"  // each comes, the oldest first; of more than MaxCatchUp the newest
)

// Turn is what becomes of the times that have come.
type Turn struct {
	// At is the time that is served; zero: none is.
	At time.Time
	// MissedFrom and MissedUntil are the first and the last of the times that are passed over; zero: none is.
	MissedFrom, MissedUntil time.Time
	// Next is the time that comes then; zero: there is none.
	Next time.Time
}

// Delay is by how much a time is late on purpose: always the same for the same time and seed, less than the jitter, and so little that the
// next time is not there yet.
func (t *Timetable) Delay(at time.Time) time.Duration {
	most := t.spec.Jitter
	if next, found := t.Next(at); found {
		most = min(most, next.Sub(at))
	}
	if most < time.Second {
		return 0
	}
	text := binary.BigEndian.AppendUint64(t.seed[:len(t.seed):len(t.seed)], uint64(at.Unix()))
	sum := sha256.Sum256(text)
	return time.Duration(binary.BigEndian.Uint64(sum[:8])%uint64(most/time.Second)) * time.Second
}

// Due is when a time is served at the earliest.
func (t *Timetable) Due(at time.Time) time.Time { return at.Add(t.Delay(at)) }

// Turn says what is to be done now. from is the first time that nothing was done about.
func (t *Timetable) Turn(from, now time.Time, c CatchUp) Turn {
	newest, found := t.newestDue(from, now)
	if !found {
		return Turn{Next: from}
	}
	at := newest
	for n := 1; c == CatchUpAll && n < MaxCatchUp; n++ {
		before, found := t.last(from, at.Add(-time.Second))
		if !found {
			break
		}
		at = before
	}
	if c == CatchUpNone && now.Sub(t.Due(newest)) > MaxLate {
		return Turn{MissedFrom: from, MissedUntil: newest, Next: t.following(newest)}
	}
	turn := Turn{At: at, Next: t.following(at)}
	if missed, found := t.last(from, at.Add(-time.Second)); found {
		turn.MissedFrom, turn.MissedUntil = from, missed
	}
	return turn
}

// Only is the turn of a time that has waited for long enough.
func (t *Timetable) Only(at time.Time) Turn { return Turn{At: at, Next: t.following(at)} }

// newestDue is the newest time that is due, jitter included.
func (t *Timetable) newestDue(from, now time.Time) (time.Time, bool) {
	at, found := t.last(from, now)
	if found && t.Due(at).After(now) {
		return t.last(from, at.Add(-time.Second)) // which was due before this one came
	}
	return at, found
}

// following is Next with zero for none.
func (t *Timetable) following(at time.Time) time.Time {
	next, _ := t.Next(at)
	return next
}
