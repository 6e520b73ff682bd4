package host

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// clockTick is how many units of /proc a second has: Linux shows 100 to programs, whatever the kernel counts in.
const clockTick = 100

// ownTimes are the seconds that a process and everything below it have computed, what they have waited for included.
func ownTimes(_ context.Context, root int) (map[int32]float64, error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, fmt.Errorf("listing processes: %w", err)
	}
	parents, seconds := map[int]int{}, map[int]float64{}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		text, err := os.ReadFile("/proc/" + e.Name() + "/stat")
		if err != nil {
			continue // it has ended
		}
		if parents[pid], seconds[pid], err = parseStat(string(text)); err != nil {
			return nil, fmt.Errorf("reading /proc/%d/stat: %w", pid, err)
		}
	}
	own := map[int32]float64{}
	for pid := range seconds {
		if below(parents, pid, root) {
			own[int32(pid)] = seconds[pid]
		}
	}
	return own, nil
}

// below says whether a process is root or descends from it.
func below(parents map[int]int, pid, root int) bool {
	for range len(parents) { // processes end while we read, so there may even be a circle
		if pid == root {
			return true
		}
		parent, known := parents[pid]
		if !known {
			return false
		}
		pid = parent
	}
	return false
}

// parseStat reads the parent and the times. The name in parentheses may hold anything, parentheses included.
func parseStat(text string) (parent int, seconds float64, err error) {
	end := strings.LastIndexByte(text, ')')
	if end < 0 {
		return 0, 0, errors.New("it has no name")
	}
	fields := strings.Fields(text[end+1:]) // the first is the state, number 3 in proc(5)
	if len(fields) < 15 {
		return 0, 0, errors.New("it is too short")
	}
	if parent, err = strconv.Atoi(fields[1]); err != nil {
		return 0, 0, err
	}
	for _, field := range fields[11:15] { // utime, stime, cutime, cstime
		ticks, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return 0, 0, err
		}
		seconds += float64(ticks) / clockTick
	}
	return parent, seconds, nil
}
