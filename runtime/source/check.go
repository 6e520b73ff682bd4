package source

import (
	"context"
	_ "embed"
	"fmt"
)

// Kinds of faults.
const (
	KindSyntax  = "syntax"  // a file is not Python
	KindHandler = "handler" // the entry module has no such callable
	KindImport  = "import"  // a module that is neither in the standard library nor in the bundle
)

// maxFaults is how many faults are named: more than anybody reads.
const maxFaults = 20

// Fault is what keeps a function from starting, or is likely to.
type Fault struct {
	Path string `json:"path"`
	Line int    `json:"line"` // 0: the whole file
	Kind string `json:"kind"`
	// Detail is the parser's message, the callable that is missing, or the module that is.
	Detail string `json:"detail"`
	// Near is the callable that may be meant; "" for none.
	Near string `json:"near"`
	// Sure says that no agent runs the function. It is false for modules that an agent with another interpreter may have.
	Sure bool `json:"sure"`
}

// String says what is wrong, and where.
func (f Fault) String() string {
	switch f.Kind {
	case KindSyntax:
		return fmt.Sprintf("%s:%d is not Python: %s", f.Path, f.Line, f.Detail)
	case KindHandler:
		return fmt.Sprintf("%s has no %s", f.Path, f.Detail)
	default:
		return fmt.Sprintf("%s:%d imports %s, which is neither in the folder nor in Python's standard library", f.Path, f.Line, f.Detail)
	}
}

// Entry is where a function begins.
type Entry struct {
	// Files are the possible paths of the entry, in the order in which they are looked for.
	Files []string `json:"files"`
	// Callable is what the entry must have; "" for a script.
	Callable string `json:"callable"`
}

//go:embed check.py
var checkProgram string

// Check reads the files that the entry imports, itself included. It finds nothing in what only running the code would tell: a name that
// is made at run time passes.
func Check(ctx context.Context, interpreter string, files map[string]string, entry Entry) ([]Fault, error) {
	var faults []Fault
	err := Ask(ctx, interpreter, checkProgram, map[string]any{"files": files, "entry": entry}, &faults)
	return faults[:min(len(faults), maxFaults)], err
}
