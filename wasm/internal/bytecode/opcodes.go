package bytecode

// Shape is the form of the immediates that follow an instruction.
type Shape uint8

// The shapes: how many immediates follow, and of which size.
const (
	Unknown Shape = iota
	None
	OneByte
	TwoBytes
	Index
	TwoIndexes
	IndexAndByte
	MemArg
	Signed32
	Signed64
	FourBytes
	EightBytes
	SixteenBytes
	MemArgAndByte
)

// Instructions that are more than an opcode and its immediates.
const (
	OpUnreachable  = 0x00
	OpBlock        = 0x02
	OpLoop         = 0x03
	OpIf           = 0x04
	OpElse         = 0x05
	OpEnd          = 0x0b
	OpBr           = 0x0c
	OpBrIf         = 0x0d
	OpBrTable      = 0x0e
	OpReturn       = 0x0f
	OpCall         = 0x10
	OpCallIndirect = 0x11
	OpDrop         = 0x1a
	OpSelectTyped  = 0x1c
	OpLocalGet     = 0x20
	OpLocalSet     = 0x21
	OpLocalTee     = 0x22
	OpGlobalGet    = 0x23
	OpGlobalSet    = 0x24
	OpMemoryGrow   = 0x40
	OpI32Const     = 0x41
	OpI64Const     = 0x42
	OpRefNull      = 0xd0
	OpRefFunc      = 0xd2
	OpBulk         = 0xfc
	OpVector       = 0xfd
)

// Instructions holds the immediates of every one-byte instruction of
// WebAssembly 2.0.
var Instructions = func() (t [256]Shape) {
	set := func(from, to int, s Shape) {
		for i := from; i <= to; i++ {
			t[i] = s
		}
	}
	set(0x00, 0x01, None)       // unreachable, nop
	set(0x05, 0x05, None)       // else
	set(0x0c, 0x0d, Index)      // br, br_if
	set(0x0f, 0x0f, None)       // return
	set(0x10, 0x10, Index)      // call
	set(0x11, 0x11, TwoIndexes) // call_indirect
	set(0x1a, 0x1b, None)       // drop, select
	set(0x20, 0x26, Index)      // local, global, table.get and table.set
	set(0x28, 0x3e, MemArg)     // loads and stores
	set(0x3f, 0x40, OneByte)    // memory.size, memory.grow
	set(0x41, 0x41, Signed32)
	set(0x42, 0x42, Signed64)
	set(0x43, 0x43, FourBytes)
	set(0x44, 0x44, EightBytes)
	set(0x45, 0xc4, None)    // comparisons, arithmetic, conversions, sign extension
	set(0xd0, 0xd0, OneByte) // ref.null
	set(0xd1, 0xd1, None)    // ref.is_null
	set(0xd2, 0xd2, Index)   // ref.func
	return t
}()

// Numbers of bulk instructions after the prefix 0xfc.
const (
	BulkMemoryInit = 8
	BulkMemoryCopy = 10
	BulkMemoryFill = 11
	BulkTableInit  = 12
	BulkTableCopy  = 14
	BulkTableGrow  = 15
	BulkTableFill  = 17
)

// BulkInstructions holds the immediates of the Instructions after 0xfc.
var BulkInstructions = [...]Shape{
	0: None, 1: None, 2: None, 3: None, 4: None, 5: None, 6: None, 7: None, // saturating conversions
	8:             IndexAndByte, // memory.init
	9:             Index,        // data.drop
	10:            TwoBytes,     // memory.copy
	11:            OneByte,      // memory.fill
	12:            TwoIndexes,   // table.init
	13:            Index,        // elem.drop
	14:            TwoIndexes,   // table.copy
	BulkTableGrow: Index,
	16:            Index, // table.size
	17:            Index, // table.fill
}

// MaxVector is the last vector instruction of WebAssembly 2.0; those above are
// relaxed SIMD.
const MaxVector = 255

// VectorShape returns the immediates of an instruction after 0xfd.
func VectorShape(sub uint32) Shape {
	switch {
	case sub > MaxVector:
		return Unknown
	case sub <= 11, sub == 92, sub == 93: // loads and stores
		return MemArg
	case sub == 12, sub == 13: // v128.const, shuffle
		return SixteenBytes
	case sub >= 21 && sub <= 34: // extract and replace lane
		return OneByte
	case sub >= 84 && sub <= 91: // load and store lane
		return MemArgAndByte
	default:
		return None
	}
}
