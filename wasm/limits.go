package wasm

import (
	"fmt"
	"time"
)

// Limits bound one batch of a module. Zero means the default.
type Limits struct {
	Memory  int64         // bytes of linear memory, in whole pages of 64 KiB
	Fuel    int64         // units of one batch: instructions, and what they move
	Wall    time.Duration // of one batch, its input and output included
	Compile time.Duration // of compiling a module, or loading a compiled one
	Output  int64         // bytes of stdout in all
	Line    int64         // bytes of one line, in and out
	Stderr  int           // bytes of stderr that are kept, the last ones
}

// What a batch may use: where nothing is stated, and at most.
const (
	// PageSize is the unit of WebAssembly's memory in bytes.
	PageSize = 64 << 10
	// DefaultMemory and MaxMemory bound linear memory in bytes: Go guests
	// need 8 MiB, an aggregation of a million results less than that.
	DefaultMemory = 256 << 20
	MaxMemory     = 1 << 30
	// DefaultFuel and MaxFuel bound a batch in units (package meter): real
	// guests use 3e9 to 9e9 a second, an empty loop 0.8e9. A page of results
	// takes 1e6 to 2e8, a million results at once 5e9 to 2e11.
	DefaultFuel = 20_000_000_000
	MaxFuel     = 400_000_000_000
	// CheckFuel bounds each batch of a check without records, in units: no
	// more than three seconds for the worst module that is pushed.
	CheckFuel = 2_000_000_000
	// DefaultWall and MaxWall bound a batch by the clock. Fuel ends what runs
	// too long, within half a minute of a processor; the clock is for a
	// machine that is overloaded, and for records that do not come.
	DefaultWall = 2 * time.Minute
	MaxWall     = 10 * time.Minute
	// WallGrace is how long a metered module may take to notice that its time
	// is over before its runner is killed.
	WallGrace = 2 * time.Second
	// DefaultCompile and MaxCompile bound compiling: the largest real guest
	// takes 1.3 s alone on a core.
	DefaultCompile = 30 * time.Second
	MaxCompile     = 2 * time.Minute
	// DefaultOutput and MaxOutput bound stdout in bytes: an aggregate is
	// kept in the database and sent to browsers.
	DefaultOutput = 8 << 20
	MaxOutput     = 64 << 20
	// DefaultLine bounds a line of records in bytes; a longer result is
	// passed by reference. The host holds a line in memory.
	DefaultLine = 1 << 20
	// MaxLine bounds a line in bytes where it may be longer than a record: the
	// partial or final of an aggregator is one line.
	MaxLine = 8 << 20
	// MaxLines bounds the lines of stdout of a batch: their reader keeps
	// each with some hundred bytes of its own, however short it is.
	MaxLines = 100_000
	// DefaultStderr and MaxStderr bound what is kept of stderr in bytes:
	// enough for a trace, little enough to store with each failure.
	DefaultStderr = 8 << 10
	MaxStderr     = 64 << 10
)

const (
	// compileData is RLIMIT_DATA of a compiling runner in bytes: the largest
	// module that passes the pre-check needs less than 400 MB.
	compileData = 1 << 30
	// compileFile is RLIMIT_FSIZE of a compiling runner in bytes: compiled
	// code takes three to four times the module's size.
	compileFile = 128 << 20
	// runSpare is what a runner may have beyond twice its guest's memory, in
	// bytes: the compiled code, the guest's native stack (135 MB) and our own.
	runSpare = 256 << 20
)

// DefaultLimits returns the limits that apply where none are set.
func DefaultLimits() Limits {
	return Limits{Memory: DefaultMemory, Fuel: DefaultFuel, Wall: DefaultWall, Compile: DefaultCompile, Output: DefaultOutput, Line: DefaultLine, Stderr: DefaultStderr}
}

// complete fills in the defaults and refuses what is beyond a hard maximum.
func (l Limits) complete() (Limits, error) {
	d := DefaultLimits()
	for _, f := range []struct {
		name       string
		value      *int64
		normal     int64
		least, max int64
	}{
		{"memory", &l.Memory, d.Memory, PageSize, MaxMemory},
		{"fuel", &l.Fuel, d.Fuel, 1, MaxFuel},
		{"output", &l.Output, d.Output, 1, MaxOutput},
		{"line", &l.Line, d.Line, 1, MaxLine},
		{"wall", (*int64)(&l.Wall), int64(d.Wall), 1, int64(MaxWall)},
		{"compile", (*int64)(&l.Compile), int64(d.Compile), 1, int64(MaxCompile)},
	} {
		if *f.value == 0 {
			*f.value = f.normal
		}
		if *f.value < f.least || *f.value > f.max {
			return l, fmt.Errorf("module limits: %s is %d; it must be between %d and %d", f.name, *f.value, f.least, f.max)
		}
	}
	if l.Stderr == 0 {
		l.Stderr = d.Stderr
	}
	if l.Stderr < 1 || l.Stderr > MaxStderr {
		return l, fmt.Errorf("module limits: stderr is %d; it must be between 1 and %d", l.Stderr, MaxStderr)
	}
	if l.Memory%PageSize != 0 {
		return l, fmt.Errorf("module limits: memory is %d; it must be a multiple of %d", l.Memory, PageSize)
	}
	return l, nil
}
