// Package bytecode reads the binary format of untrusted WebAssembly modules. The pre-check and the meter both walk over modules with it, so
// that they never disagree about where an instruction ends.
package bytecode

import (
	"fmt"
	"unicode/utf8"
)

// Malformed is what a Reader panics with: the bytes end early or contradict
// themselves. Catch turns it into an error.
type Malformed struct {
	Where string // what was being read
	What  string // what was found
}

// Error returns where and what in one line.
func (m *Malformed) Error() string {
	if m.Where == "" {
		return m.What
	}
	return m.Where + ": " + m.What
}

// Reader walks over bytes that it does not trust. Every read is checked; one
// that does not fit panics with *Malformed.
type Reader struct {
	Buf   []byte
	Pos   int
	Where string // what is being read, for messages
}

// Fail ends the reading.
func (r *Reader) Fail(format string, args ...any) {
	panic(&Malformed{Where: r.Where, What: fmt.Sprintf(format, args...)})
}

// Left returns how many bytes are left.
func (r *Reader) Left() int { return len(r.Buf) - r.Pos }

// AtEnd tells whether no byte is left.
func (r *Reader) AtEnd() bool { return r.Pos == len(r.Buf) }

// Byte reads one byte.
func (r *Reader) Byte() byte {
	if r.AtEnd() {
		r.Fail("the bytes end early at offset %d", r.Pos)
	}
	b := r.Buf[r.Pos]
	r.Pos++
	return b
}

// Bytes reads n bytes. They are not copied.
func (r *Reader) Bytes(n uint32) []byte {
	if uint64(n) > uint64(r.Left()) {
		r.Fail("%d bytes are announced at offset %d and %d are left", n, r.Pos, r.Left())
	}
	b := r.Buf[r.Pos : r.Pos+int(n)]
	r.Pos += int(n)
	return b
}

// Sub returns a reader over the next n bytes and steps over them. Its offsets
// are those of the whole.
func (r *Reader) Sub(n uint32, where string) Reader {
	start := r.Pos
	r.Bytes(n)
	return Reader{Buf: r.Buf[:r.Pos], Pos: start, Where: where}
}

// U32 reads an unsigned LEB128 number of at most 32 bits.
func (r *Reader) U32() uint32 {
	var v uint64
	for shift := 0; shift < 35; shift += 7 {
		b := r.Byte()
		v |= uint64(b&0x7f) << shift
		if b&0x80 == 0 {
			if v>>32 != 0 {
				break
			}
			return uint32(v)
		}
	}
	r.Fail("a number at offset %d does not fit 32 bits", r.Pos)
	return 0
}

// Signed reads a signed LEB128 number of at most the given bits (32, 33 or 64).
func (r *Reader) Signed(bits int) (v int64) {
	for shift := 0; shift < bits; shift += 7 {
		b := r.Byte()
		v |= int64(b&0x7f) << shift
		if b&0x80 == 0 {
			if b&0x40 != 0 && shift+7 < 64 {
				v |= -1 << (shift + 7)
			}
			return v
		}
	}
	r.Fail("a number at offset %d does not fit %d bits", r.Pos, bits)
	return 0
}

// MaxName is the length in bytes of an imported or exported name.
const MaxName = 4_096

// Name reads a counted name.
func (r *Reader) Name() string {
	n := r.U32()
	if n > MaxName {
		r.Fail("a name of %d bytes at offset %d; at most %d are allowed", n, r.Pos, MaxName)
	}
	b := r.Bytes(n)
	if !utf8.Valid(b) {
		r.Fail("a name at offset %d is not UTF-8", r.Pos)
	}
	return string(b)
}

// Skip steps over the immediates of an instruction.
func (r *Reader) Skip(s Shape) {
	switch s {
	case None:
	case OneByte:
		r.Byte()
	case TwoBytes:
		r.Bytes(2)
	case Index:
		r.U32()
	case TwoIndexes, MemArg:
		r.U32()
		r.U32()
	case IndexAndByte:
		r.U32()
		r.Byte()
	case Signed32:
		r.Signed(32)
	case Signed64:
		r.Signed(64)
	case FourBytes:
		r.Bytes(4)
	case EightBytes:
		r.Bytes(8)
	case SixteenBytes:
		r.Bytes(16)
	case MemArgAndByte:
		r.U32()
		r.U32()
		r.Byte()
	default:
		panic(fmt.Sprintf("bytecode: no rule for immediates of shape %d", s))
	}
}
