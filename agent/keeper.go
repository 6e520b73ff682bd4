package agent

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"
	"time"

	"github.com/ostraka/ostraka/agent/host"
	"github.com/ostraka/ostraka/agent/isolation"
	"github.com/ostraka/ostraka/agent/prefs"
	"github.com/ostraka/ostraka/agent/witness"
	"github.com/ostraka/ostraka/runtime/bundle"
)

const (
	// keepEvery is how often the agent looks at its preferences and at what it may do: an owner who pauses it waits no longer.
	keepEvery = time.Second
	// sampleEvery is how often it measures the machine.
	sampleEvery = 5 * time.Second
	// fullFor is how long a disk counts as full after a write has failed for want of room, whatever it says of itself: quotas are
	// not seen otherwise.
	fullFor = 30 * time.Second
	// sleptAfter is how late the agent must look before it says that the machine has slept.
	sleptAfter = 6 * time.Second
)

// keeper keeps to what the owner allows: it reads the preferences again whenever they change, measures the machine, and says how many
// leases the agent may have.
type keeper struct {
	log     *slog.Logger
	dir     string
	given   int // workers that the program was started with; 0: not told
	sandbox isolation.Sandbox
	clock   func() time.Time // of the wall: schedules are about that
	measure func(context.Context) (host.Sample, error)
	cores   isolation.Cores

	mu       sync.Mutex
	settling settling
	judged   *prefs.File // the file that was read last of those that stood; nil: none, or it could not be read since
	inForce  prefs.File  // that which the preferences are from
	prefs    prefs.Preferences
	problem  string // why the file's content is not in force
	sample   host.Sample
	busy     host.Hysteresis
	low      bool
	fullTill time.Time // by the monotonic clock
	owner    idle      // why the agent takes no work
	ends     idle      // why it ends the work that it has: not for a pause that finishes it
	places   int
	changed  chan struct{} // closed and replaced with every change of owner, places or prefs
}

func newKeeper(o *Options, dir string, sandbox isolation.Sandbox) *keeper {
	k := &keeper{
		log: o.Log, dir: dir, given: o.Workers, sandbox: sandbox, clock: o.Now, measure: o.Measure,
		prefs: prefs.Default(), changed: make(chan struct{}),
	}
	if k.measure == nil {
		k.measure = host.New(dir).Sample
	}
	return k
}

// start reads the preferences for the first time, as soon as they are not being written. A mistake in them is an error then: there are no earlier
// ones to keep.
func (k *keeper) start(ctx context.Context) error {
	f, err := k.firstLook(ctx)
	if err != nil {
		return err
	}
	p, err := prefs.Parse(f.Content)
	if err != nil {
		return fmt.Errorf("reading the preferences: %s: %w; mend the file (ostraka agent prefs check)", k.file(), err)
	}
	k.judged, k.inForce = &f, f
	k.use(p)
	k.measureNow(ctx)
	k.look()
	return nil
}

func (k *keeper) firstLook(ctx context.Context) (prefs.File, error) {
	f, err := prefs.Look(k.file())
	if err != nil {
		return f, err
	}
	k.settling.began(f, time.Now())
	tick := time.NewTicker(keepEvery)
	defer tick.Stop()
	for !k.settling.stands(f, time.Now()) {
		select {
		case <-ctx.Done():
			return f, ctx.Err()
		case <-tick.C:
		}
		if f, err = prefs.Look(k.file()); err != nil {
			return f, err
		}
	}
	return f, nil
}

func (k *keeper) file() string { return filepath.Join(k.dir, prefs.FileName) }

// run looks again and again until the context ends; each time it calls then.
func (k *keeper) run(ctx context.Context, then func(slept time.Duration)) {
	looked, measured := time.Now(), time.Now()
	tick := time.NewTicker(keepEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		slept := asleep(looked, time.Now())
		looked = time.Now()
		if time.Since(measured) >= sampleEvery || slept > 0 {
			k.measureNow(ctx)
			measured = time.Now()
		}
		k.look()
		then(slept)
	}
}

// asleep is how long the machine has slept, or the agent was stopped, between two looks; 0 where it was not. Some systems stop the
// monotonic clock in their sleep and some do not, so both are asked. A wall clock that was put forward looks the same, and does no
// harm.
func asleep(before, now time.Time) time.Duration {
	passed := max(now.Sub(before), now.Round(0).Sub(before.Round(0)))
	if passed < sleptAfter {
		return 0
	}
	return passed
}

func (k *keeper) measureNow(ctx context.Context) {
	s, err := k.measure(ctx)
	if err != nil && ctx.Err() == nil {
		k.log.Debug("not everything about the machine could be measured", "error", err)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.sample = s
	k.busy.Update(s.Others(), float64(k.prefs.BusyAbove), float64(k.prefs.BusyBelow))
}

// diskIsLow says whether less is free than the owner wants to keep. A tenth more must be free to continue than to begin with, or the agent's
// own files would make it flap. The caller holds the lock.
func (k *keeper) diskIsLow() bool {
	need := k.prefs.KeepFreeBytes
	if k.low {
		need += need / 10
	}
	k.low = k.sample.DiskKnown && k.sample.DiskFree < need
	return k.low || time.Now().Before(k.fullTill)
}

// look reads the file again and decides.
func (k *keeper) look() {
	k.reload()
	note := readPause(pauseFile(k.dir))
	if note != nil && note.over(k.clock()) {
		note = nil
	}
	alarm := logAlarm(witness.Open(k.dir))
	k.mu.Lock()
	defer k.mu.Unlock()
	found := circumstances{
		now: k.clock(), level: k.level(), pause: note, alarm: alarm, battery: k.sample.Battery, busy: k.busy.On(), others: k.sample.Others(),
		diskLow: k.diskIsLow(), free: k.sample.DiskFree,
	}
	owner := allow(&k.prefs, found)
	if note != nil && note.Finish {
		found.pause = nil
	}
	n := places(&k.prefs, k.given)
	if owner.Code != k.owner.Code || n != k.places {
		k.announce()
	}
	k.owner, k.ends, k.places = owner, allow(&k.prefs, found), n
}

// reload puts the preferences into force when the file has changed and is no longer being written. One with a mistake leaves the earlier
// ones in force, and so does one that was emptied.
func (k *keeper) reload() {
	f, err := prefs.Look(k.file())
	k.mu.Lock()
	stands := err == nil && k.settling.stands(f, time.Now())
	same := k.judged != nil && k.judged.There == f.There && bytes.Equal(k.judged.Content, f.Content)
	earlier, before := k.inForce, k.problem
	if stands {
		k.judged = &f
	}
	if err != nil {
		k.judged = nil
	}
	k.mu.Unlock()
	if err != nil {
		k.complain(err, before)
		return
	}
	if !stands || same {
		return
	}
	p, err := prefs.Parse(f.Content)
	if err == nil && f.There && len(f.Content) == 0 && len(earlier.Content) > 0 {
		err = errEmptied
	}
	if err != nil {
		k.complain(err, before)
		return
	}
	k.mu.Lock()
	k.inForce = f
	k.mu.Unlock()
	k.use(p)
	k.log.Info("the preferences have changed and are in force", "file", k.file())
}

func (k *keeper) complain(err error, before string) {
	k.mu.Lock()
	k.problem = err.Error()
	k.mu.Unlock()
	if err.Error() != before {
		k.log.Error("THE PREFERENCES HAVE A MISTAKE: those that were in force before stay in force; mend the file (ostraka agent prefs check)", "file", k.file(), "error", err)
	}
}

// level is the best that any function has here: those in WebAssembly have a sandbox of their own, if the owner lets them run. The caller
// holds the lock.
func (k *keeper) level() bundle.Isolation {
	if level := k.sandbox.Level(); k.prefs.WasmDenied || level.AtLeast(bundle.Wasm) {
		return level
	}
	return bundle.Wasm
}

func (k *keeper) use(p prefs.Preferences) {
	if err := k.cores.Use(p.Cores); err != nil {
		k.log.Warn("the number of processors cannot be enforced beyond running no more functions than that at a time", "cores", p.Cores, "error", err)
	}
	k.sandbox.LimitProcessors(p.Cores)
	k.mu.Lock()
	defer k.mu.Unlock()
	k.prefs, k.problem = p, ""
	k.announce()
}

// announce wakes all who wait. The caller holds the lock.
func (k *keeper) announce() {
	close(k.changed)
	k.changed = make(chan struct{})
}

// diskIsFull tells that a write has failed for want of room.
func (k *keeper) diskIsFull() {
	k.mu.Lock()
	k.fullTill = time.Now().Add(fullFor)
	k.mu.Unlock()
	k.look()
}

// current are the preferences in force.
func (k *keeper) current() prefs.Preferences {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.prefs
}

// stops says why the work on leases must end after the shards that are being executed; the zero value when it may continue.
func (k *keeper) stops() idle {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.ends
}

// rests says why no further lease is taken, and whether those that are there go on to their end all the same.
func (k *keeper) rests() (why idle, finishes bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.owner, k.ends.Code == ""
}

// allowed is how many leases the agent may have now, and a channel that is closed when that may have changed.
func (k *keeper) allowed() (n int, changed <-chan struct{}) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.owner.Code != "" {
		return 0, k.changed
	}
	return k.places, k.changed
}

// admit waits until the worker of this number may take a lease; it says no when the context has ended.
func (k *keeper) admit(ctx context.Context, number int) bool {
	for ctx.Err() == nil {
		n, changed := k.allowed()
		if number < n {
			return true
		}
		select {
		case <-ctx.Done():
		case <-changed:
		}
	}
	return false
}

// last is the newest sample of the machine.
func (k *keeper) last() (s host.Sample, problem string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.sample, k.problem
}
