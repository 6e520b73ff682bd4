package precheck

import "fmt"

func (c *checker) readCode(s *reader) {
	n := s.count(RuleFunctions, MaxFunctions, "function bodies")
	if n != len(c.functions) {
		s.malformed("%d functions are declared and %d have a body", len(c.functions), n)
	}
	for i := range n {
		size := s.u32()
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
		default:
			panic(r)
		}
	}()
	b.readLocals()
	b.open = append(b.open, false) // the body itself
	for len(b.open) > 0 {
		b.instruction()
	}
	if !b.r.atEnd() {
		b.r.malformed("%d bytes follow the end of the body", b.r.left())
	}
}

func (b *bodyChecker) readLocals() {
	total := uint64(b.locals)
	for range b.r.count(RuleLocals, MaxLocals, "groups of locals") {
		total += uint64(b.r.u32())
		checkValueType(b.r, b.r.byte())
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
	op := b.r.byte()
	switch op {
	case opBlock, opLoop, opIf:
		b.enter(op == opLoop)
		return
	case opEnd:
		b.leave()
		return
	case opBrTable:
		b.branchTable()
		return
	case opSelectTyped:
		for range b.r.count(RuleTypes, MaxParams, "types of a select") {
			checkValueType(b.r, b.r.byte())
		}
		return
	case opBulk:
		b.bulk()
		return
	case opVector:
		b.vector()
		return
	}
	shape := instructions[op]
	if shape == unknown {
		refuse(RuleFeature, "", "instruction 0x%02x is unknown to WebAssembly 2.0%s", op, proposals[op])
	}
	b.skip(shape)
}

func (b *bodyChecker) enter(loop bool) {
	b.r.skipSigned(33) // block type
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
		b.r.u32()
	}
	b.c.info.MaxBranchTable = max(b.c.info.MaxBranchTable, n)
}

func (b *bodyChecker) bulk() {
	sub := b.r.u32()
	if sub == bulkTableGrow {
		refuse(RuleTableGrow, "", "the instruction table.grow is not allowed: tables are not covered by the memory limit")
	}
	if sub >= uint32(len(bulkInstructions)) {
		refuse(RuleFeature, "", "instruction 0xfc %d is unknown to WebAssembly 2.0", sub)
	}
	b.skip(bulkInstructions[sub])
}

func (b *bodyChecker) vector() {
	sub := b.r.u32()
	switch {
	case sub <= 11, sub == 92, sub == 93: // loads and stores
		b.skip(memArg)
	case sub == 12, sub == 13: // v128.const, shuffle
		b.r.bytes(16)
	case sub >= 21 && sub <= 34: // extract and replace lane
		b.r.byte()
	case sub >= 84 && sub <= 91: // load and store lane
		b.skip(memArg)
		b.r.byte()
	case sub > 255:
		refuse(RuleFeature, "", "vector instruction %d is unknown to WebAssembly 2.0 (relaxed SIMD is not supported)", sub)
	}
}

// skip steps over the immediates of an instruction.
func (b *bodyChecker) skip(s shape) {
	switch s {
	case none:
	case oneByte:
		b.r.byte()
	case twoBytes:
		b.r.bytes(2)
	case index:
		b.r.u32()
	case twoIndexes, memArg:
		b.r.u32()
		b.r.u32()
	case indexAndByte:
		b.r.u32()
		b.r.byte()
	case signed32:
		b.r.skipSigned(32)
	case signed64:
		b.r.skipSigned(64)
	case fourBytes:
		b.r.bytes(4)
	case eightBytes:
		b.r.bytes(8)
	default:
		panic(fmt.Sprintf("precheck: no rule for immediates of shape %d", s))
	}
}
