package timetable

import "time"

// The limits of a timetable.
const (
	// MaxCron is the longest cron expression, in bytes: one that lists every minute and every hour has fewer.
	MaxCron = 300
	// MinEvery is the shortest pause between two times. It is as short as cron's: what must happen more often is one job that continues.
	MinEvery = time.Minute
	// MaxEvery is the longest pause between two times: a year, and a day more for those who count a leap year.
	MaxEvery = 366 * 24 * time.Hour
	// MaxJitter is by how much a time may be late on purpose. It is the pause of the most usual timetable, once an hour.
	MaxJitter = time.Hour
	// MaxZone is the longest name of a time zone, in bytes: twice what the longest one has.
	MaxZone = 64
	// MaxCatchUp is how many missed times are made up for where all are wanted, the newest: what was away for a week is not to start a week's
	// jobs at once.
	MaxCatchUp = 10
	// MaxLate is how late a time may be and is not missed: a server that is replaced, or has much to do, is back by then.
	MaxLate = 2 * time.Minute
)
