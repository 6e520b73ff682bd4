package precheck

import "github.com/ostraka/ostraka/wasm/internal/bytecode"

func (c *checker) readCode(s *reader) {
	n := s.count(RuleFunctions, MaxFunctions, "function bodies")
	if n != len(c.functions) {
		s.Fail("%d functions are declared and %d have a body", len(c.functions), n)
	}
	for i := range n {
		size := s.U32()
		index := uint32(len(c.imported) + i)
		if size > MaxBody {
			refuse(RuleBody, c.nameOf(index), "the body is %d bytes; at most %d are allowed (build with optimisation, or split the function)", size, MaxBody)
		}
		body := s.sub(size, "")
		b := bodyChecker{c: c, index: index, r: &body, locals: len(c.types[c.functions[i]].params)}
		b.check()
		c.info.MaxBody = max(c.info.MaxBody, int(size))
	}
	c.bodies = n
}

// bodyChecker walks over the instructions of one function.
type bodyChecker struct {
	c      *checker
	index  uint32
	r      *reader
	locals int
	loops  int    // loops in the whole body
	depth  int    // loops that are open now
	open   []bool // open blocks; true for a loop
}

// check refuses with the function's name, which is looked up only then.
func (b *bodyChecker) check() {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case *Refusal:
			if r.Where == "" {
				r.Where = b.c.nameOf(b.index)
			}
			panic(r)
		case *bytecode.Malformed:
			refuse(RuleMalformed, b.c.nameOf(b.index), "%s", r.What)
		default:
			panic(r)
		}
	}()
	b.c.at = b.r
	b.readLocals()
	b.open = append(b.open, false) // the body itself
	for len(b.open) > 0 {
		b.instruction()
	}
	if !b.r.AtEnd() {
		b.r.Fail("%d bytes follow the end of the body", b.r.Left())
	}
}

func (b *bodyChecker) readLocals() {
	total := uint64(b.locals)
	for range b.r.count(RuleLocals, MaxLocals, "groups of locals") {
		total += uint64(b.r.U32())
		checkValueType(b.r, b.r.Byte())
		if total > MaxLocals {
			refuse(RuleLocals, "", "at least %d locals and parameters; at most %d are allowed", total, MaxLocals)
		}
	}
	b.locals = int(total)
	info := &b.c.info
	info.MaxLocals = max(info.MaxLocals, b.locals)
	if info.TotalLocals += b.locals; info.TotalLocals > MaxTotalLocals {
		refuse(RuleLocals, "", "the functions up to this one have more than %d locals together", MaxTotalLocals)
	}
}

func (b *bodyChecker) instruction() {
	op := b.r.Byte()
	switch op {
	case bytecode.OpBlock, bytecode.OpLoop, bytecode.OpIf:
		b.enter(op == bytecode.OpLoop)
		return
	case bytecode.OpEnd:
		b.leave()
		return
	case bytecode.OpBrTable:
		b.branchTable()
		return
	case bytecode.OpSelectTyped:
		for range b.r.count(RuleTypes, MaxParams, "types of a select") {
			checkValueType(b.r, b.r.Byte())
		}
		return
	case bytecode.OpBulk:
		b.bulk()
		return
	case bytecode.OpVector:
		b.vector()
		return
	}
	shape := bytecode.Instructions[op]
	if shape == bytecode.Unknown {
		refuse(RuleFeature, "", "instruction 0x%02x is unknown to WebAssembly 2.0%s", op, proposals[op])
	}
	b.r.Skip(shape)
}

func (b *bodyChecker) enter(loop bool) {
	b.r.Signed(33) // block type
	b.open = append(b.open, loop)
	if n := len(b.open) - 1; n > MaxNesting {
		refuse(RuleNesting, "", "blocks are nested deeper than %d", MaxNesting)
	}
	info := &b.c.info
	info.MaxNesting = max(info.MaxNesting, len(b.open)-1)
	if !loop {
		return
	}
	b.loops++
	if b.depth++; b.depth > MaxLoopNesting {
		refuse(RuleLoopNesting, "", "loops are nested deeper than %d", MaxLoopNesting)
	}
	if product := b.loops * max(1, b.locals); product > MaxLoopLocals {
		refuse(RuleLoopLocals, "", "%d loops times %d locals are more than %d (split the function)", b.loops, b.locals, MaxLoopLocals)
	} else {
		info.MaxLoopLocals = max(info.MaxLoopLocals, product)
	}
	info.MaxLoopNesting = max(info.MaxLoopNesting, b.depth)
}

func (b *bodyChecker) leave() {
	last := len(b.open) - 1
	if b.open[last] {
		b.depth--
	}
	b.open = b.open[:last]
}

func (b *bodyChecker) branchTable() {
	n := b.r.count(RuleBranchTable, MaxBranchTable, "targets of a br_table")
	for range n + 1 {
		b.r.U32()
	}
	b.c.info.MaxBranchTable = max(b.c.info.MaxBranchTable, n)
}

func (b *bodyChecker) bulk() {
	sub := b.r.U32()
	if sub == bytecode.BulkTableGrow {
		refuse(RuleTableGrow, "", "the instruction table.grow is not allowed: tables are not covered by the memory limit")
	}
	if sub >= uint32(len(bytecode.BulkInstructions)) {
		refuse(RuleFeature, "", "instruction 0xfc %d is unknown to WebAssembly 2.0", sub)
	}
	b.r.Skip(bytecode.BulkInstructions[sub])
}

func (b *bodyChecker) vector() {
	sub := b.r.U32()
	if sub > bytecode.MaxVector {
		refuse(RuleFeature, "", "vector instruction %d is unknown to WebAssembly 2.0 (relaxed SIMD is not supported)", sub)
	}
	b.r.Skip(bytecode.VectorShape(sub))
}

// proposals names what an Unknown instruction probably belongs to.
var proposals = map[byte]string{
	0x06: " (exceptions are not supported)", 0x07: " (exceptions are not supported)",
	0x08: " (exceptions are not supported)", 0x09: " (exceptions are not supported)",
	0x0a: " (exceptions are not supported)", 0x18: " (exceptions are not supported)",
	0x19: " (exceptions are not supported)", 0x1f: " (exceptions are not supported)",
	0x12: " (tail calls are not supported)", 0x13: " (tail calls are not supported)",
	0x14: " (typed function references are not supported)", 0x15: " (typed function references are not supported)",
	0xfb: " (garbage collection is not supported)",
	0xfe: " (threads are not supported)",
}
