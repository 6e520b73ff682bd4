package timetable

import (
	"fmt"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
)

// longestSearch is for how many years cron looks for a time; the years between two 29th of February may be more.
const longestSearch = 5

// byClock are the times that a clock on the wall shows.
type byClock struct {
	times cron.Schedule // of a clock that never jumps: UTC
	zone  *time.Location
}

func readCron(text, zone string) (byClock, error) {
	var c byClock
	bad := func(detail string) (byClock, error) {
		return c, &Error{Field: "cron", Detail: detail, Hint: `write minute, hour, day of the month, month and day of the week: "0 3 * * *" is every day at three`}
	}
	if len(text) > MaxCron {
		return bad(fmt.Sprintf("it has %d bytes, and the limit is %d", len(text), MaxCron))
	}
	if strings.Contains(text, "=") { // the parser would take a zone from here
		return bad("a time zone does not stand in the expression: it has a field of its own")
	}
	var err error
	if c.zone, err = readZone(zone); err != nil {
		return c, err
	}
	parser := cron.NewParser(cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow)
	if c.times, err = parser.Parse(text); err != nil {
		return bad(err.Error())
	}
	// Which of the coming years are leap years makes no difference: within eight of them, or within the search, a time comes or never does.
	if _, found := c.next(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)); !found {
		return bad("it names a day that never comes")
	}
	return c, nil
}

func readZone(name string) (*time.Location, error) {
	bad := &Error{Field: "time_zone", Detail: fmt.Sprintf("there is no time zone %.64q", name), Hint: "write a name of the IANA database, such as Europe/Berlin; UTC when left out"}
	if len(name) > MaxZone || name == "Local" { // which is another one on each server
		return nil, bad
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		return nil, bad
	}
	return zone, nil
}

func (c byClock) next(after time.Time) (time.Time, bool) {
	for shown := c.following(clock(after, c.zone)); !shown.IsZero(); shown = c.following(shown) {
		// Not so where the clock shows a time twice.
		if at := moment(shown, c.zone); at.After(after) {
			return at, true
		}
	}
	return time.Time{}, false
}

// following is the next time of a clock that never jumps; zero: there is none.
func (c byClock) following(shown time.Time) time.Time {
	next := c.times.Next(shown)
	if next.IsZero() {
		next = c.times.Next(shown.AddDate(longestSearch, 0, 0))
	}
	return next
}

// clock is what a zone's clock shows at a moment, as if it were UTC.
func clock(at time.Time, zone *time.Location) time.Time {
	l := at.In(zone)
	return time.Date(l.Year(), l.Month(), l.Day(), l.Hour(), l.Minute(), l.Second(), l.Nanosecond(), time.UTC)
}

// moment is when a zone's clock shows a time first, or, where it jumps over it, when it has jumped.
func moment(shown time.Time, zone *time.Location) time.Time {
	at := time.Date(shown.Year(), shown.Month(), shown.Day(), shown.Hour(), shown.Minute(), shown.Second(), 0, zone)
	starts, ends := at.ZoneBounds()
	switch found := clock(at, zone); {
	case found.After(shown): // by what the clock was before it jumped
		return starts
	case found.Before(shown): // by what it is since
		return ends
	case starts.IsZero():
		return at
	}
	_, before := starts.Add(-time.Second).Zone()
	if first := shown.Add(-time.Duration(before) * time.Second); first.Before(starts) && clock(first, zone).Equal(shown) {
		return first
	}
	return at
}
