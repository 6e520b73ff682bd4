package precheck

import "github.com/ostraka/ostraka/wasm/internal/bytecode"

// functionName looks a function up in the module's name section. It is only
// called to write a refusal; whatever does not parse means no name.
func functionName(module []byte, function uint32) (name string) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case *bytecode.Malformed:
			name = ""
		default:
			panic(r)
		}
	}()
	r := reader{bytecode.Reader{Buf: module, Pos: len(magic) + len(version)}}
	for !r.AtEnd() {
		id := r.Byte()
		s := r.sub(r.U32(), "")
		if id == bytecode.SecCustom && s.Name() == "name" {
			return findName(&s, function)
		}
	}
	return ""
}

func findName(s *reader, function uint32) string {
	for !s.AtEnd() {
		id := s.Byte()
		sub := s.sub(s.U32(), "")
		if id != bytecode.SubFunctionNames {
			continue
		}
		for range sub.U32() {
			if sub.U32() == function {
				return sub.Name()
			}
			sub.Name()
		}
	}
	return ""
}
