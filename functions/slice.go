package functions

import (
	"errors"
	"time"
)

// sliceTime is how long a step that goes from page to page keeps its worker before it is the turn of others: it goes on where it was.
const sliceTime = 5 * time.Second

// errTurnOver says that a step gives its worker back, and goes on later where it was.
var errTurnOver = errors.New("it is the turn of others")

// slice is a step's turn.
type slice struct{ began time.Time }

// newSlice begins a turn.
func newSlice() slice { return slice{began: time.Now()} }

// over is the error with which a step gives its worker back, once its turn is over.
func (s slice) over() error {
	if time.Since(s.began) < sliceTime {
		return nil
	}
	return &Snooze{Err: errTurnOver}
}
