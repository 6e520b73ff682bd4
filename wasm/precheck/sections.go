package precheck

import "fmt"

// Section ids of the binary format.
const (
	secCustom = iota
	secType
	secImport
	secFunction
	secTable
	secMemory
	secGlobal
	secExport
	secStart
	secElement
	secCode
	secData
	secDataCount
)

var sectionNames = [...]string{"custom", "type", "import", "function", "table", "memory", "global", "export", "start", "element", "code", "data", "data count"}

// sectionOrder is the place of each section in a file; data count (12) stands
// before code.
var sectionOrder = [...]int{secType: 1, secImport: 2, secFunction: 3, secTable: 4, secMemory: 5, secGlobal: 6, secExport: 7, secStart: 8, secElement: 9, secDataCount: 10, secCode: 11, secData: 12}

func (c *checker) readSections() {
	last := 0
	for n := 0; !c.r.atEnd(); n++ {
		if n == MaxSections {
			refuse(RuleSize, "", "more than %d sections", MaxSections)
		}
		id := c.r.byte()
		size := c.r.u32()
		if int(id) >= len(sectionNames) {
			refuse(RuleFeature, "", "section %d is unknown to WebAssembly 2.0 (exceptions and garbage collection are not supported)", id)
		}
		s := c.r.sub(size, "section "+sectionNames[id])
		if id == secCustom {
			continue
		}
		if sectionOrder[id] <= last {
			s.malformed("the section is repeated or out of order")
		}
		last = sectionOrder[id]
		c.readSection(id, &s)
		if !s.atEnd() {
			s.malformed("%d bytes are left over", s.left())
		}
	}
}

func (c *checker) readSection(id byte, s *reader) {
	switch id {
	case secType:
		c.readTypes(s)
	case secImport:
		c.readImports(s)
	case secFunction:
		c.readFunctions(s)
	case secTable:
		c.readTables(s)
	case secMemory:
		c.readMemories(s)
	case secGlobal:
		c.readGlobals(s)
	case secExport:
		c.readExports(s)
	case secStart:
		s.u32()
	case secElement:
		c.readElements(s)
	case secDataCount:
		c.checkDataCount(s, s.u32())
	case secCode:
		c.readCode(s)
	case secData:
		c.readData(s)
	}
}

// funcType is the signature of a function, in the format's own bytes.
type funcType struct{ params, results string }

func (c *checker) readTypes(s *reader) {
	for i := range s.count(RuleTypes, MaxTypes, "types") {
		if form := s.byte(); form != 0x60 {
			refuse(RuleFeature, fmt.Sprintf("type %d", i), "form 0x%02x is not a function type of WebAssembly 2.0", form)
		}
		c.types = append(c.types, funcType{params: c.valueTypes(s, "parameters"), results: c.valueTypes(s, "results")})
	}
}

func (c *checker) valueTypes(s *reader, things string) string {
	n := s.count(RuleTypes, MaxParams, things)
	b := s.bytes(uint32(n))
	for _, t := range b {
		checkValueType(s, t)
	}
	return string(b)
}

func checkValueType(s *reader, t byte) {
	switch t {
	case 0x7f, 0x7e, 0x7d, 0x7c, 0x7b, 0x70, 0x6f: // i32 i64 f32 f64 v128 funcref externref
	default:
		refuse(RuleFeature, s.where, "value type 0x%02x is unknown to WebAssembly 2.0", t)
	}
}

func (c *checker) readImports(s *reader) {
	for i := range s.count(RuleImport, MaxImports, "imports") {
		module, name := s.name(), s.name()
		where := fmt.Sprintf("import %d (%s.%s)", i, printable(module), printable(name))
		if kind := s.byte(); kind != kindFunction {
			refuse(RuleImport, where, "only functions may be imported; the module must bring its own memory, tables and globals")
		}
		t := s.u32()
		want, ok := allowedImports[name]
		if module != wasiModule || !ok {
			refuse(RuleImport, where, "the host does not offer this; a module may import only %s of %s", allowedNames(), wasiModule)
		}
		if int(t) >= len(c.types) || c.types[t] != want {
			refuse(RuleImportType, where, "the signature is not the one of WASI preview 1")
		}
		c.imported = append(c.imported, t)
		c.info.Imports = append(c.info.Imports, name)
	}
}

func (c *checker) readFunctions(s *reader) {
	n := s.count(RuleFunctions, MaxFunctions, "functions")
	c.functions = make([]uint32, n)
	for i := range c.functions {
		t := s.u32()
		if int(t) >= len(c.types) {
			s.malformed("function %d has type %d of %d", i, t, len(c.types))
		}
		c.functions[i] = t
	}
	c.info.Functions = n
}

// limits reads the minimum and maximum of a table or memory.
func (r *reader) limits(rule Rule) uint32 {
	flags := r.byte()
	if flags > 1 {
		refuse(RuleFeature, r.where, "shared or 64-bit limits (flags 0x%02x) are not supported", flags)
	}
	minimum := r.u32()
	if flags == 1 && r.u32() < minimum {
		refuse(rule, r.where, "the maximum is below the minimum of %d", minimum)
	}
	return minimum
}

func (c *checker) readTables(s *reader) {
	for range s.count(RuleTable, MaxTableEntries, "tables") {
		checkValueType(s, s.byte())
		// An empty table costs memory too: count it as one entry.
		c.tables += 1 + uint64(s.limits(RuleTable))
		if c.tables > MaxTableEntries {
			refuse(RuleTable, s.where, "the tables have more than %d entries together", MaxTableEntries)
		}
	}
}

func (c *checker) readMemories(s *reader) {
	if c.memories = int(s.u32()); c.memories != 1 {
		refuse(RuleMemory, s.where, "%d memories; exactly one is allowed", c.memories)
	}
	pages := s.limits(RuleMemory)
	if pages > c.opt.MemoryPages {
		refuse(RuleMemory, s.where, "the module asks for %d pages of 64 KiB at once; the memory limit is %d pages", pages, c.opt.MemoryPages)
	}
	c.info.MemoryMinPages = pages
}

func (c *checker) readGlobals(s *reader) {
	for range s.count(RuleGlobals, MaxGlobals, "globals") {
		checkValueType(s, s.byte())
		if s.byte() > 1 {
			s.malformed("the mutability of a global is neither 0 nor 1")
		}
		constExpr(s)
	}
}

// Kinds of imports and exports.
const (
	kindFunction = 0
	kindMemory   = 2
	maxKind      = 3
)

type export struct {
	kind  byte
	index uint32
}

func (c *checker) readExports(s *reader) {
	n := s.count(RuleExports, MaxExports, "exports")
	c.exports = make(map[string]export, n)
	for range n {
		name := s.name()
		e := export{kind: s.byte(), index: s.u32()}
		if e.kind > maxKind {
			refuse(RuleFeature, s.where, "export %q has kind %d", printable(name), e.kind)
		}
		if _, twice := c.exports[name]; twice {
			refuse(RuleExports, s.where, "the name %q is exported twice", printable(name))
		}
		c.exports[name] = e
	}
}

func (c *checker) readElements(s *reader) {
	for range s.count(RuleTable, MaxElements, "element segments") {
		flags := s.u32()
		if flags > 7 {
			s.malformed("an element segment has flags %d", flags)
		}
		passive, explicit, exprs := flags&1 != 0, flags&2 != 0, flags&4 != 0
		if !passive && explicit {
			s.u32() // table
		}
		if !passive {
			constExpr(s)
		}
		if passive || explicit {
			s.byte() // element kind or type
		}
		c.elements++
		c.readElementEntries(s, exprs)
	}
}

func (c *checker) readElementEntries(s *reader, exprs bool) {
	n := s.count(RuleTable, MaxElements, "elements of one segment")
	if c.elements += uint64(n); c.elements > MaxElements {
		refuse(RuleTable, s.where, "the element segments have more than %d entries together", MaxElements)
	}
	for range n {
		if exprs {
			constExpr(s)
		} else {
			s.u32()
		}
	}
}

func (c *checker) checkDataCount(s *reader, n uint32) {
	if n > MaxDataSegments {
		refuse(RuleData, s.where, "%d data segments; at most %d are allowed", n, MaxDataSegments)
	}
}

func (c *checker) readData(s *reader) {
	for range s.count(RuleData, MaxDataSegments, "data segments") {
		switch flags := s.u32(); flags {
		case 0:
			constExpr(s)
		case 1:
		case 2:
			s.u32()
			constExpr(s)
		default:
			s.malformed("a data segment has flags %d", flags)
		}
		s.bytes(s.u32())
	}
}

// constExpr steps over the initial value of a global or the offset of a
// segment: one constant instruction and an end.
func constExpr(s *reader) {
	switch op := s.byte(); op {
	case 0x41:
		s.skipSigned(32)
	case 0x42:
		s.skipSigned(64)
	case 0x43:
		s.bytes(4)
	case 0x44:
		s.bytes(8)
	case 0x23, 0xd2:
		s.u32()
	case 0xd0:
		s.byte()
	case 0xfd:
		if sub := s.u32(); sub != 12 {
			refuse(RuleFeature, s.where, "vector instruction %d is not a constant", sub)
		}
		s.bytes(16)
	default:
		refuse(RuleFeature, s.where, "instruction 0x%02x is not a constant of WebAssembly 2.0", op)
	}
	if s.byte() != opEnd {
		refuse(RuleFeature, s.where, "a constant expression of more than one instruction is not supported")
	}
}
