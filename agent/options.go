package agent

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/ostraka/ostraka/agent/host"
	"github.com/ostraka/ostraka/agent/isolation"
	"github.com/ostraka/ostraka/agent/prefs"
	"github.com/ostraka/ostraka/agent/spool"
	"github.com/ostraka/ostraka/runtime/bundle"
	"github.com/ostraka/ostraka/runtime/eula"
	"github.com/ostraka/ostraka/runtime/monitor"
	"github.com/ostraka/ostraka/runtime/monitor/threshold"
)

// MaxWorkers is the most workers of one agent: each holds an interpreter, and a machine with more processors may run several
// agents.
const MaxWorkers = prefs.MaxSandboxes

// MaxNameLength is the longest name of an agent, in characters, as the server has it.
const MaxNameLength = 200

// Options say how an agent works. Zero values mean the defaults that are named.
type Options struct {
	URL     string // the server
	Token   string // enrolment token; needed once
	DataDir string // see the package's comment
	Name    string // what its owner calls the agent
	Version string // of this program
	Workers int    // leases at a time at most; 0: what the preferences say, or 1
	Caps    Caps   // what a function may have here

	// Agree asks the owner of the machine to accept an agreement that was not accepted yet; nil: the owner cannot be asked now.
	Agree func(context.Context, eula.Document) (bool, error)
	// LeaseWork is how much work a lease should be; 0: DefaultLeaseWork.
	LeaseWork time.Duration
	// CacheBytes is how much disk the bundles of earlier leases may take; 0: DefaultCacheBytes.
	CacheBytes int64
	// AllowUnsigned lets the agent execute functions that their project's owner has not signed.
	AllowUnsigned bool
	// Cheat makes the agent misbehave, for demonstrations and tests; nil: it is honest.
	Cheat *Cheat
	// SpoolBytes is how much disk finished results that wait for the server may take; 0: spool.DefaultBytes.
	SpoolBytes int64
	// Now is the clock on the wall, which schedules are about; nil: the machine's.
	Now func() time.Time
	// Measure measures the machine; nil: package host does.
	Measure func(context.Context) (host.Sample, error)
	// Python is the interpreter: a path, python.UseSystem, or empty for the one that this program carries.
	Python string
	// PythonDir is where that one is unpacked; empty: in the data directory. Several agents of one user may share it.
	PythonDir string
	// Isolation is the level that is used, and no other; empty: the strongest that a canary proves on this machine.
	Isolation bundle.Isolation
	// AllowProcess allows the level `process`, which is no wall, where no other is available.
	AllowProcess bool
	// Sandbox is where functions run; nil: a sandbox of that isolation, on that interpreter.
	Sandbox isolation.Sandbox
	// reader reads functions for the guardian; nil: the built-in module.
	reader codeReader
	// Thresholds are the owner's, for every sandbox; the strictest of the owner's, the project's and the function's holds.
	Thresholds threshold.Rules
	// AlertHandlers are told of every alert.
	AlertHandlers []monitor.Handler
	// Log receives what the agent has to say; nil: slog.Default().
	Log *slog.Logger
}

// complete fills in the defaults and refuses what cannot be meant.
func (o *Options) complete() error {
	if o.LeaseWork == 0 {
		o.LeaseWork = DefaultLeaseWork
	}
	if o.CacheBytes == 0 {
		o.CacheBytes = DefaultCacheBytes
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.SpoolBytes == 0 {
		o.SpoolBytes = spool.DefaultBytes
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	switch {
	case o.Workers < 0 || o.Workers > MaxWorkers:
		return fmt.Errorf("%d workers: an agent has 1 to %d", o.Workers, MaxWorkers)
	case o.LeaseWork < 0:
		return fmt.Errorf("a lease cannot be %v of work", o.LeaseWork)
	case o.CacheBytes < bundle.MaxArchiveBytes:
		return fmt.Errorf("a cache of %d bytes cannot hold the largest bundle: give it at least %d", o.CacheBytes, bundle.MaxArchiveBytes)
	case o.SpoolBytes < 0:
		return fmt.Errorf("a spool cannot have %d bytes", o.SpoolBytes)
	case strings.TrimSpace(o.Name) == "" || len([]rune(o.Name)) > MaxNameLength:
		return fmt.Errorf("the name %q: an agent's name has 1 to %d characters", o.Name, MaxNameLength)
	}
	if err := o.Thresholds.Check(); err != nil {
		return fmt.Errorf("the thresholds for sandboxes: %w", err)
	}
	return nil
}
