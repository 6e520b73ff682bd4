package bytecode

// Section ids of the binary format.
const (
	SecCustom = iota
	SecType
	SecImport
	SecFunction
	SecTable
	SecMemory
	SecGlobal
	SecExport
	SecStart
	SecElement
	SecCode
	SecData
	SecDataCount
)

// Header is how every core module begins: the magic number and version 1.
const Header = "\x00asm\x01\x00\x00\x00"

// Kinds of imports and exports.
const (
	KindFunction = 0
	KindTable    = 1
	KindMemory   = 2
	KindGlobal   = 3
)

// Value types that the host's own signatures use.
const (
	I32  = 0x7f
	I64  = 0x7e
	F32  = 0x7d
	F64  = 0x7c
	V128 = 0x7b
)

// SubFunctionNames is the subsection of the custom section "name" that holds
// the names of functions.
const SubFunctionNames = 1
