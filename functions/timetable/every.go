package timetable

import (
	"fmt"
	"time"
)

// byPause are times with the same pause between any two, whatever clocks show.
type byPause struct {
	anchor, pause int64 // in seconds
}

func readEvery(pause time.Duration, zone string, anchor time.Time) (byPause, error) {
	if pause < MinEvery || pause > MaxEvery || pause%time.Second != 0 {
		return byPause{}, &Error{Field: "every", Detail: fmt.Sprintf("%v is no pause", pause), Hint: fmt.Sprintf("choose whole seconds from %v to %v", MinEvery, MaxEvery)}
	}
	if zone != "" {
		return byPause{}, &Error{Field: "time_zone", Detail: "a pause is as long in every time zone", Hint: "leave it out, or give cron in the place of every"}
	}
	return byPause{anchor: anchor.Add(time.Second - 1).Unix(), pause: int64(pause / time.Second)}, nil
}

func (p byPause) next(after time.Time) (time.Time, bool) {
	at := p.anchor
	if passed := after.Unix() - p.anchor; passed >= 0 {
		at += (passed/p.pause + 1) * p.pause
	}
	return time.Unix(at, 0), true
}
