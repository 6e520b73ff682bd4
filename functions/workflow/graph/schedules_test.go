package graph

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// timed is a workflow that starts itself.
const timed = `name = "timed"
[parameters.from]
type = "integer"
default = "2^64"
[parameters.length]
type = "integer"
minimum = 1
[functions]
f = "f"
[[schedules]]
name = "nightly"
cron = "0 3 * * *"
time_zone = "Europe/Berlin"
jitter = "5m"
overlap = "queue"
catch_up = "one"
starts = 2027-01-01T00:00:00+01:00
parameters = { length = "10^3" }
[[steps]]
name = "one"
type = "map"
function = "f"
range = { from = "{from}", length = "{length}", size = 100 }
`

func TestSchedulesOfAFolder(t *testing.T) {
	d, err := Parse([]byte(timed))
	require.NoError(t, err)
	starts := time.Date(2026, 12, 31, 23, 0, 0, 0, time.UTC)
	require.Equal(t, []Schedule{{
		Name: "nightly", Cron: "0 3 * * *", TimeZone: "Europe/Berlin", Jitter: "5m", Overlap: "queue", CatchUp: "one", Starts: &starts,
		Parameters: map[string]json.RawMessage{"from": json.RawMessage(`"18446744073709551616"`), "length": json.RawMessage(`"1000"`)},
	}}, d.Schedules)
	again, err := Parse([]byte(strings.Replace(timed, `"10^3"`, "1000", 1)))
	require.NoError(t, err)
	require.True(t, SameSchedule(d.Schedules[0], again.Schedules[0]), "it says the same in other words")
	again.Schedules[0].Jitter = ""
	require.False(t, SameSchedule(d.Schedules[0], again.Schedules[0]))
}

func TestSchedulesOfAFolderThatAreRefused(t *testing.T) {
	for change, want := range map[[2]string]string{
		{`name = "nightly"`, `name = "Nightly"`}:                      "schedules[0].name: ",
		{`cron = "0 3 * * *"`, `cron = "0 3 31 2 *"`}:                 "schedules.nightly.cron: ",
		{`cron = "0 3 * * *"`, `every = "59s"`}:                       "schedules.nightly.every: ",
		{`cron = "0 3 * * *"`, `every = "often"`}:                     `schedules.nightly.every: "often" is no duration`,
		{`cron = "0 3 * * *"`, ``}:                                    "schedules.nightly.cron: exactly one of cron and every",
		{`"Europe/Berlin"`, `"Europe/Atlantis"`}:                      "schedules.nightly.time_zone: ",
		{`"queue"`, `"wait"`}:                                         `schedules.nightly.overlap: there is no "wait"`,
		{`"one"` + "\nstarts", `"some"` + "\nstarts"}:                 `schedules.nightly.catch_up: there is no "some"`,
		{`length = "10^3"`, `length = 0`}:                             "schedules.nightly.parameters.length: ",
		{`length = "10^3"`, `lengths = 1`}:                            `schedules.nightly.parameters: there is no parameter "lengths"`,
		{`length = "10^3"`, `length = [1]`}:                           "schedules.nightly.parameters.length: ",
		{`length = "10^3"`, ``}:                                       "schedules.nightly.parameters.length: the parameter has no default",
		{`length = "10^3"`, `length = "10^100"`}:                      "schedules.nightly.steps.one.range: ",
		{`jitter = "5m"`, `jitters = "5m"`}:                           "there is no key",
		{"[[steps]]", "[[schedules]]\nname = \"nightly\"\n[[steps]]"}: `there are two schedules "nightly"`,
	} {
		require.Contains(t, timed, change[0])
		_, err := Parse([]byte(strings.Replace(timed, change[0], change[1], 1)))
		require.ErrorContains(t, err, want, "%q", change)
		var wrong *Error
		require.ErrorAs(t, err, &wrong)
		require.NotEmpty(t, wrong.Hint)
	}
}

func TestHowManySchedulesAFolderHas(t *testing.T) {
	many := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "[[schedules]]\nname = \"s%d\"\nevery = \"1h\"\nparameters = { length = 1 }\n", i)
		}
		return strings.Replace(timed, "[[steps]]", b.String()+"[[steps]]", 1)
	}
	_, err := Parse([]byte(many(MaxSchedules - 1)))
	require.NoError(t, err)
	_, err = Parse([]byte(many(MaxSchedules)))
	require.ErrorContains(t, err, "there are 17 schedules, and the limit is 16")
}
