package bundle

import "fmt"

// Limits are what one shard of the function may use. Every field has a default
// and a hard maximum.
type Limits struct {
	CPUSeconds  int64 `json:"cpu_seconds"`  // processor time of one process
	WallSeconds int64 `json:"wall_seconds"` // time on the clock, for a shard and for importing the bundle
	MemoryBytes int64 `json:"memory_bytes"` // private memory of one process
	OutputBytes int64 `json:"output_bytes"` // the result as canonical JSON
	StdoutBytes int64 `json:"stdout_bytes"` // how much of the end of stdout is kept
	StderrBytes int64 `json:"stderr_bytes"` // how much of the end of stderr is kept
	DiskBytes   int64 `json:"disk_bytes"`   // one file, and all files under $OSTRAKA_OUTPUT together
	Files       int64 `json:"files"`        // files under $OSTRAKA_OUTPUT
	Pids        int64 `json:"pids"`         // processes at a time
}

// MaxTailBytes is the most of a shard's stdout or stderr that is kept.
const MaxTailBytes = 4 << 10

// DefaultLimits are the limits of a function that states none.
func DefaultLimits() Limits {
	return Limits{
		CPUSeconds:  60,
		WallSeconds: 120,
		MemoryBytes: 256 << 20,
		OutputBytes: 1 << 20,
		StdoutBytes: MaxTailBytes,
		StderrBytes: MaxTailBytes,
		DiskBytes:   64 << 20,
		Files:       100,
		Pids:        32,
	}
}

// MaxLimits are the hard maxima. An hour of CPU is a shard too large to lose;
// 16 MiB of result is what the server still holds in memory per attempt; 100
// files are what a result lists.
func MaxLimits() Limits {
	return Limits{
		CPUSeconds:  3600,
		WallSeconds: 7200,
		MemoryBytes: 16 << 30,
		OutputBytes: 16 << 20,
		StdoutBytes: MaxTailBytes,
		StderrBytes: MaxTailBytes,
		DiskBytes:   10 << 30,
		Files:       100,
		Pids:        512,
	}
}

// MinLimits are the least that makes sense: below 64 MiB no interpreter starts.
func MinLimits() Limits {
	return Limits{
		CPUSeconds: 1, WallSeconds: 1, MemoryBytes: 64 << 20, OutputBytes: 2,
		StdoutBytes: 0, StderrBytes: 0, DiskBytes: 0, Files: 0, Pids: 1,
	}
}

// limitField is one limit by its name in function.toml.
type limitField struct {
	name  string
	of    func(*Limits) *int64
	bytes bool // a size, which may be written "256Mi"
}

var limitFields = []limitField{
	{"cpu_seconds", func(l *Limits) *int64 { return &l.CPUSeconds }, false},
	{"wall_seconds", func(l *Limits) *int64 { return &l.WallSeconds }, false},
	{"memory_bytes", func(l *Limits) *int64 { return &l.MemoryBytes }, true},
	{"output_bytes", func(l *Limits) *int64 { return &l.OutputBytes }, true},
	{"stdout_bytes", func(l *Limits) *int64 { return &l.StdoutBytes }, true},
	{"stderr_bytes", func(l *Limits) *int64 { return &l.StderrBytes }, true},
	{"disk_bytes", func(l *Limits) *int64 { return &l.DiskBytes }, true},
	{"files", func(l *Limits) *int64 { return &l.Files }, false},
	{"pids", func(l *Limits) *int64 { return &l.Pids }, false},
}

func (l *Limits) check() error {
	least, most := MinLimits(), MaxLimits()
	for _, f := range limitFields {
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
