// Package precheck reads the bytes of a stranger's WebAssembly module and
// refuses, before any compiler sees it, one that would cost too much to compile
// or to start, or that uses what the contract ostraka-wasm/1 does not offer.
//
// It is a bounded reader, not a validator: it decodes every section and every
// instruction far enough to count them, and leaves typing to the compiler,
// which runs in a process that may be killed. It never allocates more than a
// small multiple of the module's own size and never recurses.
package precheck

import (
	"fmt"

	"github.com/ostraka/ostraka/wasm/internal/bytecode"
)

// Version numbers this set of rules. It is part of the compile cache's key, so
// that a module that was compiled under older rules is checked again.
const Version = 2

// Options are the bounds that depend on how a module will be run.
type Options struct {
	// MemoryPages is the largest memory, in pages of 64 KiB, that the runner
	// will grant. A module that declares a larger minimum is refused.
	MemoryPages uint32
}

// Info is what was counted in a module that passed.
type Info struct {
	Size           int      // bytes
	Functions      int      // defined, without imports
	Imports        []string // names imported from wasi_snapshot_preview1
	MemoryMinPages uint32   // declared minimum, in pages of 64 KiB
	MaxBody        int      // bytes of the largest function body
	MaxLocals      int      // most locals in one function, parameters included
	MaxNesting     int      // deepest nesting of blocks
	MaxLoopNesting int      // deepest nesting of loops
	MaxBranchTable int      // longest br_table
	MaxLoopLocals  int      // largest product of loops and locals in one function
	TotalLocals    int      // locals of all functions together
}

// Check reads a module and returns what it holds, or a *Refusal that names the
// rule that was broken, what was found and where.
func Check(module []byte, opt Options) (info Info, err error) {
	c := &checker{opt: opt}
	defer func() {
		switch r := recover().(type) {
		case nil:
		case *Refusal:
			r.Offset = c.offset()
			info, err = Info{}, r
		case *bytecode.Malformed: // which tells the offset itself
			info, err = Info{}, &Refusal{Rule: RuleMalformed, Where: r.Where, What: r.What}
		default:
			panic(r)
		}
	}()
	if len(module) > MaxModuleBytes {
		refuse(RuleSize, "", "the module is %d bytes; at most %d are allowed", len(module), MaxModuleBytes)
	}
	checkMagic(module)
	c.r = reader{bytecode.Reader{Buf: module, Pos: len(magic) + len(version)}}
	c.info.Size = len(module)
	c.readSections()
	c.at = nil
	c.checkContract()
	return c.info, nil
}

var (
	magic   = []byte{0x00, 'a', 's', 'm'}
	version = []byte{0x01, 0x00, 0x00, 0x00}
	// component is the version field of the component model's binary format.
	component = []byte{0x0d, 0x00, 0x01, 0x00}
)

func checkMagic(module []byte) {
	if len(module) < len(magic)+len(version) || string(module[:4]) != string(magic) {
		refuse(RuleMagic, "", "this is not a WebAssembly module: it does not start with \\0asm")
	}
	switch v := module[4:8]; string(v) {
	case string(version):
	case string(component):
		refuse(RuleComponent, "", "this is a WebAssembly component; build a core module for WASI preview 1 instead (target wasm32-wasi or wasm32-wasip1)")
	default:
		refuse(RuleMagic, "", "WebAssembly binary version %x is not supported; version 1 is", v)
	}
}

// checker holds what the sections read so far have declared.
type checker struct {
	opt  Options
	r    reader
	at   *reader // the section or body that is being read
	info Info

	types     []funcType
	imported  []uint32 // type index of each imported function
	functions []uint32 // type index of each defined function
	memories  int
	tables    uint64 // entries of all tables together
	bodies    int
	exports   map[string]export
	elements  uint64 // entries of all element segments together
}

// offset is how far the reading came; 0 outside of the sections.
func (c *checker) offset() int {
	if c.at == nil {
		return 0
	}
	return c.at.Pos
}

// checkContract checks what only the whole module can tell.
func (c *checker) checkContract() {
	if c.bodies != len(c.functions) {
		refuse(RuleMalformed, "section code", "%d functions are declared and %d have a body", len(c.functions), c.bodies)
	}
	if c.memories == 0 {
		refuse(RuleMemory, "", "the module has no memory; the contract needs one, exported as \"memory\"")
	}
	if e, ok := c.exports["memory"]; !ok || e.kind != bytecode.KindMemory {
		refuse(RuleExportMemory, "", "the module does not export its memory as \"memory\"")
	}
	e, ok := c.exports["_start"]
	if !ok || e.kind != bytecode.KindFunction {
		refuse(RuleExportStart, "", "the module does not export a function \"_start\"; build a command, not a library (reactor)")
	}
	t, ok := c.typeOf(e.index)
	if !ok || len(t.params)+len(t.results) != 0 {
		refuse(RuleExportStart, "export _start", "the function \"_start\" must take nothing and return nothing")
	}
}

// typeOf returns the type of a function, imported or defined.
func (c *checker) typeOf(function uint32) (funcType, bool) {
	var t uint32
	switch i, n := int(function), len(c.imported); {
	case i < n:
		t = c.imported[i]
	case i-n < len(c.functions):
		t = c.functions[i-n]
	default:
		return funcType{}, false
	}
	if int(t) >= len(c.types) {
		return funcType{}, false
	}
	return c.types[t], true
}

// nameOf describes a function for a refusal: its index and, where the name
// section or an export has one, its name.
func (c *checker) nameOf(function uint32) string {
	name := functionName(c.r.Buf, function)
	if name == "" {
		for n, e := range c.exports {
			if e.kind == bytecode.KindFunction && e.index == function && (name == "" || n < name) {
				name = n
			}
		}
	}
	if name == "" {
		return fmt.Sprintf("function %d", function)
	}
	return fmt.Sprintf("function %d (%s)", function, printable(name))
}
