package precheck

import "unicode/utf8"

// reader walks over bytes that it does not trust. Every read is checked; one
// that does not fit ends the check as malformed.
type reader struct {
	buf   []byte
	pos   int
	where string // what is being read, for messages
}

func (r *reader) malformed(format string, args ...any) {
	refuse(RuleMalformed, r.where, format, args...)
}

func (r *reader) left() int   { return len(r.buf) - r.pos }
func (r *reader) atEnd() bool { return r.pos == len(r.buf) }

func (r *reader) byte() byte {
	if r.atEnd() {
		r.malformed("the bytes end early at offset %d", r.pos)
	}
	b := r.buf[r.pos]
	r.pos++
	return b
}

func (r *reader) bytes(n uint32) []byte {
	if uint64(n) > uint64(r.left()) {
		r.malformed("%d bytes are announced at offset %d and %d are left", n, r.pos, r.left())
	}
	b := r.buf[r.pos : r.pos+int(n)]
	r.pos += int(n)
	return b
}

// sub returns a reader over the next n bytes and steps over them.
func (r *reader) sub(n uint32, where string) reader {
	start := r.pos
	r.bytes(n)
	return reader{buf: r.buf[:r.pos], pos: start, where: where}
}

// u32 reads an unsigned LEB128 number of at most 32 bits.
func (r *reader) u32() uint32 {
	var v uint64
	for shift := 0; shift < 35; shift += 7 {
		b := r.byte()
		v |= uint64(b&0x7f) << shift
		if b&0x80 == 0 {
			if v>>32 != 0 {
				break
			}
			return uint32(v)
		}
	}
	r.malformed("a number at offset %d does not fit 32 bits", r.pos)
	return 0
}

// skipSigned steps over a signed LEB128 number of at most the given bits (32,
// 33 or 64): no rule depends on one.
func (r *reader) skipSigned(bits int) {
	for shift := 0; shift < bits; shift += 7 {
		if r.byte()&0x80 == 0 {
			return
		}
	}
	r.malformed("a number at offset %d does not fit %d bits", r.pos, bits)
}

// count reads how many things follow. Each takes at least one byte, so more
// than the bytes that are left is a lie; more than max breaks the rule.
func (r *reader) count(rule Rule, max int, things string) int {
	n := r.u32()
	if uint64(n) > uint64(max) {
		refuse(rule, r.where, "%d %s; at most %d are allowed", n, things, max)
	}
	if uint64(n) > uint64(r.left()) {
		r.malformed("%d %s are announced at offset %d and %d bytes are left", n, things, r.pos, r.left())
	}
	return int(n)
}

func (r *reader) name() string {
	n := r.u32()
	if n > MaxName {
		r.malformed("a name of %d bytes at offset %d; at most %d are allowed", n, r.pos, MaxName)
	}
	b := r.bytes(n)
	if !utf8.Valid(b) {
		r.malformed("a name at offset %d is not UTF-8", r.pos)
	}
	return string(b)
}
