// Package host measures the machine that an agent runs on, cheaply enough to do so every few seconds. Values that a platform does not tell
// are left at zero; those that matter to a decision (battery, free disk) say whether they are known.
package host

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/shirou/gopsutil/v4/cpu"
	"github.com/shirou/gopsutil/v4/disk"
	"github.com/shirou/gopsutil/v4/host"
	"github.com/shirou/gopsutil/v4/load"
	"github.com/shirou/gopsutil/v4/mem"
	"github.com/shirou/gopsutil/v4/net"
	"github.com/shirou/gopsutil/v4/process"
)

// Sample is the machine at one moment. Shares are percent of all processors together, since the sample before.
type Sample struct {
	At            time.Time
	CPUs          int
	CPUPercent    float64 // of everything that runs
	AgentPercent  float64 // of this process and everything below it
	Load          [3]float64
	MemoryTotal   int64
	MemoryFree    int64 // what programs can still get
	SwapUsed      int64
	DiskTotal     int64 // of the file system that holds the directory
	DiskFree      int64 // of it, for this user
	DiskKnown     bool
	Sent          int64 // over all interfaces but loopback, since the machine started
	Received      int64
	Battery       Battery
	UptimeSeconds int64
	Resident      int64 // memory of this process
}

// Others is the share that programs other than this one take.
func (s Sample) Others() float64 { return max(0, s.CPUPercent-s.AgentPercent) }

// Battery is how the machine is powered. gopsutil does not know; Linux tells in /sys/class/power_supply, and other platforms are not
// asked.
type Battery struct {
	Known   bool // the machine has a battery, and the platform tells
	On      bool // it runs on it
	Percent float64
}

// Sampler takes samples, one at a time.
type Sampler struct {
	dir     string
	last    cpuTimes
	lastOwn map[int32]float64
	battery func() Battery
}

// cpuTimes are seconds since the machine started.
type cpuTimes struct{ busy, all float64 }

// New makes a sampler that looks at the file system of a directory.
func New(dir string) *Sampler {
	return &Sampler{dir: dir, battery: readBattery}
}

// Sample measures. The error says what could not be; the rest is there.
func (s *Sampler) Sample(ctx context.Context) (Sample, error) {
	out := Sample{At: time.Now(), CPUs: runtime.NumCPU(), Battery: s.battery()}
	err := errors.Join(
		s.processors(ctx, &out),
		memory(ctx, &out),
		s.disk(ctx, &out),
		network(ctx, &out),
		machine(ctx, &out),
	)
	return out, err
}

func (s *Sampler) processors(ctx context.Context, out *Sample) error {
	times, err := cpu.TimesWithContext(ctx, false)
	if err != nil || len(times) == 0 {
		return fmt.Errorf("reading the processors' times: %w", err)
	}
	t := times[0]
	idle := t.Idle + t.Iowait
	now := cpuTimes{all: idle + t.User + t.System + t.Nice + t.Irq + t.Softirq + t.Steal}
	now.busy = now.all - idle
	own, err := ownTimes(ctx, os.Getpid())
	if passed := now.all - s.last.all; s.last.all > 0 && passed > 0 {
		out.CPUPercent = percent((now.busy - s.last.busy) / passed)
		out.AgentPercent = min(out.CPUPercent, percent(grown(s.lastOwn, own)/passed))
	}
	s.last, s.lastOwn = now, own
	if err != nil {
		return fmt.Errorf("reading the agent's own times: %w", err)
	}
	return nil
}

// grown is by how much processes computed longer than before. One that has ended counts no more, so its time may be taken for that of
// others once; one that is new counts whole.
func grown(before, now map[int32]float64) (seconds float64) {
	for pid, t := range now {
		seconds += max(0, t-before[pid])
	}
	return seconds
}

func percent(share float64) float64 { return min(100, max(0, 100*share)) }

func memory(ctx context.Context, out *Sample) error {
	m, err := mem.VirtualMemoryWithContext(ctx)
	if err != nil {
		return fmt.Errorf("reading memory: %w", err)
	}
	out.MemoryTotal, out.MemoryFree = whole(m.Total), whole(m.Available)
	if swap, err := mem.SwapMemoryWithContext(ctx); err == nil { // not every platform has it
		out.SwapUsed = whole(swap.Used)
	}
	return nil
}

func (s *Sampler) disk(ctx context.Context, out *Sample) error {
	d, err := disk.UsageWithContext(ctx, s.dir)
	if err != nil {
		return fmt.Errorf("reading the disk's size: %w", err)
	}
	out.DiskTotal, out.DiskFree, out.DiskKnown = whole(d.Total), whole(d.Free), true
	return nil
}

func network(ctx context.Context, out *Sample) error {
	interfaces, err := net.IOCountersWithContext(ctx, true)
	if err != nil {
		return fmt.Errorf("reading network counters: %w", err)
	}
	for _, i := range interfaces {
		if i.Name == "lo" || i.Name == "lo0" || strings.HasPrefix(i.Name, "Loopback") {
			continue
		}
		out.Sent += whole(i.BytesSent)
		out.Received += whole(i.BytesRecv)
	}
	return nil
}

func machine(ctx context.Context, out *Sample) error {
	if l, err := load.AvgWithContext(ctx); err == nil { // Windows has none
		out.Load = [3]float64{l.Load1, l.Load5, l.Load15}
	}
	up, err := host.UptimeWithContext(ctx)
	if err != nil {
		return fmt.Errorf("reading the machine's uptime: %w", err)
	}
	out.UptimeSeconds = whole(up)
	self, err := process.NewProcessWithContext(ctx, int32(os.Getpid()))
	if err != nil {
		return fmt.Errorf("looking at the agent's process: %w", err)
	}
	m, err := self.MemoryInfoWithContext(ctx)
	if err != nil {
		return fmt.Errorf("reading the agent's memory: %w", err)
	}
	out.Resident = whole(m.RSS)
	return nil
}

// maxWhole is the largest number that JSON carries exactly; nothing that is measured comes near.
const maxWhole = 1<<53 - 1

func whole(n uint64) int64 { return int64(min(n, maxWhole)) }
