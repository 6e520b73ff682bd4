package precheck

import "github.com/ostraka/ostraka/wasm/internal/bytecode"

// The bounds of a module. They were set from what seven real guests need (Go,
// Rust, C, AssemblyScript, a JavaScript engine) with room to spare, and from
// modules made to hurt: a 5.6 KB module of 1,000 locals in 100 nested loops
// compiles for 18 seconds. They give an early and clear message; the guarantee
// is the compile deadline and the memory limit of the runner.
const (
	// MaxModuleBytes is the size of a module in bytes: Go programs with
	// encoding/json take 3.2 MB, a whole JavaScript engine 0.9 MB.
	MaxModuleBytes = 8 << 20
	// MaxFunctions counts defined functions: 20,000 small ones compile in a second.
	MaxFunctions = 20_000
	// MaxTypes counts function types; every one is kept in memory by the compiler.
	MaxTypes = 10_000
	// MaxParams counts parameters, and results, of one function type: they
	// are locals and registers to the compiler.
	MaxParams = 128
	// MaxImports counts imported functions; the list of what may be imported
	// has fewer, linkers may repeat one.
	MaxImports = 64
	// MaxExports counts exports; a command needs two, linkers add some.
	MaxExports = 1_000
	// MaxName is the length in bytes of an imported or exported name.
	MaxName = bytecode.MaxName
	// MaxBody is the size in bytes of one function body: compile time grows
	// with its square (168 KB 0.5 s, 839 KB 6.7 s).
	MaxBody = 256 << 10
	// MaxLocals counts locals and parameters of one function: they are one
	// number in the file and memory in the compiler (32 GiB in 56 bytes).
	MaxLocals = 2_000
	// MaxTotalLocals counts the locals of all functions: 1,000 functions of
	// 50,000 locals are 9 KB of module and 400 MB of compiler.
	MaxTotalLocals = 1_000_000
	// MaxNesting is the depth of nested blocks in one function (a Go guest
	// has 549; 10,000 compile for 7 s).
	MaxNesting = 1_000
	// MaxLoopNesting is the depth of nested loops in one function (guests
	// have 10; 1,000 compile for 1 s, 5,000 for 33 s).
	MaxLoopNesting = 32
	// MaxBranchTable counts the targets of one br_table (a Go guest has 964;
	// a million compile for more than a minute).
	MaxBranchTable = 4_096
	// MaxLoopLocals bounds loops times locals of one function, which is what
	// the register allocator's time follows (guests have 3,871).
	MaxLoopLocals = 20_000
	// MaxTableEntries counts the entries of all tables together: a table is
	// not covered by the memory limit.
	MaxTableEntries = 65_536
	// MaxElements counts the entries of all element segments together.
	MaxElements = 65_536
	// MaxGlobals counts globals.
	MaxGlobals = 10_000
	// MaxDataSegments counts data segments; their bytes are bounded by the module's size.
	MaxDataSegments = 100_000
	// MaxSections counts sections, custom ones included.
	MaxSections = 1_000
)
