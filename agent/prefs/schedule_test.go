package prefs

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func schedule(t *testing.T, zone string, days []time.Weekday, hours ...string) Schedule {
	t.Helper()
	s := Schedule{Days: days}
	var err error
	s.Zone, err = time.LoadLocation(zone)
	require.NoError(t, err)
	for _, h := range hours {
		i, err := ParseInterval(h)
		require.NoError(t, err)
		require.Equal(t, h, i.String())
		s.Hours = append(s.Hours, i)
	}
	return s
}

func TestScheduleAcrossMidnight(t *testing.T) {
	// The nights that begin on a Friday: 2026-11-20 was one.
	s := schedule(t, "UTC", []time.Weekday{time.Friday}, "22:00-06:00")
	for at, want := range map[string]bool{
		"2026-11-20T21:59:59Z": false, "2026-11-20T22:00:00Z": true, "2026-11-20T23:59:59Z": true,
		"2026-11-21T00:00:00Z": true, "2026-11-21T05:59:59Z": true, "2026-11-21T06:00:00Z": false,
		"2026-11-21T22:00:00Z": false, "2026-11-20T05:00:00Z": false,
	} {
		require.Equal(t, want, s.Allows(instant(t, at)), at)
	}
	require.Equal(t, instant(t, "2026-11-27T22:00:00Z"), s.Opens(instant(t, "2026-11-21T06:00:30Z")))
}

func TestScheduleOfDays(t *testing.T) {
	s := schedule(t, "America/New_York", []time.Weekday{time.Saturday})
	require.False(t, s.Allows(instant(t, "2026-11-21T04:59:59Z")), "it is still Friday there")
	require.True(t, s.Allows(instant(t, "2026-11-21T05:00:00Z")))
	require.True(t, s.Allows(instant(t, "2026-11-22T04:59:00Z")))
	require.False(t, s.Allows(instant(t, "2026-11-22T05:00:00Z")))
	whole := schedule(t, "UTC", nil, "00:00-24:00")
	require.True(t, whole.Allows(instant(t, "2026-11-22T23:59:59Z")))
	require.True(t, (&Schedule{}).Always())
	require.True(t, (&Schedule{}).Allows(time.Now()))
}

// Summer time began in Berlin on 2026-03-29: after 01:59:59 came 03:00. It ended on 2026-10-25: after 02:59:59 came 02:00 again.
func TestScheduleWhenClocksChange(t *testing.T) {
	s := schedule(t, "Europe/Berlin", nil, "02:00-03:00")
	require.False(t, s.Allows(instant(t, "2026-03-29T00:59:00Z")), "01:59")
	require.False(t, s.Allows(instant(t, "2026-03-29T01:00:00Z")), "03:00: the hour was skipped")
	require.Equal(t, "2026-03-30T02:00:00+02:00", s.Opens(instant(t, "2026-03-28T12:00:00Z").Add(15*time.Hour)).Format(time.RFC3339))
	require.True(t, s.Allows(instant(t, "2026-10-25T00:30:00Z")), "02:30 for the first time")
	require.True(t, s.Allows(instant(t, "2026-10-25T01:30:00Z")), "02:30 for the second time")
	require.False(t, s.Allows(instant(t, "2026-10-25T02:00:00Z")), "03:00")
	night := schedule(t, "Europe/Berlin", nil, "22:00-06:00")
	require.True(t, night.Allows(instant(t, "2026-03-29T03:59:00Z")), "05:59 in summer time")
	require.False(t, night.Allows(instant(t, "2026-03-29T04:00:00Z")), "06:00")
}

func TestOpensIsTheFirstMoment(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		from := rapid.IntRange(0, minutesOfDay-1).Draw(t, "from")
		to := rapid.IntRange(1, minutesOfDay).Filter(func(n int) bool { return n != from }).Draw(t, "to")
		s := Schedule{Zone: time.UTC, Hours: []Interval{{from, to}}, Days: []time.Weekday{time.Weekday(rapid.IntRange(0, 6).Draw(t, "day"))}}
		at := time.Unix(rapid.Int64Range(1_700_000_000, 1_800_000_000).Draw(t, "at"), 0)
		if s.Allows(at) {
			return
		}
		opens := s.Opens(at)
		if !s.Allows(opens) || s.Allows(opens.Add(-time.Second)) || opens.Before(at) {
			t.Fatalf("%v after %v", opens, at)
		}
	})
}

func instant(t *testing.T, s string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339, s)
	require.NoError(t, err)
	return at
}
