package functions

import (
	"fmt"
	"time"
)

// MaxLifetime is how long a key or a token may be asked to work, if it is not to work until it is revoked: a century.
const MaxLifetime = 36_525 * 24 * time.Hour

// Expiry is when a key or a token is to stop working, as it was asked for: at a time, or so many seconds after it is made. Nil asks for
// nothing.
type Expiry struct {
	At      time.Time `json:"expires_at,omitzero"`
	Seconds int64     `json:"expires_in_seconds,omitempty"`
}

// Check refuses what is no end, or one that has passed.
func (e *Expiry) Check(now time.Time) error {
	switch {
	case e == nil:
		return nil
	case !e.At.IsZero() && e.Seconds != 0:
		return Invalid("bad_expiry", "it is to end at a time, and after so many seconds", "give expires_at or expires_in_seconds")
	case e.At.IsZero() && (e.Seconds < 1 || e.Seconds > int64(MaxLifetime.Seconds())):
		return Invalid("bad_expiry", fmt.Sprintf("it is to work for %d seconds", e.Seconds), fmt.Sprintf("leave it out, or choose 1 to %d seconds", int64(MaxLifetime.Seconds())))
	case !e.At.IsZero() && !e.At.After(now):
		return Invalid("bad_expiry", "the expiry is in the past", "leave it out, or choose a time to come")
	}
	return nil
}

// From is the time when a key or token that is made now stops working; nil: it works until it is revoked.
func (e *Expiry) From(now time.Time) *time.Time {
	switch {
	case e == nil:
		return nil
	case e.At.IsZero():
		return new(now.Add(time.Duration(e.Seconds) * time.Second).UTC())
	}
	return new(e.At.UTC())
}

// Lifetime is for how many seconds what is made now works; 0: until it is revoked.
func (e *Expiry) Lifetime(now time.Time) int64 {
	switch {
	case e == nil:
		return 0
	case e.At.IsZero():
		return e.Seconds
	}
	return max(int64(e.At.Sub(now).Seconds()), 1)
}
