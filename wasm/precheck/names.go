package precheck

// Subsection of the custom section "name" that holds function names.
const subFunctionNames = 1

// functionName looks a function up in the module's name section. It is only
// called to write a refusal; whatever does not parse means no name.
func functionName(module []byte, function uint32) (name string) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case *Refusal:
			name = ""
		default:
			panic(r)
		}
	}()
	r := reader{buf: module, pos: len(magic) + len(version)}
	for !r.atEnd() {
		id := r.byte()
		s := r.sub(r.u32(), "")
		if id == secCustom && s.name() == "name" {
			return findName(&s, function)
		}
	}
	return ""
}

func findName(s *reader, function uint32) string {
	for !s.atEnd() {
		id := s.byte()
		sub := s.sub(s.u32(), "")
		if id != subFunctionNames {
			continue
		}
		for range sub.u32() {
			if sub.u32() == function {
				return sub.name()
			}
			sub.name()
		}
	}
	return ""
}
