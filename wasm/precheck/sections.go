package precheck

import (
	"fmt"

	"github.com/ostraka/ostraka/wasm/internal/bytecode"
)

var sectionNames = [...]string{"custom", "type", "import", "function", "table", "memory", "global", "export", "start", "element", "code", "data", "data count"}

// sectionOrder is the place of each section in a file; data count (12) stands
// before code.
var sectionOrder = [...]int{bytecode.SecType: 1, bytecode.SecImport: 2, bytecode.SecFunction: 3, bytecode.SecTable: 4, bytecode.SecMemory: 5, bytecode.SecGlobal: 6, bytecode.SecExport: 7, bytecode.SecStart: 8, bytecode.SecElement: 9, bytecode.SecDataCount: 10, bytecode.SecCode: 11, bytecode.SecData: 12}

func (c *checker) readSections() {
	last := 0
	for n := 0; !c.r.AtEnd(); n++ {
		if n == MaxSections {
			refuse(RuleSize, "", "more than %d sections", MaxSections)
		}
		id := c.r.Byte()
		size := c.r.U32()
		if int(id) >= len(sectionNames) {
			refuse(RuleFeature, "", "section %d is unknown to WebAssembly 2.0 (exceptions and garbage collection are not supported)", id)
		}
		s := c.r.sub(size, "section "+sectionNames[id])
		if id == bytecode.SecCustom {
			continue
		}
		if sectionOrder[id] <= last {
			s.Fail("the section is repeated or out of order")
		}
		last = sectionOrder[id]
		c.at = &s
		c.readSection(id, &s)
		if !s.AtEnd() {
			s.Fail("%d bytes are left over", s.Left())
		}
	}
}

func (c *checker) readSection(id byte, s *reader) {
	switch id {
	case bytecode.SecType:
		c.readTypes(s)
	case bytecode.SecImport:
		c.readImports(s)
	case bytecode.SecFunction:
		c.readFunctions(s)
	case bytecode.SecTable:
		c.readTables(s)
	case bytecode.SecMemory:
		c.readMemories(s)
	case bytecode.SecGlobal:
		c.readGlobals(s)
	case bytecode.SecExport:
		c.readExports(s)
	case bytecode.SecStart:
		if t, ok := c.typeOf(s.U32()); !ok || len(t.params)+len(t.results) != 0 {
			refuse(RuleStart, s.Where, "the start function must exist, take nothing and return nothing")
		}
	case bytecode.SecElement:
		c.readElements(s)
	case bytecode.SecDataCount:
		c.checkDataCount(s, s.U32())
	case bytecode.SecCode:
		c.readCode(s)
	case bytecode.SecData:
		c.readData(s)
	}
}

// funcType is the signature of a function, in the format's own bytes.
type funcType struct{ params, results string }

func (c *checker) readTypes(s *reader) {
	for i := range s.count(RuleTypes, MaxTypes, "types") {
		if form := s.Byte(); form != 0x60 {
			refuse(RuleFeature, fmt.Sprintf("type %d", i), "form 0x%02x is not a function type of WebAssembly 2.0", form)
		}
		c.types = append(c.types, funcType{params: c.valueTypes(s, "parameters"), results: c.valueTypes(s, "results")})
	}
}

func (c *checker) valueTypes(s *reader, things string) string {
	n := s.count(RuleTypes, MaxParams, things)
	b := s.Bytes(uint32(n))
	for _, t := range b {
		checkValueType(s, t)
	}
	return string(b)
}

func checkValueType(s *reader, t byte) {
	switch t {
	case 0x7f, 0x7e, 0x7d, 0x7c, 0x7b, 0x70, 0x6f: // i32 i64 f32 f64 v128 funcref externref
	default:
		refuse(RuleFeature, s.Where, "value type 0x%02x is unknown to WebAssembly 2.0", t)
	}
}

func (c *checker) readImports(s *reader) {
	for i := range s.count(RuleImport, MaxImports, "imports") {
		module, name := s.Name(), s.Name()
		where := fmt.Sprintf("import %d (%s.%s)", i, printable(module), printable(name))
		if kind := s.Byte(); kind != bytecode.KindFunction {
			refuse(RuleImport, where, "only functions may be imported; the module must bring its own memory, tables and globals")
		}
		t := s.U32()
		want, ok := allowedImports[name]
		if module != wasiModule || !ok {
			refuse(RuleImport, where, "the host does not offer this; %s", remedy(module, name))
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
		t := s.U32()
		if int(t) >= len(c.types) {
			s.Fail("function %d has type %d of %d", i, t, len(c.types))
		}
		c.functions[i] = t
	}
	c.info.Functions = n
}

// limits reads the minimum and maximum of a table or memory.
func (r *reader) limits(rule Rule) uint32 {
	flags := r.Byte()
	if flags > 1 {
		refuse(RuleFeature, r.Where, "shared or 64-bit limits (flags 0x%02x) are not supported", flags)
	}
	minimum := r.U32()
	if flags == 1 && r.U32() < minimum {
		refuse(rule, r.Where, "the maximum is below the minimum of %d", minimum)
	}
	return minimum
}

func (c *checker) readTables(s *reader) {
	for range s.count(RuleTable, MaxTableEntries, "tables") {
		checkValueType(s, s.Byte())
		// An empty table costs memory too: count it as one entry.
		c.tables += 1 + uint64(s.limits(RuleTable))
		if c.tables > MaxTableEntries {
			refuse(RuleTable, s.Where, "the tables have more than %d entries together", MaxTableEntries)
		}
	}
}

func (c *checker) readMemories(s *reader) {
	if c.memories = int(s.U32()); c.memories != 1 {
		refuse(RuleMemory, s.Where, "%d memories; exactly one is allowed", c.memories)
	}
	pages := s.limits(RuleMemory)
	if pages > c.opt.MemoryPages {
		refuse(RuleMemory, s.Where, "the module asks for %d pages of 64 KiB at once; the memory limit is %d pages", pages, c.opt.MemoryPages)
	}
	c.info.MemoryMinPages = pages
}

func (c *checker) readGlobals(s *reader) {
	for range s.count(RuleGlobals, MaxGlobals, "globals") {
		checkValueType(s, s.Byte())
		if s.Byte() > 1 {
			s.Fail("the mutability of a global is neither 0 nor 1")
		}
		constExpr(s)
	}
}

type export struct {
	kind  byte
	index uint32
}

func (c *checker) readExports(s *reader) {
	n := s.count(RuleExports, MaxExports, "exports")
	c.exports = make(map[string]export, n)
	for range n {
		name := s.Name()
		e := export{kind: s.Byte(), index: s.U32()}
		if e.kind > bytecode.KindGlobal {
			refuse(RuleFeature, s.Where, "export %q has kind %d", printable(name), e.kind)
		}
		if _, twice := c.exports[name]; twice {
			refuse(RuleExports, s.Where, "the name %q is exported twice", printable(name))
		}
		c.exports[name] = e
	}
}

func (c *checker) readElements(s *reader) {
	for range s.count(RuleTable, MaxElements, "element segments") {
		flags := s.U32()
		if flags > 7 {
			s.Fail("an element segment has flags %d", flags)
		}
		passive, explicit, exprs := flags&1 != 0, flags&2 != 0, flags&4 != 0
		if !passive && explicit {
			s.U32() // table
		}
		if !passive {
			constExpr(s)
		}
		if passive || explicit {
			s.Byte() // element kind or type
		}
		c.elements++
		c.readElementEntries(s, exprs)
	}
}

func (c *checker) readElementEntries(s *reader, exprs bool) {
	n := s.count(RuleTable, MaxElements, "elements of one segment")
	if c.elements += uint64(n); c.elements > MaxElements {
		refuse(RuleTable, s.Where, "the element segments have more than %d entries together", MaxElements)
	}
	for range n {
		if exprs {
			constExpr(s)
		} else {
			s.U32()
		}
	}
}

func (c *checker) checkDataCount(s *reader, n uint32) {
	if n > MaxDataSegments {
		refuse(RuleData, s.Where, "%d data segments; at most %d are allowed", n, MaxDataSegments)
	}
}

func (c *checker) readData(s *reader) {
	for i := range s.count(RuleData, MaxDataSegments, "data segments") {
		offset := int64(0)
		switch flags := s.U32(); flags {
		case 0:
			offset = constExpr(s)
		case 1:
		case 2:
			s.U32()
			offset = constExpr(s)
		default:
			s.Fail("a data segment has flags %d", flags)
		}
		end := int64(uint32(offset)) + int64(len(s.Bytes(s.U32())))
		if have := int64(c.info.MemoryMinPages) * pageSize; end > have {
			refuse(RuleData, fmt.Sprintf("data segment %d", i), "it ends at %d and the memory has %d bytes at the start", end, have)
		}
	}
}

// pageSize is the unit of WebAssembly's memory in bytes.
const pageSize = 64 << 10

// constExpr steps over the initial value of a global or the offset of a
// segment: one constant instruction and an end. It returns the value of an
// integer, and 0 for anything else.
func constExpr(s *reader) (value int64) {
	switch op := s.Byte(); op {
	case 0x41:
		value = s.Signed(32)
	case 0x42:
		value = s.Signed(64)
	case 0x43:
		s.Bytes(4)
	case 0x44:
		s.Bytes(8)
	case 0x23, 0xd2:
		s.U32()
	case 0xd0:
		s.Byte()
	case 0xfd:
		if sub := s.U32(); sub != 12 {
			refuse(RuleFeature, s.Where, "vector instruction %d is not a constant", sub)
		}
		s.Bytes(16)
	default:
		refuse(RuleFeature, s.Where, "instruction 0x%02x is not a constant of WebAssembly 2.0", op)
	}
	if s.Byte() != bytecode.OpEnd {
		refuse(RuleFeature, s.Where, "a constant expression of more than one instruction is not supported")
	}
	return value
}
