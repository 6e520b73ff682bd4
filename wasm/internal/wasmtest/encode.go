// Package wasmtest writes small WebAssembly modules for tests: the hostile and
// broken ones that no compiler would produce.
package wasmtest

import "github.com/ostraka/ostraka/wasm/internal/bytecode"

// Value types.
const (
	I32 = 0x7f
	I64 = 0x7e
)

// U encodes an unsigned LEB128 number.
func U(n uint64) []byte { return bytecode.AppendU(nil, n) }

// S encodes a signed LEB128 number.
func S(n int64) []byte { return bytecode.AppendS(nil, n) }

// Cat joins instructions and other pieces.
func Cat(parts ...[]byte) []byte {
	var b []byte
	for _, p := range parts {
		b = append(b, p...)
	}
	return b
}

// Vec encodes a vector: the number of items, then the items.
func Vec(items ...[]byte) []byte { return append(U(uint64(len(items))), Cat(items...)...) }

// Name encodes a name or any other counted bytes.
func Name(s string) []byte { return append(U(uint64(len(s))), s...) }

// Section encodes one section.
func Section(id byte, content []byte) []byte {
	return Cat([]byte{id}, U(uint64(len(content))), content)
}

// Func is one function: its type's index, its groups of locals and its
// instructions, without the final end.
type Func struct {
	Type   uint32
	Locals []byte // an encoded vector; empty means none
	Code   []byte
}

// Module is a module under construction. Empty fields leave their section out.
type Module struct {
	Types   [][]byte // encoded with Type
	Imports [][]byte // encoded with Import
	Funcs   []Func
	Table   []byte // content of the table section
	Memory  []byte // content of the memory section
	Globals []byte // content of the global section
	Exports [][]byte
	Start   []byte // content of the start section
	Elems   []byte
	Data    [][]byte
	Custom  []byte // whole sections, appended at the end
}

// Type encodes a function type.
func Type(params, results []byte) []byte {
	return Cat([]byte{0x60}, Name(string(params)), Name(string(results)))
}

// Import encodes the import of a function.
func Import(module, name string, typ uint32) []byte {
	return Cat(Name(module), Name(name), []byte{0}, U(uint64(typ)))
}

// Export encodes an export.
func Export(name string, kind byte, index uint32) []byte {
	return Cat(Name(name), []byte{kind}, U(uint64(index)))
}

// Data encodes an active data segment of memory 0.
func Data(offset int32, content string) []byte {
	return Cat([]byte{0, 0x41}, S(int64(offset)), []byte{0x0b}, Name(content))
}

// Header is the magic and the version of a core module.
var Header = []byte{0, 'a', 's', 'm', 1, 0, 0, 0}

// Bytes encodes the module.
func (m Module) Bytes() []byte {
	b := append([]byte{}, Header...)
	section := func(id byte, content []byte) {
		if len(content) > 0 {
			b = append(b, Section(id, content)...)
		}
	}
	vector := func(id byte, items [][]byte) {
		if len(items) > 0 {
			section(id, Vec(items...))
		}
	}
	var types, bodies [][]byte
	for _, f := range m.Funcs {
		locals := f.Locals
		if len(locals) == 0 {
			locals = []byte{0}
		}
		types = append(types, U(uint64(f.Type)))
		bodies = append(bodies, Name(string(Cat(locals, f.Code, []byte{0x0b}))))
	}
	vector(1, m.Types)
	vector(2, m.Imports)
	vector(3, types)
	section(4, m.Table)
	section(5, m.Memory)
	section(6, m.Globals)
	vector(7, m.Exports)
	section(8, m.Start)
	section(9, m.Elems)
	vector(10, bodies)
	vector(11, m.Data)
	return append(b, m.Custom...)
}

// Signatures of the imports that Command declares, and of functions in it.
const (
	TypeVoid  = 0 // () -> ()
	TypeFdRW  = 1 // (i32 i32 i32 i32) -> i32: fd_read, fd_write
	TypeExit  = 2 // (i32) -> (): proc_exit
	TypeInt   = 3 // (i32) -> i32
	FdRead    = 0 // function indexes
	FdWrite   = 1
	ProcExit  = 2
	FirstFunc = 3
)

// Command is a module that keeps the contract: it imports fd_read, fd_write and
// proc_exit, has one page of memory that may grow, and exports what it must.
// The code of _start is given.
func Command(start []byte) Module {
	return Module{
		Types: [][]byte{
			Type(nil, nil),
			Type([]byte{I32, I32, I32, I32}, []byte{I32}),
			Type([]byte{I32}, nil),
			Type([]byte{I32}, []byte{I32}),
		},
		Imports: [][]byte{
			Import("wasi_snapshot_preview1", "fd_read", TypeFdRW),
			Import("wasi_snapshot_preview1", "fd_write", TypeFdRW),
			Import("wasi_snapshot_preview1", "proc_exit", TypeExit),
		},
		Funcs:   []Func{{Type: TypeVoid, Code: start}},
		Memory:  []byte{1, 0, 1},
		Exports: [][]byte{Export("memory", 2, 0), Export("_start", 0, FirstFunc)},
	}
}

// Const pushes an i32.
func Const(n int32) []byte { return append([]byte{0x41}, S(int64(n))...) }

// Call calls a function.
func Call(index uint32) []byte { return append([]byte{0x10}, U(uint64(index))...) }

// Drop drops the top of the stack.
var Drop = []byte{0x1a}

// Forever repeats the code without end.
func Forever(code []byte) []byte {
	return Cat([]byte{0x03, 0x40}, code, []byte{0x0c, 0x00, 0x0b})
}

// Write writes the memory at offset to a descriptor, once, through an iovec
// that it places at address 0.
func Write(fd, offset, size int32) []byte {
	store := func(at, v int32) []byte { return Cat(Const(at), Const(v), []byte{0x36, 2, 0}) }
	return Cat(store(0, offset), store(4, size),
		Const(fd), Const(0), Const(1), Const(8), Call(FdWrite), Drop)
}

// Exit ends the module with a code.
func Exit(code int32) []byte { return Cat(Const(code), Call(ProcExit)) }

// textAt is where Print keeps its text.
const textAt = 1024

// Print is a command that writes a text to stdout and ends normally.
func Print(text string) Module {
	m := Command(Write(1, textAt, int32(len(text))))
	m.Data = [][]byte{Data(textAt, text)}
	m.Memory = []byte{1, 0}
	m.Memory = append(m.Memory, U(uint64(1+(textAt+len(text))>>16))...)
	return m
}
