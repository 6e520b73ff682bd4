package bundle

import "fmt"

// Limits are what one shard of the function may use. Every field has a default
// and a hard maximum.
type Limits struct {
	CPUSeconds    int64 `json:"cpu_seconds"`    // processor time, of one process and of all together
	WallSeconds   int64 `json:"wall_seconds"`   // time on the clock, for a shard and for importing the bundle
	MemoryBytes   int64 `json:"memory_bytes"`   // private memory, of one process and of all together
	OutputBytes   int64 `json:"output_bytes"`   // the result as canonical JSON
	StdoutBytes   int64 `json:"stdout_bytes"`   // what may be printed on stdout
	StderrBytes   int64 `json:"stderr_bytes"`   // what may be printed on stderr
	DiskBytes     int64 `json:"disk_bytes"`     // files in the workspace, $OSTRAKA_OUTPUT included
	Inodes        int64 `json:"inodes"`         // files and folders in the workspace, $OSTRAKA_OUTPUT included
	Files         int64 `json:"files"`          // artifacts: files under $OSTRAKA_OUTPUT
	ArtifactBytes int64 `json:"artifact_bytes"` // all artifacts together
	Pids          int64 `json:"pids"`           // processes at a time
	OpenFiles     int64 `json:"open_files"`     // descriptors that one process holds
	// Fuel is how many instructions a function in WebAssembly may execute, in units of package meter; 0: it is none.
	Fuel int64 `json:"fuel,omitempty"`
}

// DefaultLimits are the limits of a function that states none.
func DefaultLimits() Limits {
	return Limits{
		CPUSeconds:    60,
		WallSeconds:   120,
		MemoryBytes:   256 << 20,
		OutputBytes:   1 << 20,
		StdoutBytes:   1 << 20,
		StderrBytes:   1 << 20,
		DiskBytes:     64 << 20,
		Inodes:        10_000,
		Files:         100,
		ArtifactBytes: 64 << 20,
		Pids:          32,
		OpenFiles:     256,
	}
}

// MaxLimits are the hard maxima. An hour of CPU is a shard too large to lose;
// 16 MiB of result is what the server still holds in memory per attempt; 100
// files are what a result lists; 64 MiB is a log that nobody reads.
func MaxLimits() Limits {
	return Limits{
		CPUSeconds:    3600,
		WallSeconds:   7200,
		MemoryBytes:   16 << 30,
		OutputBytes:   16 << 20,
		StdoutBytes:   64 << 20,
		StderrBytes:   64 << 20,
		DiskBytes:     10 << 30,
		Inodes:        1_000_000,
		Files:         100,
		ArtifactBytes: 10 << 30,
		Pids:          512,
		OpenFiles:     4096,
	}
}

// MinLimits are the least that makes sense: below 64 MiB no interpreter starts,
// and importing a module takes a few descriptors.
func MinLimits() Limits {
	return Limits{
		CPUSeconds: 1, WallSeconds: 1, MemoryBytes: 64 << 20, OutputBytes: 2,
		StdoutBytes: 0, StderrBytes: 0, DiskBytes: 0, Inodes: 0, Files: 0, ArtifactBytes: 0, Pids: 1, OpenFiles: 16,
	}
}

// limitField is one limit by its name in function.toml.
type limitField struct {
	name  string
	of    func(*Limits) *int64
	bytes bool   // a size, which may be written "256Mi"
	whose string // the only runtime that has it; empty: both have
}

// isFor says whether functions of a runtime have the limit.
func (f limitField) isFor(runtime string) bool {
	if runtime != RuntimeWasm {
		runtime = RuntimePython3 // a runtime that was brought along is another Python
	}
	return f.whose == "" || f.whose == runtime
}

// instead names the limit that a function of that runtime has instead.
func (f limitField) instead(runtime string) string {
	switch {
	case runtime == RuntimeWasm && f.name == "cpu_seconds":
		return ": what it may compute is limits.fuel, which is the same on every machine"
	case runtime == RuntimeWasm:
		return ": it has no files and no processes, its standard output is its result, and what it writes costs fuel"
	case f.name == "fuel":
		return ": what it may compute is limits.cpu_seconds"
	}
	return ""
}

var limitFields = []limitField{
	{"cpu_seconds", func(l *Limits) *int64 { return &l.CPUSeconds }, false, RuntimePython3},
	{"wall_seconds", func(l *Limits) *int64 { return &l.WallSeconds }, false, ""},
	{"memory_bytes", func(l *Limits) *int64 { return &l.MemoryBytes }, true, ""},
	{"output_bytes", func(l *Limits) *int64 { return &l.OutputBytes }, true, ""},
	{"stdout_bytes", func(l *Limits) *int64 { return &l.StdoutBytes }, true, RuntimePython3},
	{"stderr_bytes", func(l *Limits) *int64 { return &l.StderrBytes }, true, RuntimePython3},
	{"disk_bytes", func(l *Limits) *int64 { return &l.DiskBytes }, true, RuntimePython3},
	{"inodes", func(l *Limits) *int64 { return &l.Inodes }, false, RuntimePython3},
	{"files", func(l *Limits) *int64 { return &l.Files }, false, RuntimePython3},
	{"artifact_bytes", func(l *Limits) *int64 { return &l.ArtifactBytes }, true, RuntimePython3},
	{"pids", func(l *Limits) *int64 { return &l.Pids }, false, RuntimePython3},
	{"open_files", func(l *Limits) *int64 { return &l.OpenFiles }, false, RuntimePython3},
	{"fuel", func(l *Limits) *int64 { return &l.Fuel }, false, RuntimeWasm},
}

func (l *Limits) check(runtime string) error {
	least, most := MinLimits(), MaxLimits()
	if runtime == RuntimeWasm {
		least, most = WasmMinLimits(), WasmMaxLimits()
		if l.MemoryBytes%pageBytes != 0 {
			return fmt.Errorf("limits.memory_bytes = %d: a module's memory is a multiple of 64Ki", l.MemoryBytes)
		}
	}
	for _, f := range limitFields {
		if !f.isFor(runtime) {
			continue
		}
		n, lo, hi := *f.of(l), *f.of(&least), *f.of(&most)
		if n < lo || n > hi {
			show := func(n int64) string { return fmt.Sprint(n) }
			if f.bytes {
				show = FormatBytes
			}
			return fmt.Errorf("limits.%s = %s: from %s to %s are allowed", f.name, show(n), show(lo), show(hi))
		}
	}
	return nil
}
