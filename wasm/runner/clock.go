package runner

import "time"

// clockStep is how far the clock moves whenever the guest looks at it, so that
// a guest which waits by looking does not wait forever.
const clockStep = time.Millisecond

// clock is the guest's time: it starts where the header says, moves when the
// guest looks or sleeps, and knows nothing of real time. The same batch sees
// the same times on every machine.
type clock struct {
	base    time.Time
	elapsed time.Duration
}

func (c *clock) wall() (sec int64, nsec int32) {
	c.elapsed += clockStep
	now := c.base.Add(c.elapsed)
	return now.Unix(), int32(now.Nanosecond())
}

func (c *clock) nano() int64 {
	c.elapsed += clockStep
	return int64(c.elapsed)
}

// sleep moves the clock and returns at once.
func (c *clock) sleep(ns int64) {
	if ns > 0 && c.elapsed <= maxElapsed-time.Duration(ns) {
		c.elapsed += time.Duration(ns)
	}
}

// maxElapsed keeps the clock from running over: a guest may ask to sleep for
// centuries as often as it likes.
const maxElapsed = 100 * 365 * 24 * time.Hour
