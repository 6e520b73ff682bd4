package meter

import (
	"fmt"
	"strings"

	"github.com/ostraka/ostraka/wasm/internal/bytecode"
)

// Refusal is why a module cannot be metered.
type Refusal struct{ Reason string }

// Error returns the reason.
func (r *Refusal) Error() string { return r.Reason }

func refuse(format string, args ...any) { panic(&Refusal{Reason: fmt.Sprintf(format, args...)}) }

// Instrument returns the module with a meter in it. The module must have passed
// the pre-check; an error is a *Refusal.
func Instrument(module []byte) (metered []byte, err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case *Refusal:
			err = r
		case *bytecode.Malformed:
			err = &Refusal{Reason: r.Error()}
		default:
			panic(r)
		}
	}()
	if !strings.HasPrefix(string(module[:min(len(module), len(bytecode.Header))]), bytecode.Header) {
		refuse("this is not a WebAssembly module")
	}
	m := &rewriter{}
	m.split(module)
	return m.rewrite(len(module)), nil
}

type funcType struct{ params, results []byte }

// rewriter holds what the original declares. Indexes in it are the original's.
type rewriter struct {
	sections [bytecode.SecDataCount + 1]*bytecode.Reader
	names    map[uint32]string // of functions, from the name section

	types     []funcType
	imports   []string // of imported functions, all from WASI
	importOf  []uint32 // their types
	functions []uint32 // types of defined functions
	globals   uint32
	start     bool
	startAt   uint32
}

// split finds the sections. Custom ones are dropped but for the names of
// functions, which make traps readable.
func (m *rewriter) split(module []byte) {
	r := bytecode.Reader{Buf: module, Pos: len(bytecode.Header)}
	for !r.AtEnd() {
		id := r.Byte()
		if id > bytecode.SecDataCount {
			refuse("section %d is unknown", id)
		}
		s := r.Sub(r.U32(), fmt.Sprintf("section %d", id))
		switch {
		case id == bytecode.SecCustom:
			m.keepNames(s)
		case m.sections[id] != nil:
			refuse("section %d is there twice", id)
		default:
			m.sections[id] = &s
		}
	}
}

// section returns the content of a section and its count; an absent one is empty.
func (m *rewriter) section(id int) (*bytecode.Reader, uint32) {
	s := m.sections[id]
	if s == nil {
		return &bytecode.Reader{}, 0
	}
	return s, s.U32()
}

// order is the order of sections in a file.
var order = [...]int{
	bytecode.SecType, bytecode.SecImport, bytecode.SecFunction, bytecode.SecTable, bytecode.SecMemory, bytecode.SecGlobal,
	bytecode.SecExport, bytecode.SecElement, bytecode.SecDataCount, bytecode.SecCode, bytecode.SecData,
}

func (m *rewriter) rewrite(size int) []byte {
	out := make([]byte, 0, size+size/2)
	out = append(out, bytecode.Header...)
	if s := m.sections[bytecode.SecStart]; s != nil {
		m.start, m.startAt = true, s.U32()
	}
	for _, id := range order {
		var content []byte
		switch id {
		case bytecode.SecType:
			content = m.rewriteTypes()
		case bytecode.SecImport:
			content = m.rewriteImports()
		case bytecode.SecFunction:
			content = m.rewriteFunctions()
		case bytecode.SecGlobal:
			content = m.rewriteGlobals()
		case bytecode.SecExport:
			content = m.rewriteExports()
		case bytecode.SecElement:
			content = m.rewriteElements()
		case bytecode.SecCode:
			content = m.rewriteCode()
		case bytecode.SecData:
			content = m.rewriteData()
		default:
			if s := m.sections[id]; s != nil {
				content = s.Bytes(uint32(s.Left()))
			}
		}
		if len(content) > 0 {
			out = bytecode.AppendSection(out, byte(id), content)
		}
	}
	for id, s := range m.sections {
		if s != nil && !s.AtEnd() {
			refuse("%d bytes are left over in section %d", s.Left(), id)
		}
	}
	return bytecode.AppendSection(out, bytecode.SecCustom, m.nameSection())
}

// Indexes in the rewritten module. Imports come first, so Tick moves all
// defined functions by one; whatever meant an import means its wrapper now.

func (m *rewriter) total() uint32 { return uint32(len(m.imports) + len(m.functions)) }

func (m *rewriter) tick() uint64 { return uint64(len(m.imports)) }

func (m *rewriter) wrapper(i uint32) uint64 { return uint64(m.total()) + 1 + uint64(i) }

// function translates an index, which must be one of the original's.
func (m *rewriter) function(i uint32) uint64 {
	switch {
	case i >= m.total():
		refuse("function %d is named; there are %d", i, m.total())
	case int(i) < len(m.imports):
		return m.wrapper(i)
	}
	return uint64(i) + 1
}

func (m *rewriter) checkGlobal(i uint32) {
	if i >= m.globals {
		refuse("global %d is named; there are %d", i, m.globals)
	}
}

func (m *rewriter) checkType(i uint32) {
	if int(i) >= len(m.types) {
		refuse("type %d is named; there are %d", i, len(m.types))
	}
}

// voidType and tickType are the two that the rewriter adds.
func (m *rewriter) tickType() uint64 { return uint64(len(m.types)) }
func (m *rewriter) voidType() uint64 { return uint64(len(m.types)) + 1 }

// fuel is the global that the rewriter adds.
func (m *rewriter) fuel() uint64 { return uint64(m.globals) }
