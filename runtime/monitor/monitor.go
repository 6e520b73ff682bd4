package monitor

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/ostraka/ostraka/runtime/monitor/threshold"
)

const (
	// DefaultInterval is how often every sandbox is looked at.
	DefaultInterval = time.Second
	// MaxEnded is how many sandboxes that have ended are remembered, as they were when they were looked at last.
	MaxEnded = 256
	// MaxAlerts is how many alerts of one sandbox are kept, the latest.
	MaxAlerts = 32
)

// Sandbox is one to watch. The functions are called from the monitor's own goroutine and must not wait.
type Sandbox struct {
	ID          string
	About       About
	Target      func() Target
	OutputBytes func() int64
	// Kill ends what the sandbox runs; nil: a critical alert is told and nothing is ended.
	Kill func(reason string)
	Plan threshold.Plan
}

// About is what a sandbox is for. It stands in the events that handlers get.
type About struct {
	Lease    string `json:"lease,omitempty"`
	Job      string `json:"job,omitempty"`
	Project  string `json:"project,omitempty"`
	Function string `json:"function,omitempty"`
	Version  int    `json:"version,omitempty"`
}

// Options are what a monitor is made of.
type Options struct {
	Interval time.Duration // 0: DefaultInterval
	Handlers []Handler
	Log      *slog.Logger // nil: slog.Default()
	Proc     string       // where the table of processes is; "": /proc
}

// State is what the monitor knows of a sandbox.
type State struct {
	Sample  threshold.Sample // the latest
	Sampled bool             // there is one
	Alerts  []threshold.Alert
}

// Monitor watches sandboxes.
type Monitor struct {
	interval time.Duration
	log      *slog.Logger
	proc     string
	bells    []*bell

	mu      sync.Mutex
	watched map[string]*watched
	ended   []*watched // the oldest first
	arrived chan struct{}
	busy    time.Duration // spent looking
	looks   int64         // sandboxes looked at, each time
}

// watched is a sandbox with what was seen of it. Its fields below mu belong to the monitor's goroutine.
type watched struct {
	Sandbox
	mu      sync.Mutex
	last    threshold.Sample
	sampled bool
	alerts  []threshold.Alert

	decider *threshold.Decider
	gauge   gauge
}

// New makes a monitor. Run makes it look.
func New(o Options) *Monitor {
	m := &Monitor{interval: o.Interval, log: o.Log, proc: o.Proc, watched: map[string]*watched{}, arrived: make(chan struct{}, 1)}
	if m.interval == 0 {
		m.interval = DefaultInterval
	}
	if m.log == nil {
		m.log = slog.Default()
	}
	if m.proc == "" {
		m.proc = "/proc"
	}
	for _, h := range o.Handlers {
		m.bells = append(m.bells, newBell(h, m.log))
	}
	return m
}

// Watch begins to watch a sandbox; end must be called when there is nothing more to see.
func (m *Monitor) Watch(s Sandbox) (end func()) {
	w := &watched{Sandbox: s, decider: threshold.NewDecider(s.Plan)}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.watched[s.ID] = w
	select {
	case m.arrived <- struct{}{}:
	default:
	}
	return func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		delete(m.watched, s.ID)
		m.ended = append(m.ended, w)
		if over := len(m.ended) - MaxEnded; over > 0 {
			m.ended = append([]*watched{}, m.ended[over:]...)
		}
	}
}

func (m *Monitor) find(id string) *watched {
	m.mu.Lock()
	defer m.mu.Unlock()
	if w := m.watched[id]; w != nil {
		return w
	}
	for _, w := range m.ended {
		if w.ID == id {
			return w
		}
	}
	return nil
}

// State says what is known of a sandbox, also of one that has ended.
func (m *Monitor) State(id string) (s State, found bool) {
	w := m.find(id)
	if w == nil {
		return State{}, false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	s.Sample, s.Sampled = w.last, w.sampled
	s.Alerts = append([]threshold.Alert{}, w.alerts...)
	return s, true
}

// Cost says how long the monitor has been looking in all, and at how many sandboxes, each as often as it was looked at.
func (m *Monitor) Cost() (busy time.Duration, looks int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.busy, m.looks
}

// Run looks at the sandboxes until the context ends. While there are none, it does nothing at all.
func (m *Monitor) Run(ctx context.Context) {
	var bells sync.WaitGroup
	for _, b := range m.bells {
		bells.Go(func() { b.run(ctx) })
	}
	defer bells.Wait()
	look := newLooker(m.proc, m.log)
	tick := time.NewTicker(m.interval)
	defer tick.Stop()
	for ctx.Err() == nil {
		all := m.all()
		if len(all) == 0 {
			select {
			case <-ctx.Done():
			case <-m.arrived:
				tick.Reset(m.interval)
			}
			continue
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			m.look(look, m.all())
		}
	}
}

func (m *Monitor) all() []*watched {
	m.mu.Lock()
	defer m.mu.Unlock()
	all := make([]*watched, 0, len(m.watched))
	for _, w := range m.watched {
		all = append(all, w)
	}
	return all
}

// look takes one sample of each sandbox and acts on what it shows.
func (m *Monitor) look(l *looker, all []*watched) {
	began := time.Now()
	l.begin(began)
	for _, w := range all {
		m.judge(w, l.sample(w))
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.busy += time.Since(began)
	m.looks += int64(len(all))
}

func (m *Monitor) judge(w *watched, s threshold.Sample) {
	alerts := w.decider.Observe(s)
	w.mu.Lock()
	w.last, w.sampled = s, true
	w.alerts = append(w.alerts, alerts...)
	if over := len(w.alerts) - MaxAlerts; over > 0 {
		w.alerts = append([]threshold.Alert{}, w.alerts[over:]...)
	}
	w.mu.Unlock()
	killed := false
	for _, a := range alerts {
		event := Event{Sandbox: w.ID, About: w.About, Alert: a}
		if a.Level == threshold.Critical && w.Kill != nil && !killed {
			w.Kill(a.Text)
			w.decider.Reset() // what runs next is judged again
			killed, event.Killed = true, true
		}
		m.log.Warn("alert", "sandbox", w.ID, "job", w.About.Job, "function", w.About.Function, "severity", a.Level, "alert", a.Text, "killed", event.Killed)
		for _, b := range m.bells {
			b.ring(event)
		}
	}
}

// errBusy says that a handler has more to do than it can.
var errBusy = errors.New("the handler is behind: alerts are left out")
