package meter

import "github.com/ostraka/ostraka/wasm/internal/bytecode"

// Processors choose the sign and the other bits of a NaN that they make, each in
// its own way, and a program can look at them. So every instruction that may
// make one is followed by others that put the one NaN in its place which the
// specification calls canonical. They are free: they stand where the meter does.

const (
	opSelect    = 0x1b
	opF32Const  = 0x43
	opF64Const  = 0x44
	opF32Eq     = 0x5b
	opF64Eq     = 0x61
	lastCompare = 0x66

	vectorConst     = 12
	vectorF32x4Eq   = 65
	vectorF64x2Eq   = 71
	vectorBitselect = 82
)

// The canonical NaN, as the format writes it.
var (
	nan32 = []byte{0, 0, 0xc0, 0x7f}
	nan64 = []byte{0, 0, 0, 0, 0, 0, 0xf8, 0x7f}
)

// makes tells whether an instruction may make a NaN: floats of 32 bits, or of 64.
func makes(op byte) (is32, is64 bool) {
	is32 = op >= 0x8d && op <= 0x97 || op == 0xb6 // ceil to max without abs, neg and copysign; demote
	is64 = op >= 0x9b && op <= 0xa5 || op == 0xbb // the same; promote
	return is32, is64
}

// looksAway tells whether an instruction cares not which NaN is on top of the
// stack: it compares, cuts off to an integer, or makes a NaN of its own.
func looksAway(op byte) bool {
	is32, is64 := makes(op)
	return is32 || is64 || op >= opF32Eq && op <= lastCompare || op >= 0xa8 && op <= 0xab || op >= 0xae && op <= 0xb1
}

// makesVector is the same for instructions of vectors. pmin and pmax choose one
// of two that are there.
func makesVector(sub uint32) (is32, is64 bool) {
	is32 = sub >= 103 && sub <= 106 || sub == 94 || sub >= 227 && sub <= 233
	is64 = sub == 116 || sub == 117 || sub == 122 || sub == 148 || sub == 95 || sub >= 239 && sub <= 245
	return is32, is64
}

// Locals of ours, after the rest: two for bulk instructions, then these.
const (
	localF32    = 3
	localF64    = 4
	localVector = 5
)

// canonical replaces another NaN that op has made by the canonical one.
func (f *body) canonical(op byte) {
	is32, is64 := makes(op)
	if !is32 && !is64 || f.r.Left() > 0 && looksAway(f.r.Buf[f.r.Pos]) {
		return
	}
	f.floats = true
	f.inline(func(e *emitter) {
		local, constant, nan, eq := e.rest+localF32, byte(opF32Const), nan32, byte(opF32Eq)
		if is64 {
			local, constant, nan, eq = e.rest+localF64, opF64Const, nan64, opF64Eq
		}
		e.local(bytecode.OpLocalTee, local)
		e.op(constant)
		e.op(nan...)
		e.local(bytecode.OpLocalGet, local)
		e.local(bytecode.OpLocalGet, local)
		e.op(eq, opSelect)
	})
}

// canonicalVector is the same, in every lane.
func (f *body) canonicalVector(sub uint32) {
	is32, is64 := makesVector(sub)
	if !is32 && !is64 {
		return
	}
	f.floats, f.vectors = true, true
	f.inline(func(e *emitter) {
		local, eq, nan, lanes := e.rest+localVector, byte(vectorF32x4Eq), nan32, 4
		if is64 {
			eq, nan, lanes = vectorF64x2Eq, nan64, 2
		}
		e.local(bytecode.OpLocalTee, local)
		e.op(bytecode.OpVector, vectorConst)
		for range lanes {
			e.op(nan...)
		}
		e.local(bytecode.OpLocalGet, local)
		e.local(bytecode.OpLocalGet, local)
		e.op(bytecode.OpVector, eq)
		e.op(bytecode.OpVector, vectorBitselect)
	})
}
