package meter

import "github.com/ostraka/ostraka/wasm/internal/bytecode"

func (m *rewriter) rewriteCode() []byte {
	s, n := m.section(bytecode.SecCode)
	if int(n) != len(m.functions) {
		refuse("%d functions are declared and %d have a body", len(m.functions), n)
	}
	items := make([]byte, 0, s.Left()+s.Left()/2)
	for i := range n {
		r := s.Sub(s.U32(), "")
		t := m.types[m.functions[i]]
		f := body{m: m, r: r, params: uint32(len(t.params))}
		code := f.rewrite()
		if f.loops && len(t.results) <= 1 {
			// A loop charges at every turn: keep the rest in a local.
			f = body{m: m, r: r, params: f.params, result: blockType(t.results)}
			f.out.kept = true
			code = f.rewrite()
		}
		items = bytecode.AppendName(items, code)
	}
	for i := range m.imports {
		items = bytecode.AppendName(items, m.wrapperBody(uint32(i)))
	}
	count := uint64(n) + uint64(len(m.imports))
	if m.start {
		call := bytecode.AppendU([]byte{0, bytecode.OpCall}, m.function(m.startAt))
		items = bytecode.AppendName(items, append(call, bytecode.OpEnd))
		count++
	}
	return counted(count, items)
}

// blockType is the type of a block that leaves what a function returns.
func blockType(results []byte) byte {
	if len(results) == 0 {
		return emptyType
	}
	return results[0]
}

// wrapperBody pays for a host call, then makes it.
func (m *rewriter) wrapperBody(i uint32) []byte {
	params := uint64(len(m.types[m.importOf[i]].params))
	code := []byte{1, 1, bytecode.I64} // one local for the rest
	e := emitter{fuel: m.fuel(), tick: m.tick(), rest: params, code: code}
	e.chargeAndCheck(HostCallUnits)
	if s, ok := sized[m.imports[i]]; ok && s.param < params && m.types[m.importOf[i]].params[s.param] == bytecode.I32 {
		e.chargeLocal(s.param, func() { e.constant(s.units); e.op(opI64Mul) })
	}
	for p := range params {
		e.op(bytecode.OpLocalGet)
		e.index(p)
	}
	e.op(bytecode.OpCall)
	e.index(uint64(i))
	e.op(bytecode.OpEnd)
	return e.code
}

// frame is a block that is open.
type frame struct {
	op       byte
	dead     bool // it was opened where nothing can come
	targeted bool // a branch goes to its end
}

// body rewrites one function. Code is collected per basic block and written
// when the block ends and its price is known.
type body struct {
	m      *rewriter
	r      bytecode.Reader
	params uint32
	locals uint32 // with parameters

	open  []frame
	block []byte // code of the basic block, not written yet
	price int64
	check bool // the block must look at the rest
	dead  bool // nothing can come here
	calls bool
	loops bool
	// result is the type of the block around a body that keeps the rest in a
	// local: leaving the function by a branch gives the rest back too.
	result  byte
	bulk    bool // an instruction that needs locals of ours
	floats  bool // an instruction that may make a NaN
	vectors bool // of vectors

	entry      []byte // code of the first block, whose check depends on the rest of the function
	entryPrice int64
	entered    bool
	out        emitter
}

// rewrite returns the body with charges. Locals of ours come after all others.
func (f *body) rewrite() []byte {
	groups, declared := f.readLocals()
	f.out = emitter{fuel: f.m.fuel(), tick: f.m.tick(), rest: uint64(f.locals), kept: f.out.kept}
	f.open = append(f.open, frame{op: bytecode.OpBlock})
	for len(f.open) > 0 {
		f.instruction()
	}
	if !f.r.AtEnd() {
		f.r.Fail("%d bytes follow the end of a body", f.r.Left())
	}
	ours := [][]byte{{1, bytecode.I64}}
	if f.bulk || f.floats {
		ours = append(ours, []byte{2, bytecode.I32})
	}
	if f.floats {
		ours = append(ours, []byte{1, bytecode.F32}, []byte{1, bytecode.F64})
	}
	if f.vectors {
		ours = append(ours, []byte{1, bytecode.V128})
	}
	result := bytecode.AppendU(nil, uint64(groups)+uint64(len(ours)))
	result = append(result, declared...)
	for _, group := range ours {
		result = append(result, group...)
	}
	e := f.out
	e.code = result
	if e.kept {
		e.fetch()
		e.op(bytecode.OpBlock, f.result)
	}
	// Without calls there is no recursion, and a loop has its own check.
	e.charge(f.entryPrice, f.calls)
	e.op(f.entry...)
	e.op(f.out.code...)
	if e.kept {
		e.giveBack()
		e.op(bytecode.OpEnd)
	}
	return e.code
}

func (f *body) readLocals() (groups uint32, declared []byte) {
	f.locals = f.params
	groups = f.r.U32()
	from := f.r.Pos
	for range groups {
		n := f.r.U32()
		if uint64(f.locals)+uint64(n) > maxLocals {
			refuse("a function has more than %d locals", maxLocals)
		}
		f.locals += n
		f.r.Byte()
	}
	return groups, f.r.Buf[from:f.r.Pos]
}

// maxLocals keeps the numbers of our own locals from running over. The
// pre-check's limit is far below.
const maxLocals = 50_000

func (f *body) instruction() {
	from := f.r.Pos
	op := f.r.Byte()
	switch op {
	case bytecode.OpBlock, bytecode.OpLoop, bytecode.OpIf:
		f.enter(op)
		return
	case bytecode.OpElse:
		f.otherwise()
		return
	case bytecode.OpEnd:
		f.leave()
		return
	case bytecode.OpBulk:
		f.bulkInstruction(from)
		return
	case bytecode.OpMemoryGrow:
		f.r.Byte()
		f.grow(f.r.Buf[from:f.r.Pos])
		return
	}
	f.price++
	f.copyOne(op, from)
	f.canonical(op)
	switch op {
	case bytecode.OpBr, bytecode.OpBrTable, bytecode.OpReturn, bytecode.OpUnreachable:
		f.flush()
		f.dead = true
	case bytecode.OpBrIf:
		f.next(false)
	}
}

// copyOne copies an instruction. What it names must be the original's.
func (f *body) copyOne(op byte, from int) {
	index := func(i uint64) { f.block = bytecode.AppendU(append(f.block, op), i) }
	switch op {
	case bytecode.OpCall:
		callee := f.m.function(f.r.U32())
		f.call(func() { index(callee) })
		return
	case bytecode.OpCallIndirect:
		t := f.r.U32()
		f.m.checkType(t)
		table := uint64(f.r.U32())
		f.call(func() {
			index(uint64(t))
			f.block = bytecode.AppendU(f.block, table)
		})
		return
	case bytecode.OpReturn, bytecode.OpUnreachable:
		if f.out.kept {
			f.inline((*emitter).giveBack)
		}
		f.block = append(f.block, op)
		return
	case bytecode.OpRefFunc:
		index(f.m.function(f.r.U32()))
		return
	case bytecode.OpLocalGet, bytecode.OpLocalSet, bytecode.OpLocalTee:
		i := f.r.U32()
		if i >= f.locals {
			refuse("local %d is named; there are %d", i, f.locals)
		}
		index(uint64(i))
		return
	case bytecode.OpGlobalGet, bytecode.OpGlobalSet:
		i := f.r.U32()
		f.m.checkGlobal(i)
		index(uint64(i))
		return
	case bytecode.OpBr, bytecode.OpBrIf:
		f.target(f.r.U32())
	case bytecode.OpBrTable:
		n := f.r.U32()
		for range uint64(n) + 1 {
			f.target(f.r.U32())
		}
	case bytecode.OpSelectTyped:
		f.r.Bytes(f.r.U32())
	case bytecode.OpVector:
		sub := f.r.U32()
		if sub > bytecode.MaxVector {
			refuse("vector instruction %d is unknown", sub)
		}
		f.r.Skip(bytecode.VectorShape(sub))
		f.block = append(f.block, f.r.Buf[from:f.r.Pos]...)
		f.canonicalVector(sub)
		return
	default:
		shape := bytecode.Instructions[op]
		if shape == bytecode.Unknown {
			refuse("instruction 0x%02x is unknown", op)
		}
		f.r.Skip(shape)
	}
	f.block = append(f.block, f.r.Buf[from:f.r.Pos]...)
}

// call writes a call: the callee charges from the global.
func (f *body) call(write func()) {
	f.calls = true
	if f.out.kept {
		f.inline((*emitter).giveBack)
	}
	write()
	if f.out.kept {
		f.inline((*emitter).fetch)
	}
}

// target notes that a branch goes to the end of a block, or to a loop's start.
func (f *body) target(depth uint32) {
	if uint64(depth) >= uint64(len(f.open)) {
		refuse("a branch leaves %d blocks; %d are open", depth, len(f.open))
	}
	f.open[len(f.open)-1-int(depth)].targeted = true
}

func (f *body) enter(op byte) {
	blockType := f.r.Signed(33)
	switch {
	case blockType >= 0:
		if blockType > maxIndex {
			refuse("a block has type %d", blockType)
		}
		f.m.checkType(uint32(blockType))
	case blockType < -64:
		refuse("a block has type %d", blockType)
	}
	f.price++
	f.block = bytecode.AppendS(append(f.block, op), blockType)
	f.open = append(f.open, frame{op: op, dead: f.dead})
	f.loops = f.loops || op == bytecode.OpLoop
	if op != bytecode.OpBlock {
		f.next(op == bytecode.OpLoop)
	}
}

const maxIndex = 1<<32 - 1

func (f *body) otherwise() {
	last := &f.open[len(f.open)-1]
	if last.op != bytecode.OpIf {
		refuse("an else without an if")
	}
	last.op = bytecode.OpElse
	f.flush()
	f.out.op(bytecode.OpElse)
	f.dead = last.dead
}

func (f *body) leave() {
	last := f.open[len(f.open)-1]
	f.open = f.open[:len(f.open)-1]
	f.block = append(f.block, bytecode.OpEnd)
	switch {
	case len(f.open) == 0:
		f.flush()
	case last.dead:
		f.dead = true
	case last.op == bytecode.OpLoop, last.op == bytecode.OpBlock && !last.targeted:
		// Only what comes before can come here: the same basic block, if any.
	default:
		f.next(false)
		f.dead = false
	}
}

// next ends the basic block and starts another.
func (f *body) next(check bool) {
	f.flush()
	f.check = check
}

// flush writes the basic block. The function's first one is kept back.
func (f *body) flush() {
	if !f.entered {
		f.entered = true
		f.entry, f.entryPrice = f.block, f.price
		f.block = nil
	} else {
		if !f.dead {
			f.out.charge(f.price, f.check)
		}
		f.out.code = append(f.out.code, f.block...)
		f.block = f.block[:0]
	}
	f.price, f.check = 0, false
}

// bulkInstruction copies an instruction after the prefix 0xfc; those that work
// on many bytes or entries pay for them first.
func (f *body) bulkInstruction(from int) {
	sub := f.r.U32()
	if sub == bytecode.BulkTableGrow {
		refuse("table.grow is not supported")
	}
	if sub >= uint32(len(bytecode.BulkInstructions)) {
		refuse("instruction 0xfc %d is unknown", sub)
	}
	f.r.Skip(bytecode.BulkInstructions[sub])
	f.price++
	code := f.r.Buf[from:f.r.Pos]
	switch sub {
	case bytecode.BulkMemoryInit, bytecode.BulkMemoryCopy, bytecode.BulkMemoryFill:
		f.paySize(bytesShift, code)
	case bytecode.BulkTableInit, bytecode.BulkTableCopy, bytecode.BulkTableFill:
		f.paySize(0, code)
	default:
		f.block = append(f.block, code...)
	}
}

// inline lets an emitter write into the basic block.
func (f *body) inline(write func(*emitter)) {
	e := f.out
	e.code = f.block
	write(&e)
	f.block = e.code
}

// paySize charges by the size on top of the stack, and then does it.
func (f *body) paySize(shift int64, code []byte) {
	f.bulk = true
	size := f.out.rest + 1
	f.inline(func(e *emitter) {
		e.local(bytecode.OpLocalSet, size)
		e.chargeLocal(size, func() {
			if shift > 0 {
				e.constant(shift)
				e.op(opI64ShrU)
			}
		})
		e.local(bytecode.OpLocalGet, size)
		e.code = append(e.code, code...)
	})
}

// grow charges for memory that was granted: a refusal costs almost nothing.
func (f *body) grow(code []byte) {
	f.bulk = true
	f.price += GrowUnits
	pages, answer := f.out.rest+1, f.out.rest+2
	f.inline(func(e *emitter) {
		e.local(bytecode.OpLocalTee, pages)
		e.code = append(e.code, code...)
		e.local(bytecode.OpLocalTee, answer)
		e.op(bytecode.OpI32Const, 0x7f) // -1: refused
		e.op(opI32Ne)
		e.op(bytecode.OpIf, emptyType)
		e.chargeLocal(pages, func() { e.constant(GrowPageUnits); e.op(opI64Mul) })
		e.op(bytecode.OpEnd)
		e.local(bytecode.OpLocalGet, answer)
	})
}
