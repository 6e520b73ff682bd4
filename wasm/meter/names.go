package meter

import (
	"fmt"

	"github.com/ostraka/ostraka/wasm/internal/bytecode"
)

// keepNames reads the names of functions out of a custom section. Names are for
// people: a section that does not parse only means that there are none.
func (m *rewriter) keepNames(s bytecode.Reader) {
	names := map[uint32]string{}
	defer func() {
		switch r := recover().(type) {
		case nil:
			m.names = names
		case *bytecode.Malformed:
		default:
			panic(r)
		}
	}()
	if s.Name() != "name" {
		names = m.names
		return
	}
	for !s.AtEnd() {
		id := s.Byte()
		sub := s.Sub(s.U32(), "")
		if id != bytecode.SubFunctionNames {
			continue
		}
		for range sub.U32() {
			index := sub.U32()
			names[index] = sub.Name()
		}
	}
}

// nameSection names every function, so that traps tell the original's names
// or, where it has none, the original's numbers.
func (m *rewriter) nameSection() []byte {
	var items []byte
	count := uint64(0)
	add := func(index uint64, name string) {
		items = bytecode.AppendName(bytecode.AppendU(items, index), name)
		count++
	}
	add(m.tick(), ImportTick)
	for i := range m.functions {
		original := uint32(len(m.imports) + i)
		name, ok := m.names[original]
		if !ok {
			name = fmt.Sprintf("$%d", original)
		}
		add(uint64(original)+1, name)
	}
	for i, name := range m.imports {
		add(m.wrapper(uint32(i)), name)
	}
	if m.start {
		add(m.startWrapper(), "start")
	}
	content := bytecode.AppendName(nil, "name")
	return bytecode.AppendSection(content, bytecode.SubFunctionNames, counted(count, items))
}
