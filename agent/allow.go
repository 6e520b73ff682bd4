package agent

import (
	"fmt"
	"time"

	"github.com/ostraka/ostraka/agent/host"
	"github.com/ostraka/ostraka/agent/prefs"
	"github.com/ostraka/ostraka/runtime/bundle"
)

// circumstances are what the owner's preferences are held against.
type circumstances struct {
	now     time.Time
	level   bundle.Isolation
	pause   *pauseNote // nil: not paused
	alarm   idle       // that the server shows another history of a log
	battery host.Battery
	busy    bool
	others  float64 // percent
	diskLow bool
	free    int64
}

// allow says why the owner lets the agent take no work now; the zero value when it may.
func allow(p *prefs.Preferences, c circumstances) idle {
	switch {
	case c.alarm.Code != "":
		return c.alarm
	case c.pause != nil:
		return idle{IdlePaused, c.pause.text()}
	case !c.level.AtLeast(p.Function.MinIsolation):
		return idle{IdleIsolation, fmt.Sprintf("this machine achieves isolation %q and its owner wants %q (min_isolation): ostraka agent doctor says what is missing", c.level, p.Function.MinIsolation)}
	case !p.Schedule.Allows(c.now):
		return idle{IdleHours, "outside the hours that the owner allows; they begin again on " + p.Schedule.Opens(c.now).Format("Monday 2006-01-02 at 15:04 MST")}
	case c.battery.On && !p.OnBattery:
		return idle{IdleBattery, "the machine runs on its battery (on_battery = false)"}
	case c.battery.On && c.battery.Percent <= float64(p.BatteryAbove):
		return idle{IdleBattery, fmt.Sprintf("the battery has %.0f %%; more than %d %% are wanted (battery_above)", c.battery.Percent, p.BatteryAbove)}
	case c.busy:
		return idle{IdleBusy, fmt.Sprintf("other programs need the processors; the agent goes on when they take less than %d %% for a while (busy_below)", p.BusyBelow)}
	case c.diskLow:
		return idle{IdleDisk, fmt.Sprintf("%s of the disk are free, and the owner keeps %s free (keep_free): make room, or lower it",
			bundle.FormatBytes(c.free), bundle.FormatBytes(p.KeepFreeBytes))}
	default:
		return idle{}
	}
}

// places is how many functions may run at a time. given is what the program was started with, 0 where it was not told.
func places(p *prefs.Preferences, given int) int {
	n := given
	switch {
	case n == 0 && p.Sandboxes == 0:
		n = 1
	case n == 0:
		n = p.Sandboxes
	case p.Sandboxes > 0:
		n = min(n, p.Sandboxes)
	}
	if p.Cores > 0 {
		n = min(n, p.Cores)
	}
	return n
}
