package prefs

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

const minutesOfDay = 24 * 60

// Interval is a time of the day: minutes after midnight, from the first up to, not including, the second. One that ends before it
// begins goes on past midnight.
type Interval struct{ From, To int }

var intervalPattern = regexp.MustCompile(`^([0-9]{2}):([0-9]{2})-([0-9]{2}):([0-9]{2})$`)

// ParseInterval reads "22:00-06:00".
func ParseInterval(s string) (Interval, error) {
	m := intervalPattern.FindStringSubmatch(s)
	if m == nil {
		return Interval{}, fmt.Errorf(`%q is no time of the day: write it like "22:00-06:00"`, s)
	}
	from, okFrom := minute(m[1], m[2])
	to, okTo := minute(m[3], m[4])
	switch {
	case !okFrom || !okTo || from == minutesOfDay:
		return Interval{}, fmt.Errorf("%q: times go from 00:00 to 24:00", s)
	case from == to:
		return Interval{}, fmt.Errorf(`%q begins when it ends: write "00:00-24:00" for the whole day`, s)
	}
	return Interval{from, to}, nil
}

func minute(hours, minutes string) (int, bool) {
	h, _ := strconv.Atoi(hours) // two digits, by the pattern
	m, _ := strconv.Atoi(minutes)
	return h*60 + m, m < 60 && h*60+m <= minutesOfDay
}

// String writes the interval as ParseInterval reads it.
func (i Interval) String() string {
	return fmt.Sprintf("%02d:%02d-%02d:%02d", i.From/60, i.From%60, i.To/60, i.To%60)
}

// Schedule says when the agent may work, by the clock on the wall: an hour that summer time skips is skipped, one that it repeats
// counts twice.
type Schedule struct {
	Days  []time.Weekday // on which intervals begin; none: every day
	Hours []Interval     // none: the whole day
	Zone  *time.Location // nil: the machine's
}

// Always says whether there is no restriction.
func (s *Schedule) Always() bool { return len(s.Days) == 0 && len(s.Hours) == 0 }

// Allows says whether the agent may work at a time. What begins before midnight belongs to the day on which it began.
func (s *Schedule) Allows(at time.Time) bool {
	if s.Always() {
		return true
	}
	at = at.In(s.zone())
	now, today := at.Hour()*60+at.Minute(), at.Weekday()
	if len(s.Hours) == 0 {
		return s.on(today)
	}
	yesterday := (today + 6) % 7
	for _, i := range s.Hours {
		switch {
		case i.From < i.To:
			if now >= i.From && now < i.To && s.on(today) {
				return true
			}
		case now >= i.From && s.on(today), now < i.To && s.on(yesterday):
			return true
		}
	}
	return false
}

func (s *Schedule) on(day time.Weekday) bool {
	for _, d := range s.Days {
		if d == day {
			return true
		}
	}
	return len(s.Days) == 0
}

func (s *Schedule) zone() *time.Location {
	if s.Zone == nil {
		return time.Local
	}
	return s.Zone
}

// Opens is when the agent may work next after a time at which it may not. It is exact to the minute.
func (s *Schedule) Opens(after time.Time) time.Time {
	at := after.Truncate(time.Minute)
	for range 8 * minutesOfDay { // a week, and a day for clocks that are put back
		if at = at.Add(time.Minute); s.Allows(at) {
			return at.In(s.zone())
		}
	}
	return time.Time{} // cannot be: an interval has a minute at least, and some day has it
}

var dayNames = []string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}

func parseDay(s string) (time.Weekday, error) {
	for day, name := range dayNames {
		if s == name {
			return time.Weekday(day), nil
		}
	}
	return 0, fmt.Errorf("%q is no day: write some of %s", s, strings.Join(dayNames, ", "))
}
