package meter

import "github.com/ostraka/ostraka/wasm/internal/bytecode"

// Instructions that only the rewriter writes.
const (
	opI32Ne      = 0x47
	opI64LtS     = 0x53
	opI64Sub     = 0x7d
	opI64Mul     = 0x7e
	opI64ShrU    = 0x88
	opI64Extend  = 0xad // of an i32, unsigned
	emptyType    = 0x40
	zeroConstant = 0
)

// emitter writes charges.
type emitter struct {
	fuel, tick uint64 // indexes of the global and the function
	rest       uint64 // index of a local i64
	code       []byte
}

func (e *emitter) op(bytes ...byte) { e.code = append(e.code, bytes...) }

func (e *emitter) index(i uint64) { e.code = bytecode.AppendU(e.code, i) }

func (e *emitter) local(op byte, i uint64) { e.op(op); e.index(i) }

func (e *emitter) constant(n int64) {
	e.op(bytecode.OpI64Const)
	e.code = bytecode.AppendS(e.code, n)
}

// charge takes a price from the rest; with check it also asks for more.
func (e *emitter) charge(price int64, check bool) {
	switch {
	case price == 0:
	case check:
		e.chargeAndCheck(price)
	default:
		e.local(bytecode.OpGlobalGet, e.fuel)
		e.constant(price)
		e.op(opI64Sub)
		e.local(bytecode.OpGlobalSet, e.fuel)
	}
}

func (e *emitter) chargeAndCheck(price int64) {
	e.local(bytecode.OpGlobalGet, e.fuel)
	e.constant(price)
	e.op(opI64Sub)
	e.settle()
}

// chargeLocal takes what a local i32 says, times or divided by what scale writes.
func (e *emitter) chargeLocal(i uint64, scale func()) {
	e.local(bytecode.OpGlobalGet, e.fuel)
	e.local(bytecode.OpLocalGet, i)
	e.op(opI64Extend)
	scale()
	e.op(opI64Sub)
	e.settle()
}

// settle stores the rest that is on the stack, and asks for more if it is negative.
func (e *emitter) settle() {
	e.local(bytecode.OpLocalTee, e.rest)
	e.local(bytecode.OpGlobalSet, e.fuel)
	e.local(bytecode.OpLocalGet, e.rest)
	e.constant(zeroConstant)
	e.op(opI64LtS)
	e.op(bytecode.OpIf, emptyType)
	e.local(bytecode.OpLocalGet, e.rest)
	e.local(bytecode.OpCall, e.tick)
	e.local(bytecode.OpGlobalSet, e.fuel)
	e.op(bytecode.OpEnd)
}
