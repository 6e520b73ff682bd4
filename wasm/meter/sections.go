package meter

import (
	"strings"

	"github.com/ostraka/ostraka/wasm/internal/bytecode"
)

// counted puts a count before what was appended so far.
func counted(n uint64, items []byte) []byte {
	return append(bytecode.AppendU(make([]byte, 0, len(items)+5), n), items...)
}

func (m *rewriter) rewriteTypes() []byte {
	s, n := m.section(bytecode.SecType)
	from := s.Pos
	for range n {
		if s.Byte() != 0x60 {
			refuse("a type is not a function type")
		}
		params := s.Bytes(s.U32())
		m.types = append(m.types, funcType{params: params, results: s.Bytes(s.U32())})
	}
	items := append([]byte(nil), s.Buf[from:s.Pos]...)
	items = append(items, 0x60, 1, bytecode.I64, 1, bytecode.I64) // Tick
	items = append(items, 0x60, 0, 0)
	return counted(uint64(n)+2, items)
}

func (m *rewriter) rewriteImports() []byte {
	s, n := m.section(bytecode.SecImport)
	from := s.Pos
	for range n {
		module, name := s.Name(), s.Name()
		if module == ImportModule {
			refuse("%q may not be imported from", module)
		}
		if s.Byte() != bytecode.KindFunction {
			refuse("%q is imported and is not a function", name)
		}
		t := s.U32()
		m.checkType(t)
		m.imports, m.importOf = append(m.imports, name), append(m.importOf, t)
	}
	items := append([]byte(nil), s.Buf[from:s.Pos]...)
	items = bytecode.AppendName(bytecode.AppendName(items, ImportModule), ImportTick)
	items = bytecode.AppendU(append(items, bytecode.KindFunction), m.tickType())
	return counted(uint64(n)+1, items)
}

func (m *rewriter) rewriteFunctions() []byte {
	s, n := m.section(bytecode.SecFunction)
	var items []byte
	for range n {
		t := s.U32()
		m.checkType(t)
		m.functions = append(m.functions, t)
		items = bytecode.AppendU(items, uint64(t))
	}
	// The wrappers, and after them the start function's.
	for _, t := range m.importOf {
		items = bytecode.AppendU(items, uint64(t))
	}
	count := uint64(n) + uint64(len(m.imports))
	if m.start {
		m.function(m.startAt)
		items = bytecode.AppendU(items, m.voidType())
		count++
	}
	return counted(count, items)
}

func (m *rewriter) startWrapper() uint64 { return m.wrapper(uint32(len(m.imports))) }

func (m *rewriter) rewriteGlobals() []byte {
	s, n := m.section(bytecode.SecGlobal)
	var items []byte
	for range n {
		items = append(items, s.Byte(), s.Byte()) // type, mutability
		items = m.constant(s, items)
		m.globals++ // an initial value may name those before it
	}
	items = append(items, bytecode.I64, 1, bytecode.OpI64Const, 0, bytecode.OpEnd)
	return counted(uint64(n)+1, items)
}

func (m *rewriter) rewriteExports() []byte {
	s, n := m.section(bytecode.SecExport)
	var items []byte
	for range n {
		name := s.Name()
		if strings.HasPrefix(name, Reserved) {
			refuse("the export %q begins with %q, which is reserved for the host", name, Reserved)
		}
		kind, index := s.Byte(), s.U32()
		to := uint64(index)
		switch kind {
		case bytecode.KindFunction:
			to = m.function(index)
		case bytecode.KindGlobal:
			m.checkGlobal(index)
		}
		items = bytecode.AppendU(append(bytecode.AppendName(items, name), kind), to)
	}
	count := uint64(n) + 1
	items = bytecode.AppendU(append(bytecode.AppendName(items, ExportFuel), bytecode.KindGlobal), m.fuel())
	if m.start {
		items = bytecode.AppendU(append(bytecode.AppendName(items, ExportStart), bytecode.KindFunction), m.startWrapper())
		count++
	}
	return counted(count, items)
}

// constant copies the initial value of a global, the offset of a segment or an
// element, to its end.
func (m *rewriter) constant(s *bytecode.Reader, to []byte) []byte {
	for {
		from := s.Pos
		switch op := s.Byte(); op {
		case bytecode.OpEnd:
			return append(to, op)
		case bytecode.OpGlobalGet:
			index := s.U32()
			m.checkGlobal(index)
			to = bytecode.AppendU(append(to, op), uint64(index))
			continue
		case bytecode.OpRefFunc:
			to = bytecode.AppendU(append(to, op), m.function(s.U32()))
			continue
		case bytecode.OpI32Const, bytecode.OpI64Const, 0x43, 0x44, bytecode.OpRefNull:
			s.Skip(bytecode.Instructions[op])
		case bytecode.OpVector:
			s.Skip(bytecode.VectorShape(min(s.U32(), bytecode.MaxVector)))
		default:
			refuse("instruction 0x%02x in a constant expression is not supported", op)
		}
		to = append(to, s.Buf[from:s.Pos]...)
	}
}

func (m *rewriter) rewriteElements() []byte {
	s, n := m.section(bytecode.SecElement)
	if n == 0 {
		return nil
	}
	var items []byte
	for range n {
		flags := s.U32()
		if flags > 7 {
			refuse("an element segment has flags %d", flags)
		}
		items = bytecode.AppendU(items, uint64(flags))
		passive, explicit, exprs := flags&1 != 0, flags&2 != 0, flags&4 != 0
		if !passive && explicit {
			items = bytecode.AppendU(items, uint64(s.U32())) // table
		}
		if !passive {
			items = m.constant(s, items)
		}
		if passive || explicit {
			items = append(items, s.Byte()) // element kind or type
		}
		count := s.U32()
		items = bytecode.AppendU(items, uint64(count))
		for range count {
			if exprs {
				items = m.constant(s, items)
			} else {
				items = bytecode.AppendU(items, m.function(s.U32()))
			}
		}
	}
	return counted(uint64(n), items)
}

func (m *rewriter) rewriteData() []byte {
	s, n := m.section(bytecode.SecData)
	if n == 0 {
		return nil
	}
	items := make([]byte, 0, s.Left())
	for range n {
		flags := s.U32()
		items = bytecode.AppendU(items, uint64(flags))
		switch flags {
		case 0:
			items = m.constant(s, items)
		case 1:
		case 2:
			items = bytecode.AppendU(items, uint64(s.U32())) // memory
			items = m.constant(s, items)
		default:
			refuse("a data segment has flags %d", flags)
		}
		items = bytecode.AppendName(items, s.Bytes(s.U32()))
	}
	return counted(uint64(n), items)
}
