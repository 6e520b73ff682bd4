package base

import (
	"errors"
	"time"

	"github.com/ostraka/ostraka/functions"
)

// sliceTime is how long a step that goes from page to page keeps its worker before it is the turn of others: it continues where it was.
const sliceTime = 5 * time.Second

// ErrTurnOver says that a step gives its worker back, and continues later where it was.
var ErrTurnOver = errors.New("it is the turn of others")

// Slice is a step's turn.
type Slice struct{ began time.Time }

// NewSlice begins a turn.
func NewSlice() Slice { return Slice{began: time.Now()} }

// Over is the error with which a step gives its worker back, once its turn is over.
func (s Slice) Over() error {
	if time.Since(s.began) < sliceTime {
		return nil
	}
	return &functions.Snooze{Err: ErrTurnOver}
}
