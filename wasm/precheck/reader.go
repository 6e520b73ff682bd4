package precheck

import "github.com/ostraka/ostraka/wasm/internal/bytecode"

// reader is a bytecode.Reader that knows the rules.
type reader struct{ bytecode.Reader }

// sub returns a reader over the next n bytes and steps over them.
func (r *reader) sub(n uint32, where string) reader { return reader{r.Sub(n, where)} }

// count reads how many things follow. Each takes at least one byte, so more
// than the bytes that are left is a lie; more than max breaks the rule.
func (r *reader) count(rule Rule, max int, things string) int {
	n := r.U32()
	if uint64(n) > uint64(max) {
		refuse(rule, r.Where, "%d %s; at most %d are allowed", n, things, max)
	}
	if uint64(n) > uint64(r.Left()) {
		r.Fail("%d %s are announced at offset %d and %d bytes are left", n, things, r.Pos, r.Left())
	}
	return int(n)
}
