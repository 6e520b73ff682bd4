// Package meter rewrites a WebAssembly module so that it counts its own
// instructions and asks the host, now and then, whether it may continue.
//
// The count depends on the module and its input alone: it is the same number in
// every run and on every machine, which makes running out of fuel a verdict and
// not an accident. A guest that is asked to stop stops, be it in a loop or in a
// recursion without one, and the host's garbage collector gets a turn whenever
// the guest asks.
//
// How: a global of the module's own holds the rest of the current slice.
// Every basic block starts by taking its number of instructions from it. At
// loop headers, in functions that call others, and where one instruction works
// on many bytes, a negative rest calls the imported function Tick, which grants
// the next slice or ends the module. Calls of imported functions go through
// small wrappers that pay for them. A function with a loop keeps the rest in a
// local of its own, and gives it back to the global when it calls or ends.
//
// It also takes the one freedom from floats that WebAssembly leaves to the
// processor: which NaN an instruction makes (nan.go).
//
// The rewriter trusts nothing: the rewritten module must not name anything that
// the original could not name, or a guest could refuel itself.
package meter

// Version numbers what the rewriter makes. It is part of the compile cache's
// key; raise it with every change of the output or of a price.
const Version = 3

// What the host must offer, and what it finds in a rewritten module.
const (
	// ImportModule and ImportTick name the function (i64) -> (i64) that gets
	// the rest of the slice, a negative number, and returns the new one.
	ImportModule = "ostraka"
	ImportTick   = "tick"
	// ExportFuel is the mutable global i64 with the rest of the slice. It
	// starts at 0, so that the first function to run asks for more.
	ExportFuel = "ostraka:fuel"
	// ExportStart is the function of the module's start section, if it had
	// one: the host runs it after instantiation, so that it is metered and
	// its end can be told.
	ExportStart = "ostraka:start"
	// Reserved begins names that a module must not export itself.
	Reserved = "ostraka:"
)

// Prices in units. One unit is one instruction; end and else are none.
const (
	// BytesPerUnit is how many bytes memory.fill, copy and init move for a
	// unit: about what memory does while the processor works off one.
	BytesPerUnit = 8
	bytesShift   = 3
	// EntriesPerUnit is how many entries table.fill, copy and init move.
	EntriesPerUnit = 1
	// GrowUnits is the price of asking for memory, and GrowPageUnits of each
	// page of 64 KiB that is granted: its bytes must be made and cleared.
	GrowUnits     = 500
	GrowPageUnits = PageSize / BytesPerUnit
	// PageSize is the unit of WebAssembly's memory in bytes.
	PageSize = 64 << 10
	// HostCallUnits is the price of calling the host; what the call moves
	// comes on top.
	HostCallUnits = 500
)

// sized are the host calls whose work follows from an argument before a byte
// has moved, with the argument's position and the units for each of what it
// counts. What streams move is charged by the host.
var sized = map[string]struct {
	param uint64
	units int64
}{
	"fd_read":             {2, 16}, // io vectors
	"fd_write":            {2, 16}, // io vectors
	"poll_oneoff":         {2, 64}, // subscriptions
	"random_get":          {1, 2},  // bytes
	"path_open":           {3, 1},  // bytes of the path
	"path_filestat_get":   {3, 1},  // bytes of the path
	"fd_prestat_dir_name": {2, 1},  // bytes of the path
	"fd_readdir":          {2, 1},  // bytes of the buffer
}
