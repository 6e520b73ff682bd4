package agent

import (
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/agent/isolation"
	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/runtime/bundle"
	"github.com/ostraka/ostraka/runtime/monitor"
	"github.com/ostraka/ostraka/runtime/monitor/threshold"
)

const (
	// maxBeatSandboxes and maxBeatAlerts are what one heartbeat may name, as the server has it.
	maxBeatSandboxes = 64
	maxBeatAlerts    = 8
	// MaxEndedSandboxes is how many sandboxes that have ended wait to be reported; of more, the oldest are left out, and the server
	// finds out by itself.
	MaxEndedSandboxes = 512
	// ownProcesses is how many processes of a sandbox are its own and not the function's: a launcher, an init and the template.
	ownProcesses = 3
	// firstReport is how long a sandbox lives before it is reported without waiting for the next heartbeat: most end sooner.
	firstReport = 2 * time.Second
)

// box is a sandbox that runs.
type box struct {
	id      uuid.UUID
	lease   *heldLease
	level   bundle.Isolation
	started time.Time
	shard   atomic.Int64 // the one that runs now; -1: none
	unwatch func()
	told    bool // a heartbeat has named it; of the book, under its lock

	mu     sync.Mutex
	reason string // why it is to end; "": it may continue
}

// end has the sandbox end before its next shard, and says whether that is news.
func (b *box) end(reason string) (news bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	news = b.reason == ""
	b.reason = reason
	return news
}

// ending says why the sandbox is to end; "" when it may continue.
func (b *box) ending() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.reason
}

// boxBook is the agent's registry of sandboxes.
type boxBook struct {
	monitor *monitor.Monitor
	mu      sync.Mutex
	running map[uuid.UUID]*box
	ended   []client.SandboxReport // not reported yet, the oldest first
	// hurry gets a token when the next heartbeat should not wait.
	hurry chan struct{}
}

func newBoxBook(m *monitor.Monitor) *boxBook {
	return &boxBook{monitor: m, running: map[uuid.UUID]*box{}, hurry: make(chan struct{}, 1)}
}

// open registers a sandbox and has it watched.
func (b *boxBook) open(lease *heldLease, level bundle.Isolation, session isolation.Session, plan threshold.Plan) *box {
	x := &box{id: uuid.Must(uuid.NewV7()), lease: lease, level: level, started: time.Now()}
	x.shard.Store(-1)
	x.unwatch = b.monitor.Watch(monitor.Sandbox{
		ID: x.id.String(), Plan: plan, OutputBytes: session.OutputBytes, Kill: session.Kill,
		About: monitor.About{
			Lease: lease.ID.String(), Job: lease.Job.String(), Project: lease.Project.String(), Function: lease.Function, Version: int(lease.Version),
		},
		Target: func() monitor.Target {
			t := session.Target()
			t.ID = x.id.String()
			return t
		},
	})
	b.mu.Lock()
	b.running[x.id] = x
	b.mu.Unlock()
	time.AfterFunc(firstReport, func() {
		if b.get(x.id) != nil {
			b.hasten()
		}
	})
	return x
}

// close says that a sandbox is gone, with everything that ran in it.
func (b *boxBook) close(x *box, why string) {
	x.unwatch()
	report := b.report(x)
	report.Ended, report.EndReason = true, why
	ordered := x.ending() != ""
	b.mu.Lock()
	delete(b.running, x.id)
	if ordered || x.told || time.Since(x.started) >= firstReport { // the server does not know of the others
		b.note(report)
	}
	b.mu.Unlock()
	if ordered {
		b.hasten()
	}
}

// note keeps the report of an end; b is locked.
func (b *boxBook) note(r client.SandboxReport) {
	b.ended = append(b.ended, r)
	if over := len(b.ended) - MaxEndedSandboxes; over > 0 {
		b.ended = slices.Delete(b.ended, 0, over)
	}
}

// gone reports a sandbox that the server asks for and that is not there: it ended before this agent began, for one.
func (b *boxBook) gone(id uuid.UUID) {
	b.mu.Lock()
	known := slices.ContainsFunc(b.ended, func(r client.SandboxReport) bool { return r.ID == id })
	if !known {
		b.note(client.SandboxReport{ID: id, Level: client.SandboxReportLevel(bundle.Process), Ended: true, EndReason: "the agent has no such sandbox"})
	}
	b.mu.Unlock()
	b.hasten()
}

func (b *boxBook) get(id uuid.UUID) *box {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.running[id]
}

func (b *boxBook) hasten() {
	select {
	case b.hurry <- struct{}{}:
	default:
	}
}

// reports are what heartbeats say of sandboxes, in parts that fit into one each. What has ended is in there once; undo puts it back
// where a heartbeat failed.
func (b *boxBook) reports() (parts [][]client.SandboxReport, undo func()) {
	b.mu.Lock()
	ended := b.ended
	b.ended = nil
	all := slices.Clone(ended)
	running := make([]*box, 0, len(b.running))
	for _, x := range b.running {
		x.told = true
		running = append(running, x)
	}
	b.mu.Unlock()
	for _, x := range running {
		all = append(all, b.report(x))
	}
	return slices.Collect(slices.Chunk(all, maxBeatSandboxes)), func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		later := b.ended
		b.ended = nil
		for _, r := range slices.Concat(ended, later) {
			b.note(r)
		}
	}
}

func (b *boxBook) report(x *box) client.SandboxReport {
	r := client.SandboxReport{ID: x.id, Lease: x.lease.ID, Level: client.SandboxReportLevel(x.level), AgeMs: time.Since(x.started).Milliseconds()}
	if shard := x.shard.Load(); shard >= 0 {
		r.Shard = &shard
	}
	state, found := b.monitor.State(x.id.String())
	if !found {
		return r
	}
	if s := state.Sample; state.Sampled {
		r.Sample = &client.SandboxFigures{
			At: s.At, CPUPercent: s.CPUPercent, MemoryBytes: s.MemoryBytes, WorkspaceBytes: s.WorkspaceBytes, WorkspacePartial: s.WorkspacePartial,
			NetworkBytes: s.NetworkBytes, Network: client.SandboxFiguresNetwork(s.Network), Processes: s.Processes, OutputBytes: s.OutputBytes,
		}
	}
	for _, a := range state.Alerts[max(0, len(state.Alerts)-maxBeatAlerts):] {
		r.Alerts = append(r.Alerts, client.Alert{
			At: a.At, Metric: client.AlertMetric(a.Metric), Level: client.AlertLevel(a.Level), Value: a.Value, Threshold: a.Threshold, Text: a.Text,
		})
	}
	return r
}

// limitsOf are what the parts of thresholds are taken of.
func limitsOf(m *bundle.Manifest) threshold.Limits {
	l := reserved(m)
	return threshold.Limits{
		CPUPercent: 100 * float64(runtime.NumCPU()), MemoryBytes: l.MemoryBytes, WorkspaceBytes: l.DiskBytes,
		Processes: l.Pids + ownProcesses, OutputBytes: l.StdoutBytes + l.StderrBytes,
	}
}

// thresholdsOf are a project's thresholds as they came with a lease.
func thresholdsOf(t *client.Thresholds) *threshold.Rules {
	if t == nil {
		return nil
	}
	pair := func(p *client.ThresholdPair) *threshold.Pair {
		if p == nil {
			return nil
		}
		return &threshold.Pair{Warning: p.Warning, Critical: p.Critical}
	}
	return &threshold.Rules{
		CPU: pair(t.CPU), Memory: pair(t.Memory), Workspace: pair(t.Workspace), Network: pair(t.Network), Processes: pair(t.Processes), Output: pair(t.Output),
		Samples: int(t.Samples),
	}
}
