package isolation

import (
	"errors"
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// Cores binds the agent, and with it everything that it starts from then on, to some of the processors that it was given.
type Cores struct {
	given *unix.CPUSet // before it was bound the first time
}

// Use binds to so many processors; 0: to all that were given.
func (c *Cores) Use(n int) error {
	if c.given == nil {
		if n == 0 {
			return nil
		}
		var set unix.CPUSet
		if err := unix.SchedGetaffinity(0, &set); err != nil {
			return fmt.Errorf("asking for the agent's processors: %w", err)
		}
		c.given = &set
	}
	set := firstOf(c.given, n)
	// A thread that was not bound yet may have started another meanwhile: look until none is new.
	for bound := map[int]bool{}; ; {
		threads, err := os.ReadDir("/proc/self/task")
		if err != nil {
			return fmt.Errorf("listing the agent's threads: %w", err)
		}
		before := len(bound)
		for _, t := range threads {
			id, err := strconv.Atoi(t.Name())
			if err != nil || bound[id] {
				continue
			}
			if err := unix.SchedSetaffinity(id, &set); err != nil && !errors.Is(err, unix.ESRCH) { // it has ended
				return fmt.Errorf("binding a thread to %d processors: %w", n, err)
			}
			bound[id] = true
		}
		if len(bound) == before {
			return nil
		}
	}
}

// firstOf is the first n of a set of processors; all of them for 0.
func firstOf(given *unix.CPUSet, n int) (some unix.CPUSet) {
	for cpu := 0; cpu < len(given)*64 && (n == 0 || some.Count() < n); cpu++ {
		if given.IsSet(cpu) {
			some.Set(cpu)
		}
	}
	return some
}
