package timetable_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/ostraka/ostraka/functions/timetable"
)

var anchor = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

func table(t require.TestingT, spec timetable.Spec) *timetable.Timetable {
	made, err := timetable.New(spec, anchor, []byte("seed"))
	require.NoError(t, err)
	return made
}

func TestAYearOfClockChanges(t *testing.T) {
	for name, c := range map[string]struct {
		cron, zone, after string
		want              []string
	}{
		"Berlin jumps over 02:30":                    {"30 2 * * *", "Europe/Berlin", "2026-03-28T00:00:00Z", []string{"2026-03-28T01:30:00Z", "2026-03-29T01:00:00Z", "2026-03-30T00:30:00Z"}},
		"Berlin jumps over several, which come once": {"*/20 2 * * *", "Europe/Berlin", "2026-03-28T02:00:00Z", []string{"2026-03-29T01:00:00Z", "2026-03-30T00:00:00Z", "2026-03-30T00:20:00Z"}},
		"Berlin jumps over 02:30 and 03:00 is there": {"0,30 2,3 * * *", "Europe/Berlin", "2026-03-29T00:00:00Z", []string{"2026-03-29T01:00:00Z", "2026-03-29T01:30:00Z", "2026-03-30T00:00:00Z"}},
		"Berlin shows 02:30 twice":                   {"30 2 * * *", "Europe/Berlin", "2026-10-24T12:00:00Z", []string{"2026-10-25T00:30:00Z", "2026-10-26T01:30:00Z"}},
		"Berlin shows 02:30 once more":               {"30 2 * * *", "Europe/Berlin", "2026-10-25T01:10:00Z", []string{"2026-10-26T01:30:00Z"}},
		"Berlin every half hour, in autumn":          {"*/30 * * * *", "Europe/Berlin", "2026-10-25T00:00:00Z", []string{"2026-10-25T00:30:00Z", "2026-10-25T02:00:00Z", "2026-10-25T02:30:00Z"}},
		"New York jumps over 02:15":                  {"15 2 * * *", "America/New_York", "2026-03-07T12:00:00Z", []string{"2026-03-08T07:00:00Z", "2026-03-09T06:15:00Z"}},
		"New York shows 01:15 twice":                 {"15 1 * * *", "America/New_York", "2026-10-31T12:00:00Z", []string{"2026-11-01T05:15:00Z", "2026-11-02T06:15:00Z"}},
		"Lord Howe jumps half an hour":               {"15 2 * * *", "Australia/Lord_Howe", "2026-10-03T00:00:00Z", []string{"2026-10-03T15:30:00Z", "2026-10-04T15:15:00Z"}},
		"Lord Howe shows half an hour twice":         {"45 1 * * *", "Australia/Lord_Howe", "2026-04-04T00:00:00Z", []string{"2026-04-04T14:45:00Z", "2026-04-05T15:15:00Z"}},
		"Samoa leaves out a day":                     {"0 12 30 12 *", "Pacific/Apia", "2011-12-01T00:00:00Z", []string{"2011-12-30T10:00:00Z", "2012-12-29T22:00:00Z"}},
		"no year without leap days":                  {"0 0 29 2 *", "", "2097-01-01T00:00:00Z", []string{"2104-02-29T00:00:00Z"}},
		"either of both days":                        {"0 0 13 * 5", "UTC", "2026-02-01T00:00:00Z", []string{"2026-02-06T00:00:00Z", "2026-02-13T00:00:00Z", "2026-02-20T00:00:00Z"}},
	} {
		after, err := time.Parse(time.RFC3339, c.after)
		require.NoError(t, err)
		var got []string
		for _, at := range table(t, timetable.Spec{Cron: c.cron, Zone: c.zone}).Upcoming(after, len(c.want)) {
			got = append(got, at.Format(time.RFC3339))
		}
		require.Equal(t, c.want, got, name)
	}
}

func TestWhatIsNoTimetable(t *testing.T) {
	long := make([]byte, timetable.MaxCron-9)
	for i := range long {
		long[i] = ' '
	}
	for name, c := range map[string]struct {
		spec  timetable.Spec
		field string
	}{
		"nothing":               {timetable.Spec{}, "cron"},
		"both":                  {timetable.Spec{Cron: "* * * * *", Every: time.Hour}, "cron"},
		"four fields":           {timetable.Spec{Cron: "* * * *"}, "cron"},
		"six fields":            {timetable.Spec{Cron: "* * * * * *"}, "cron"},
		"a word":                {timetable.Spec{Cron: "@daily"}, "cron"},
		"a zone inside":         {timetable.Spec{Cron: "TZ=UTC * * * * *"}, "cron"},
		"a zone that ends":      {timetable.Spec{Cron: "TZ=UTC"}, "cron"},
		"minute 60":             {timetable.Spec{Cron: "60 * * * *"}, "cron"},
		"no step":               {timetable.Spec{Cron: "*/0 * * * *"}, "cron"},
		"never":                 {timetable.Spec{Cron: "0 0 31 2 *"}, "cron"},
		"too long":              {timetable.Spec{Cron: "* * * * *" + string(long) + " "}, "cron"},
		"no such zone":          {timetable.Spec{Cron: "* * * * *", Zone: "Europe/Atlantis"}, "time_zone"},
		"the server's zone":     {timetable.Spec{Cron: "* * * * *", Zone: "Local"}, "time_zone"},
		"a path":                {timetable.Spec{Cron: "* * * * *", Zone: "../../etc/passwd"}, "time_zone"},
		"a long zone":           {timetable.Spec{Cron: "* * * * *", Zone: string(make([]byte, timetable.MaxZone+1))}, "time_zone"},
		"a zone for a pause":    {timetable.Spec{Every: time.Hour, Zone: "UTC"}, "time_zone"},
		"too often":             {timetable.Spec{Every: timetable.MinEvery - time.Second}, "every"},
		"too seldom":            {timetable.Spec{Every: timetable.MaxEvery + time.Second}, "every"},
		"half a second":         {timetable.Spec{Every: time.Hour + time.Second/2}, "every"},
		"less than no pause":    {timetable.Spec{Every: -time.Hour}, "every"},
		"too much jitter":       {timetable.Spec{Every: time.Hour, Jitter: timetable.MaxJitter + time.Second}, "jitter"},
		"less than none":        {timetable.Spec{Every: time.Hour, Jitter: -time.Second}, "jitter"},
		"jitter in small parts": {timetable.Spec{Every: time.Hour, Jitter: time.Millisecond}, "jitter"},
		"ends first":            {timetable.Spec{Every: time.Hour, Starts: anchor, Ends: anchor.Add(-1)}, "ends"},
	} {
		_, err := timetable.New(c.spec, anchor, nil)
		var wrong *timetable.Error
		require.ErrorAs(t, err, &wrong, name)
		require.Equal(t, c.field, wrong.Field, name)
		require.NotEmpty(t, wrong.Hint, name)
	}
	for name, spec := range map[string]timetable.Spec{
		"as long as may be":   {Cron: "* * * * *" + string(long)},
		"as often as may be":  {Every: timetable.MinEvery},
		"as seldom as may be": {Every: timetable.MaxEvery},
		"all the jitter":      {Every: time.Hour, Jitter: timetable.MaxJitter},
		"one moment":          {Every: time.Hour, Starts: anchor, Ends: anchor},
	} {
		_, err := timetable.New(spec, anchor, nil)
		require.NoError(t, err, name)
	}
}

func TestStartsAndEnds(t *testing.T) {
	starts := anchor.Add(90 * time.Minute)
	list := table(t, timetable.Spec{Every: time.Hour, Starts: starts, Ends: starts.Add(2 * time.Hour)}).Upcoming(anchor, 10)
	require.Equal(t, []time.Time{starts, starts.Add(time.Hour), starts.Add(2 * time.Hour)}, list, "a pause begins where it starts, and both ends count")
	list = table(t, timetable.Spec{Cron: "0 * * * *", Starts: starts, Ends: starts.Add(time.Hour)}).Upcoming(anchor, 10)
	require.Equal(t, []time.Time{anchor.Add(2 * time.Hour)}, list)
	require.Equal(t, []time.Time{anchor, anchor.Add(time.Hour)}, table(t, timetable.Spec{Every: time.Hour}).Upcoming(anchor.AddDate(-400, 0, 0), 2))
}

func TestTurns(t *testing.T) {
	at := func(hours float64) time.Time { return anchor.Add(time.Duration(hours * float64(time.Hour))) }
	late := timetable.MaxLate.Hours()
	for name, c := range map[string]struct {
		now  float64
		way  timetable.CatchUp
		want timetable.Turn
	}{
		"nothing is due":                {0.9, timetable.CatchUpAll, timetable.Turn{Next: at(1)}},
		"one is due":                    {1, timetable.CatchUpNone, timetable.Turn{At: at(1), Next: at(2)}},
		"one is as late as may be":      {1 + late, timetable.CatchUpNone, timetable.Turn{At: at(1), Next: at(2)}},
		"one is later than that":        {1 + late + 0.001, timetable.CatchUpNone, timetable.Turn{MissedFrom: at(1), MissedUntil: at(1), Next: at(2)}},
		"one is made up for":            {1.9, timetable.CatchUpOne, timetable.Turn{At: at(1), Next: at(2)}},
		"three were missed":             {3.5, timetable.CatchUpNone, timetable.Turn{MissedFrom: at(1), MissedUntil: at(3), Next: at(4)}},
		"two were missed, one is there": {3, timetable.CatchUpNone, timetable.Turn{At: at(3), MissedFrom: at(1), MissedUntil: at(2), Next: at(4)}},
		"one for three":                 {3.5, timetable.CatchUpOne, timetable.Turn{At: at(3), MissedFrom: at(1), MissedUntil: at(2), Next: at(4)}},
		"all of three":                  {3.5, timetable.CatchUpAll, timetable.Turn{At: at(1), Next: at(2)}},
		"all that may be":               {timetable.MaxCatchUp, timetable.CatchUpAll, timetable.Turn{At: at(1), Next: at(2)}},
		"one more than that":            {timetable.MaxCatchUp + 1, timetable.CatchUpAll, timetable.Turn{At: at(2), MissedFrom: at(1), MissedUntil: at(1), Next: at(3)}},
		"a year":                        {24 * 365, timetable.CatchUpOne, timetable.Turn{At: at(24 * 365), MissedFrom: at(1), MissedUntil: at(24*365 - 1), Next: at(24*365 + 1)}},
	} {
		require.Equal(t, c.want, table(t, timetable.Spec{Every: time.Hour}).Turn(at(1), at(c.now), c.way), name)
	}
	ended := table(t, timetable.Spec{Every: time.Hour, Ends: at(2)})
	require.Equal(t, timetable.Turn{At: at(2), MissedFrom: at(1), MissedUntil: at(1)}, ended.Turn(at(1), at(5), timetable.CatchUpOne), "none comes after the last")
	require.Equal(t, timetable.Turn{At: at(1), Next: at(2)}, ended.Only(at(1)))
}

// draw is any timetable.
func draw(t *rapid.T) *timetable.Timetable {
	spec := timetable.Spec{Jitter: time.Duration(rapid.IntRange(0, 3600).Draw(t, "jitter")) * time.Second}
	if rapid.Bool().Draw(t, "pause") {
		spec.Every = time.Duration(rapid.IntRange(60, 100_000).Draw(t, "every")) * time.Second
	} else {
		spec.Cron = rapid.SampledFrom([]string{"* * * * *", "*/7 1-4 * * *", "30 2 * * *", "0 0 29 2 *", "0 3 * * 0", "15,45 */2 1 * *"}).Draw(t, "cron")
		spec.Zone = rapid.SampledFrom([]string{"", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Pacific/Apia", "Africa/Casablanca"}).Draw(t, "zone")
	}
	return table(t, spec)
}

func moment(t *rapid.T, name string) time.Time {
	return time.Unix(rapid.Int64Range(anchor.Unix(), anchor.Unix()+20*366*24*3600).Draw(t, name), 0)
}

// TestTimesCount: times only grow, none lies between one and the next, and each is late by less than the pause to the next.
func TestTimesCount(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		times, after := draw(t), moment(t, "after")
		list := times.Upcoming(after, 20)
		require.Len(t, list, 20)
		for i, at := range list {
			require.True(t, at.After(after))
			require.Zero(t, at.Nanosecond())
			between := after.Add(time.Duration(rapid.Int64Range(0, int64(at.Sub(after)-1)).Draw(t, "between")))
			next, _ := times.Next(between)
			require.Equal(t, at, next, "the same is next from wherever it is asked")
			if i > 0 {
				require.True(t, times.Due(after).Before(at), "a time is served before the next one comes")
			}
			after = at
		}
	})
}

// TestNoTimeIsLost follows a timetable through moments at which somebody looks: each time is served or missed, once, in its order.
func TestNoTimeIsLost(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		times, now := draw(t), moment(t, "begins")
		way := rapid.SampledFrom([]timetable.CatchUp{timetable.CatchUpNone, timetable.CatchUpOne, timetable.CatchUpAll}).Draw(t, "way")
		from, _ := times.Next(now)
		for range 30 {
			now = now.Add(time.Duration(rapid.Int64Range(1, 3*24*3600).Draw(t, "passes")) * time.Second)
			turn := times.Turn(from, now, way)
			if turn.At.IsZero() && turn.MissedFrom.IsZero() {
				require.Equal(t, from, turn.Next)
				require.True(t, times.Due(from).After(now), "what is due is not left")
				continue
			}
			newest := from // that something was done about
			if !turn.MissedFrom.IsZero() {
				require.Equal(t, from, turn.MissedFrom)
				require.False(t, turn.MissedUntil.Before(from))
				newest = turn.MissedUntil
			}
			if !turn.At.IsZero() {
				require.False(t, times.Due(turn.At).After(now), "nothing is served before it is due")
				if !turn.MissedFrom.IsZero() {
					following, _ := times.Next(turn.MissedUntil)
					require.Equal(t, turn.At, following)
				} else {
					require.Equal(t, from, turn.At)
				}
				newest = turn.At
			}
			following, _ := times.Next(newest)
			require.Equal(t, following, turn.Next)
			from = turn.Next
		}
	})
}

// TestJitterDiffers between timetables of another seed, and between times.
func TestJitterDiffers(t *testing.T) {
	spec := timetable.Spec{Every: 2 * time.Hour, Jitter: time.Hour}
	a, b := table(t, spec), func() *timetable.Timetable { other, _ := timetable.New(spec, anchor, []byte("other")); return other }()
	same, delays := 0, map[time.Duration]bool{}
	for _, at := range a.Upcoming(anchor, 100) {
		require.Less(t, a.Delay(at), time.Hour)
		require.GreaterOrEqual(t, a.Delay(at), time.Duration(0))
		delays[a.Delay(at)] = true
		if a.Delay(at) == b.Delay(at) {
			same++
		}
	}
	require.Less(t, same, 10)
	require.Greater(t, len(delays), 80)
}

func FuzzCron(f *testing.F) {
	for _, text := range []string{"0 3 * * *", "*/15 1-5 1,15 jan-mar mon-fri", "0 0 29 2 *", "TZ=", "@every 1s", "? ? ? ? ?", "1-0 * * * *", "*/99999999999 * * * *"} {
		f.Add(text, "Europe/Berlin")
	}
	f.Fuzz(func(t *testing.T, text, zone string) {
		times, err := timetable.New(timetable.Spec{Cron: text, Zone: zone}, anchor, nil)
		if err != nil {
			return
		}
		if at, found := times.Next(anchor); found {
			require.True(t, at.After(anchor))
		}
	})
}
