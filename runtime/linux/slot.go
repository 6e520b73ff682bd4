//go:build linux

package linux

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// An agent that is root gives each sandbox a user number that nothing else on
// the machine uses, for as long as the sandbox lives.
const (
	// firstUID lies above what distributions and container managers hand out
	// (systemd: 61184 to 65519, 524288 to 1879048191).
	firstUID = 1_900_000_000
	// MaxSlots is how many sandboxes a machine can have at a time under an
	// agent, or agents, that are root.
	MaxSlots = 1024

	// slotDir holds a lock for each number, so that several agents do not use
	// the same one. The kernel gives a lock up when its holder dies.
	slotDir = "/run/ostraka/sandbox-users"

	// sandboxUID is what a sandbox's user is called inside.
	sandboxUID = 1000
)

// errSlots says that there are too many sandboxes.
var errSlots = fmt.Errorf("%d sandboxes run on this machine, more are not possible", MaxSlots)

// slot is a user number that is held.
type slot struct {
	uid  int
	lock *os.File
}

// takeSlot finds a number that is free.
func takeSlot() (*slot, error) {
	first, err := firstFreeUID()
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(slotDir, 0o700); err != nil {
		return nil, fmt.Errorf("taking a user number for a sandbox: %w", err)
	}
	for n := range MaxSlots {
		f, err := os.OpenFile(filepath.Join(slotDir, strconv.Itoa(n)), os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
		if err != nil {
			return nil, fmt.Errorf("taking a user number for a sandbox: %w", err)
		}
		err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err == nil {
			return &slot{uid: first + n, lock: f}, nil
		}
		f.Close()
		if !errors.Is(err, unix.EWOULDBLOCK) {
			return nil, fmt.Errorf("taking a user number for a sandbox: %w", err)
		}
	}
	return nil, errSlots
}

// release gives the number back; the lock's file stays for the next.
func (s *slot) release() {
	if s != nil {
		s.lock.Close()
	}
}

// firstFreeUID is firstUID, or in a container that does not have that number
// one near the end of those that it has.
func firstFreeUID() (int, error) {
	text, err := os.ReadFile("/proc/self/uid_map")
	if err != nil {
		return 0, fmt.Errorf("looking for user numbers: %w", err)
	}
	return slotsIn(string(text))
}

// slotsIn reads a map of user numbers: first inside, first outside, how many.
func slotsIn(uidMap string) (int, error) {
	best := -1
	for line := range strings.Lines(uidMap) {
		var inside, outside, count int
		if _, err := fmt.Sscan(line, &inside, &outside, &count); err != nil {
			return 0, fmt.Errorf("reading the map of user numbers: %w", err)
		}
		switch {
		case inside <= firstUID && firstUID+MaxSlots <= inside+count:
			return firstUID, nil
		case count >= 2*MaxSlots && inside+count < 1<<31:
			best = inside + count - MaxSlots - 16 // the last few are nobody and his friends
		}
	}
	if best < 0 {
		return 0, errors.New("this user namespace has no numbers to spare for sandboxes: run the agent as an ordinary user")
	}
	return best, nil
}
