package precheck

// shape is the form of the immediates that follow an instruction.
type shape uint8

const (
	unknown shape = iota
	none
	oneByte
	twoBytes
	index
	twoIndexes
	indexAndByte
	memArg
	signed32
	signed64
	fourBytes
	eightBytes
)

// Instructions that the checker treats by hand.
const (
	opBlock       = 0x02
	opLoop        = 0x03
	opIf          = 0x04
	opEnd         = 0x0b
	opBrTable     = 0x0e
	opSelectTyped = 0x1c
	opBulk        = 0xfc
	opVector      = 0xfd
)

// instructions holds the immediates of every one-byte instruction of
// WebAssembly 2.0.
var instructions = func() (t [256]shape) {
	set := func(from, to int, s shape) {
		for i := from; i <= to; i++ {
			t[i] = s
		}
	}
	set(0x00, 0x01, none)       // unreachable, nop
	set(0x05, 0x05, none)       // else
	set(0x0c, 0x0d, index)      // br, br_if
	set(0x0f, 0x0f, none)       // return
	set(0x10, 0x10, index)      // call
	set(0x11, 0x11, twoIndexes) // call_indirect
	set(0x1a, 0x1b, none)       // drop, select
	set(0x20, 0x26, index)      // local, global, table.get and table.set
	set(0x28, 0x3e, memArg)     // loads and stores
	set(0x3f, 0x40, oneByte)    // memory.size, memory.grow
	set(0x41, 0x41, signed32)
	set(0x42, 0x42, signed64)
	set(0x43, 0x43, fourBytes)
	set(0x44, 0x44, eightBytes)
	set(0x45, 0xc4, none)    // comparisons, arithmetic, conversions, sign extension
	set(0xd0, 0xd0, oneByte) // ref.null
	set(0xd1, 0xd1, none)    // ref.is_null
	set(0xd2, 0xd2, index)   // ref.func
	return t
}()

// bulkTableGrow is the number of table.grow after the prefix 0xfc.
const bulkTableGrow = 15

// bulkInstructions holds the immediates of the instructions after 0xfc.
var bulkInstructions = [...]shape{
	0: none, 1: none, 2: none, 3: none, 4: none, 5: none, 6: none, 7: none, // saturating conversions
	8:             indexAndByte, // memory.init
	9:             index,        // data.drop
	10:            twoBytes,     // memory.copy
	11:            oneByte,      // memory.fill
	12:            twoIndexes,   // table.init
	13:            index,        // elem.drop
	14:            twoIndexes,   // table.copy
	bulkTableGrow: index,
	16:            index, // table.size
	17:            index, // table.fill
}

// proposals names what an unknown instruction probably belongs to.
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
