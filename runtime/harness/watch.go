//go:build linux

package harness

import (
	"bytes"
	"fmt"
	"os"
	"strconv"

	"github.com/ostraka/ostraka/runtime/bundle"
)

// mostPids is the highest number that Linux gives to processes (PID_MAX_LIMIT).
const mostPids = 1 << 22

// pidMax is the number after which this kernel's process numbers wrap. A sandbox cannot ask.
func pidMax() int {
	text, err := os.ReadFile("/proc/sys/kernel/pid_max")
	if err != nil {
		return mostPids
	}
	n, err := strconv.Atoi(string(bytes.TrimSpace(text)))
	if err != nil {
		return mostPids
	}
	return n
}

// proc is one process as /proc shows it.
type proc struct {
	pid, parent int
	rss         int64 // bytes
	ticks       int64 // processor time, that of collected children included
}

// ticksPerSecond is the unit of processor time in /proc, on every architecture.
const ticksPerSecond = 100

// processes reads the table of all processes. Those that vanish meanwhile are
// left out.
func processes() ([]proc, error) {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil, fmt.Errorf("listing processes: %w", err)
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, fmt.Errorf("listing processes: %w", err)
	}
	var out []proc
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		stat, err := os.ReadFile("/proc/" + name + "/stat")
		if err != nil {
			continue
		}
		if p, ok := parseStat(pid, stat); ok {
			out = append(out, p)
		}
	}
	return out, nil
}

// parseStat reads what follows the name in brackets; the name may hold anything.
func parseStat(pid int, stat []byte) (proc, bool) {
	const parent, firstTime, lastTime, resident = 1, 11, 14, 21
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) <= resident {
		return proc{}, false
	}
	p := proc{pid: pid}
	up, err := strconv.Atoi(string(fields[parent]))
	if err != nil {
		return proc{}, false
	}
	p.parent = up
	for _, field := range fields[firstTime : lastTime+1] {
		ticks, err := strconv.ParseInt(string(field), 10, 64)
		if err != nil {
			return proc{}, false
		}
		p.ticks += ticks
	}
	pages, err := strconv.ParseInt(string(fields[resident]), 10, 64)
	if err != nil {
		return proc{}, false
	}
	p.rss = pages * int64(os.Getpagesize())
	return p, true
}

// find learns which process the template is. In a namespace of its own it has
// another number there; the kernel tells both.
func (z *zygote) find(template int, namespaced bool) error {
	if !namespaced {
		z.template = template
		return nil
	}
	table, err := processes()
	if err != nil {
		return err
	}
	for _, p := range table {
		if p.parent == z.cmd.Process.Pid && innermost(p.pid) == template {
			z.template = p.pid
			return nil
		}
	}
	return nil // it has gone already: the next message says so
}

// innermost is the number of a process in the namespace that it lives in; 0
// when it cannot be learnt.
func innermost(pid int) int {
	status, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	if err != nil {
		return 0
	}
	_, rest, _ := bytes.Cut(status, []byte("\nNSpid:"))
	line, _, _ := bytes.Cut(rest, []byte("\n"))
	numbers := bytes.Fields(line)
	if len(numbers) == 0 {
		return 0
	}
	n, err := strconv.Atoi(string(numbers[len(numbers)-1]))
	if err != nil {
		return 0
	}
	return n
}

// usage is what the shard's processes hold together.
type usage struct {
	count int64
	rss   int64 // beyond what each shares with the template
	ticks int64
}

// below sums up the descendants of the zygote without the template.
func below(table []proc, zygote, template int) usage {
	children := map[int][]proc{}
	var shared int64
	for _, p := range table {
		children[p.parent] = append(children[p.parent], p)
		if p.pid == template {
			shared = p.rss
		}
	}
	var u usage
	todo := children[zygote]
	for len(todo) > 0 {
		p := todo[0]
		todo = append(todo[1:], children[p.pid]...)
		if p.pid != template {
			u.count++
			u.rss += max(0, p.rss-shared)
			u.ticks += p.ticks
		}
	}
	return u
}

// over says which limit is broken. The process that runs the handler counts.
func (u usage) over(l bundle.Limits) stop {
	switch {
	case u.count > l.Pids:
		return stopPids
	case u.rss > l.MemoryBytes:
		return stopMemory
	case u.ticks > l.CPUSeconds*ticksPerSecond:
		return stopCPU
	}
	return stopNone
}

// inspect asks the watchdog for processes. Without /proc there is none.
func (z *zygote) inspect(l bundle.Limits) stop {
	table, err := processes()
	if err != nil {
		return stopNone
	}
	return below(table, z.cmd.Process.Pid, z.template).over(l)
}
