// Package prefs handles the preferences of a machine's owner, a TOML file with one line for each. It reads, checks,
// describes and edits the file and decides about the hours; it does not measure the machine.
package prefs

import (
	"slices"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/guardian"
	"github.com/ostraka/ostraka/runtime/bundle"
	"github.com/ostraka/ostraka/runtime/volume"
)

// FileName is the file's name in the agent's data directory.
const FileName = "prefs.toml"

// Limits of the file and of what it may say.
const (
	// MaxBytes is the largest file, in bytes: it is read again whenever it changes.
	MaxBytes = 64 << 10
	// MaxSandboxes is the most functions that an agent may run at a time: each holds an interpreter.
	MaxSandboxes = 256
	// MaxListed is the most projects, functions or hours that one list may name.
	MaxListed = 1000
	// DefaultKeepFree is how much of the disk the agent leaves alone, in bytes, when the owner says nothing.
	DefaultKeepFree = 128 << 20
)

// Preferences are what the owner wants. Zero fields do not limit, unless it is said.
type Preferences struct {
	// For everything that runs at a time.
	Sandboxes     int   // functions at a time; 0: what the program was started with
	Cores         int   // processors
	MemoryBytes   int64 // the sum of the limits of what runs
	DiskBytes     int64 // the sum of the limits of what runs, the kept bundles and the spool
	KeepFreeBytes int64 // of the disk, for others; DefaultKeepFree
	InputsBytes   int64 // kept input files

	// For one function.
	Function Function

	// Whom to work for.
	Projects        []uuid.UUID // none: all that the agent has joined
	ProjectsDenied  []uuid.UUID
	FunctionsDenied []string // names, or digests of bundles
	AllowUnsigned   bool     // also unsigned functions
	WasmDenied      bool     // no functions in WebAssembly
	RuntimesDenied  bool     // no functions that bring native code along in a runtime

	// Rules about functions, and exceptions from what the built-in ones ask.
	Rules     []*guardian.Compiled
	Overrides []guardian.Override

	// Folders that functions may read, and who gets which of them.
	Volumes      []volume.Mapping
	VolumeAccess []VolumeAccess

	// When.
	Schedule     Schedule
	OnBattery    bool // also without mains
	BatteryAbove int  // percent that the battery must have, where OnBattery
	BusyAbove    int  // percent of all processors that other programs take when the agent pauses
	BusyBelow    int  // percent at which it continues
}

// Function is what one function may ask for.
type Function struct {
	MemoryBytes  int64
	DiskBytes    int64
	WallSeconds  int64
	CPUSeconds   int64
	Pids         int64
	BundleBytes  int64
	MinIsolation bundle.Isolation // weaker sandboxes run nothing
}

// Default are the preferences of an owner who says nothing.
func Default() Preferences {
	return Preferences{KeepFreeBytes: DefaultKeepFree, Function: Function{MinIsolation: bundle.Process}}
}

// AllowsProject says whether the agent works for a project.
func (p *Preferences) AllowsProject(id uuid.UUID) bool {
	return !slices.Contains(p.ProjectsDenied, id) && (len(p.Projects) == 0 || slices.Contains(p.Projects, id))
}

// AllowsFunction says whether the agent runs a function of this name, with this bundle.
func (p *Preferences) AllowsFunction(name, digest string) bool {
	return !slices.Contains(p.FunctionsDenied, name) && !slices.Contains(p.FunctionsDenied, digest)
}
