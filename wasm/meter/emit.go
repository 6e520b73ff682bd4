package meter

import "github.com/ostraka/ostraka/wasm/internal/bytecode"

// Instructions that only the rewriter writes.
const (
	opI32Ne     = 0x47
	opI64LtS    = 0x53
	opI64Sub    = 0x7d
	opI64Mul    = 0x7e
	opI64ShrU   = 0x88
	opI64Extend = 0xad // of an i32, unsigned
	emptyType   = 0x40
)

// emitter writes charges. The rest of the slice is in the global, or for the
// length of a function in a local, which a processor can keep in a register.
type emitter struct {
	fuel, tick uint64 // indexes of the global and the function
	rest       uint64 // index of a local i64
	kept       bool   // the rest is in the local
	code       []byte
}

func (e *emitter) op(bytes ...byte) { e.code = append(e.code, bytes...) }

func (e *emitter) index(i uint64) { e.code = bytecode.AppendU(e.code, i) }

func (e *emitter) local(op byte, i uint64) { e.op(op); e.index(i) }

func (e *emitter) constant(n int64) {
	e.op(bytecode.OpI64Const)
	e.code = bytecode.AppendS(e.code, n)
}

// fetch puts the rest into the local, give back into the global.
func (e *emitter) fetch() {
	e.local(bytecode.OpGlobalGet, e.fuel)
	e.local(bytecode.OpLocalSet, e.rest)
}

func (e *emitter) giveBack() {
	e.local(bytecode.OpLocalGet, e.rest)
	e.local(bytecode.OpGlobalSet, e.fuel)
}

func (e *emitter) pushRest() {
	if e.kept {
		e.local(bytecode.OpLocalGet, e.rest)
	} else {
		e.local(bytecode.OpGlobalGet, e.fuel)
	}
}

// charge takes a price from the rest; with check it also asks for more.
func (e *emitter) charge(price int64, check bool) {
	switch {
	case price == 0:
	case check:
		e.chargeAndCheck(price)
	default:
		e.pushRest()
		e.constant(price)
		e.op(opI64Sub)
		if e.kept {
			e.local(bytecode.OpLocalSet, e.rest)
		} else {
			e.local(bytecode.OpGlobalSet, e.fuel)
		}
	}
}

func (e *emitter) chargeAndCheck(price int64) {
	e.pushRest()
	e.constant(price)
	e.op(opI64Sub)
	e.settle()
}

// chargeLocal takes what a local i32 says, times or divided by what scale writes.
func (e *emitter) chargeLocal(i uint64, scale func()) {
	e.pushRest()
	e.local(bytecode.OpLocalGet, i)
	e.op(opI64Extend)
	scale()
	e.op(opI64Sub)
	e.settle()
}

// settle stores the rest that is on the stack, and asks for more if it is negative.
func (e *emitter) settle() {
	e.local(bytecode.OpLocalTee, e.rest)
	if !e.kept {
		e.local(bytecode.OpGlobalSet, e.fuel)
		e.local(bytecode.OpLocalGet, e.rest)
	}
	e.constant(0)
	e.op(opI64LtS)
	e.op(bytecode.OpIf, emptyType)
	e.local(bytecode.OpLocalGet, e.rest)
	e.local(bytecode.OpCall, e.tick)
	if e.kept {
		e.local(bytecode.OpLocalSet, e.rest)
	} else {
		e.local(bytecode.OpGlobalSet, e.fuel)
	}
	e.op(bytecode.OpEnd)
}
