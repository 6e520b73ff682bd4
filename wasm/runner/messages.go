package runner

import "time"

// Setup is the first thing that a runner is told: what it may use.
type Setup struct {
	CompileOnly bool   `json:"compile_only"` // compile into CacheDir, then end
	CacheDir    string `json:"cache_dir"`    // compiled code of this one module
	Memory      uint64 `json:"memory"`       // bytes of linear memory that the guest may have
	Data        uint64 `json:"data"`         // RLIMIT_DATA, bytes
	CPU         uint64 `json:"cpu"`          // RLIMIT_CPU of the whole process, seconds
	FileSize    uint64 `json:"file_size"`    // RLIMIT_FSIZE, bytes; only a compiling runner writes files
	MaxModule   int    `json:"max_module"`   // bytes of the module frame that follows
}

// ready is the runner's answer to Setup and module.
type ready struct {
	Rejected string `json:"rejected,omitempty"` // the compiler's reason, if it refused
	Failed   string `json:"failed,omitempty"`   // what failed in the runner itself
	Filtered bool   `json:"filtered"`           // system calls are filtered
}

// Batch describes one run of the module, with a fresh instance.
type Batch struct {
	Seed      [32]byte  `json:"seed"`       // of the guest's random source
	Now       time.Time `json:"now"`        // where the guest's clock starts
	MaxOutput int64     `json:"max_output"` // bytes of stdout in all
	MaxLine   int64     `json:"max_line"`   // bytes of one line of stdout
	MaxStderr int       `json:"max_stderr"` // bytes of stderr to keep, the last ones
	Fuel      int64     `json:"fuel"`       // units that the guest may use, if it is metered
	// Wall ends a metered guest from inside, so that it can be told where it
	// was; the server kills the runner if that does not happen soon.
	Wall time.Duration `json:"wall"`
}

// Exceeded names a limit that ended a batch or that the guest ran into.
type Exceeded string

// The limits that a runner watches itself.
const (
	ExceededOutput Exceeded = "output"
	ExceededLine   Exceeded = "line"
	ExceededMemory Exceeded = "memory"
	ExceededFuel   Exceeded = "fuel"
	ExceededWall   Exceeded = "wall"
	// ExceededMachine is the machine's limit and none of the guest's: it had no
	// memory left. How the guest ended is no answer.
	ExceededMachine Exceeded = "machine"
)

// Outcome is how a batch ended, as the runner saw it.
type Outcome struct {
	ExitCode uint32   `json:"exit_code"`
	Trap     string   `json:"trap,omitempty"`     // first line of the trap, empty without one
	Frames   []string `json:"frames,omitempty"`   // innermost first, at most MaxFrames
	Exceeded Exceeded `json:"exceeded,omitempty"` // a limit, if one was reached
	Stderr   []byte   `json:"stderr,omitempty"`   // the tail, raw
	// StderrBytes is how much the guest has written there in all.
	StderrBytes int64  `json:"stderr_bytes,omitempty"`
	Memory      uint64 `json:"memory"`           // bytes of linear memory at the end, which is the peak
	Fuel        int64  `json:"fuel"`             // units that were used; 0 if the module is not metered
	Failed      string `json:"failed,omitempty"` // what failed in the runner itself
	// CPU is the processor time of the whole runner for this batch: the guest,
	// its streams and the collector.
	CPU time.Duration `json:"cpu"`
}

// Unsuccessful tells whether the guest did not end well.
func (o Outcome) Unsuccessful() bool { return o.ExitCode != 0 || o.Trap != "" || o.Failed != "" }

// MaxFrames is how many frames of a trap's stack are kept.
const MaxFrames = 10
