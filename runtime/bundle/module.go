package bundle

import (
	"fmt"

	"github.com/ostraka/ostraka/wasm/precheck"
)

// pageBytes is the unit of a module's memory.
const pageBytes = 64 << 10

const (
	// DefaultFuel is what a function in WebAssembly may compute when its manifest says nothing, in units of package meter: half a minute
	// to two minutes of a processor.
	DefaultFuel = 200_000_000_000
	// MaxFuel is the most that it may ask for: an empty loop, which uses the least units a second, is at it for nearly the two hours that a
	// shard may take.
	MaxFuel = 4_000_000_000_000
	// MaxModuleMemoryBytes is the largest memory of such a function.
	MaxModuleMemoryBytes = 1 << 30
	// DefaultModuleMemoryBytes is its memory when its manifest says nothing.
	DefaultModuleMemoryBytes = 64 << 20
)

// WasmDefaultLimits are the limits of a function in WebAssembly that states none. It has no files and one thread, and its standard
// output is its result.
func WasmDefaultLimits() Limits {
	return Limits{WallSeconds: 120, MemoryBytes: DefaultModuleMemoryBytes, OutputBytes: 1 << 20, Pids: 1, OpenFiles: 16, Fuel: DefaultFuel}
}

// WasmMaxLimits are the hard maxima of those that such a function has.
func WasmMaxLimits() Limits {
	l := MaxLimits()
	return Limits{WallSeconds: l.WallSeconds, MemoryBytes: MaxModuleMemoryBytes, OutputBytes: l.OutputBytes, Fuel: MaxFuel}
}

// WasmMinLimits are the least that make sense: a module has a page of memory.
func WasmMinLimits() Limits {
	return Limits{WallSeconds: 1, MemoryBytes: pageBytes, OutputBytes: 2, Fuel: 1}
}

func defaultLimitsOf(runtime string) Limits {
	if runtime == RuntimeWasm {
		return WasmDefaultLimits()
	}
	return DefaultLimits()
}

// Module is the module of a function in WebAssembly, which must not be changed; nil where the function is none.
func (b *Bundle) Module() []byte { return b.module }

// checkModule refuses a module that no runner takes: what it imports, its size and that of its parts, and the memory that it begins with.
func (b *Bundle) checkModule(module []byte) error {
	if _, err := precheck.Check(module, precheck.Options{MemoryPages: uint32(b.Manifest.Limits.MemoryBytes / pageBytes)}); err != nil {
		return fmt.Errorf("%s: %w", b.Manifest.Entry, err)
	}
	b.module = module
	return nil
}
