package monitor

import (
	"log/slog"
	"path/filepath"
	"strconv"
	"time"

	"github.com/ostraka/ostraka/runtime/monitor/threshold"
)

// gauge is what must be remembered of a sandbox from one look to the next.
type gauge struct {
	target  Target
	started uint64 // of the process, as far as it is known
	cgroup  cgroup

	cpuAt     time.Time
	cpuMicros int64

	walkedAt  time.Time
	workspace int64
	partial   bool

	networkAt time.Time
	network   int64
	kind      threshold.NetworkKind
}

// networkEvery is how often the network is read where it is not proven to be none: it takes three files.
const networkEvery = 5 * time.Second

// looker takes samples, one tick after the other.
type looker struct {
	proc  string
	log   *slog.Logger
	read  *reader
	now   time.Time
	table *table // of this tick; nil until somebody needs it
	tried bool
	// walked is how long counting workspaces has taken in this tick.
	walked time.Duration
}

func newLooker(proc string, log *slog.Logger) *looker {
	return &looker{proc: proc, log: log, read: newReader()}
}

// begin begins a tick.
func (l *looker) begin(now time.Time) { l.now, l.table, l.tried, l.walked = now, nil, false, 0 }

// processes reads the table once a tick, when the first asks.
func (l *looker) processes() *table {
	if l.tried {
		return l.table
	}
	l.tried = true
	t, err := readTable(l.proc, l.read)
	if err != nil {
		l.log.Error("the monitor cannot read the table of processes: sandboxes without a cgroup are not watched", "error", err)
		return nil
	}
	l.table = t
	return t
}

// sample looks at one sandbox.
func (l *looker) sample(w *watched) threshold.Sample {
	g, target := &w.gauge, w.Target()
	if target != g.target {
		if target.Cgroup != g.target.Cgroup {
			g.cgroup = findCgroup(target.Cgroup)
		}
		if target.PID != g.target.PID {
			g.started, g.kind, g.networkAt = 0, "", time.Time{}
		}
		if target.Workspace != g.target.Workspace {
			g.walkedAt = time.Time{}
		}
		g.target = target
	}
	s := threshold.Sample{At: l.now, OutputBytes: w.OutputBytes()}
	l.measure(g, &w.Plan, &s)
	s.WorkspaceBytes, s.WorkspacePartial = l.workspace(g)
	s.NetworkBytes, s.Network = l.network(g)
	return s
}

// measure fills in processor, memory and processes: from the cgroup where it knows, else from the processes.
func (l *looker) measure(g *gauge, plan *threshold.Plan, s *threshold.Sample) {
	memory, memoryKnown := g.cgroup.memoryBytes(l.read)
	micros, cpuKnown := g.cgroup.cpuMicros(l.read)
	pids, pidsKnown := int64(0), false
	if g.cgroup.pids != "" {
		pids, pidsKnown = l.read.number(g.cgroup.pids)
	}
	if (!memoryKnown || !cpuKnown || !pidsKnown) && g.target.PID > 0 {
		if t := l.processes(); t != nil {
			sum := l.tree(g, t)
			if !memoryKnown {
				memory = l.exactly(sum, plan)
			}
			if !cpuKnown {
				micros, cpuKnown = sum.ticks*1_000_000/ticksPerSecond, len(sum.pids) > 0
			}
			if !pidsKnown {
				pids = int64(len(sum.pids))
			}
		}
	}
	s.MemoryBytes, s.Processes = memory, pids
	if cpuKnown {
		s.CPUPercent = g.percent(l.now, micros)
	}
}

// tree sums up the sandbox's processes. A process that has taken over the ID of an earlier one is not the sandbox's.
func (l *looker) tree(g *gauge, t *table) tree {
	root, there := t.processes[g.target.PID]
	if !there || g.started != 0 && g.started != root.started {
		return tree{}
	}
	g.started = root.started
	return t.below(g.target.PID)
}

// exactly counts memory by what each process has for itself and its part of what it shares, where the bound would matter: that reads
// every page table, so that it is not for every look.
func (l *looker) exactly(sum tree, plan *threshold.Plan) int64 {
	if float64(sum.bound) < plan.Lowest(threshold.Memory) {
		return sum.memory
	}
	total := int64(0)
	for _, pid := range sum.pids {
		kilobytes, ok := l.read.named(filepath.Join(l.proc, strconv.Itoa(pid), "smaps_rollup"), "Pss:")
		if !ok {
			return sum.memory // it cannot be seen: the bound would end a function that forks much and holds little
		}
		total += kilobytes << 10
	}
	return total
}

// percent is the processor time since the last look, of one processor. A counter that falls, as that of a new interpreter does, starts from zero.
func (g *gauge) percent(now time.Time, micros int64) float64 {
	before, at := g.cpuMicros, g.cpuAt
	g.cpuMicros, g.cpuAt = micros, now
	passed := now.Sub(at)
	if at.IsZero() || passed <= 0 || micros < before {
		return 0
	}
	return float64(micros-before) / float64(passed.Microseconds()) * 100
}

func (l *looker) workspace(g *gauge) (int64, bool) {
	if g.target.Workspace == "" {
		return 0, false
	}
	if used, ok := mounted(g.target.Workspace); ok {
		return used, false
	}
	if l.walked < walkBudget && (g.walkedAt.IsZero() || l.now.Sub(g.walkedAt) >= walkEvery) {
		began := time.Now()
		g.walkedAt = l.now
		g.workspace, g.partial = countWorkspace(g.target.Workspace, MaxWorkspaceFiles)
		l.walked += time.Since(began)
	}
	return g.workspace, g.partial
}

// network asks again only where the answer may change: a process cannot leave its namespace, and no interfaces are added to it.
func (l *looker) network(g *gauge) (int64, threshold.NetworkKind) {
	if g.target.PID == 0 {
		return 0, threshold.NetworkUnknown
	}
	if g.kind != threshold.NetworkNone && (g.networkAt.IsZero() || l.now.Sub(g.networkAt) >= networkEvery) {
		g.networkAt = l.now
		g.network, g.kind = network(l.proc, g.target.PID, l.read)
	}
	return g.network, g.kind
}
