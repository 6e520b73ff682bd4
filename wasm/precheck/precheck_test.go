package precheck

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/wasm/internal/bytecode"
	w "github.com/ostraka/ostraka/wasm/internal/wasmtest"
)

var options = Options{MemoryPages: 4096}

// locals encodes one group of i64 locals.
func locals(n uint64) []byte { return w.Vec(w.Cat(w.U(n), []byte{w.I64})) }

// nested opens n blocks of one kind inside each other, and closes them.
func nested(op byte, n int) []byte {
	return w.Cat(bytes.Repeat([]byte{op, 0x40}, n), bytes.Repeat([]byte{bytecode.OpEnd}, n))
}

// inRow repeats a block n times, one after the other.
func inRow(op byte, n int) []byte { return bytes.Repeat([]byte{op, 0x40, bytecode.OpEnd}, n) }

func brTable(n int) []byte {
	return w.Cat([]byte{0x41, 0, bytecode.OpBrTable}, w.U(uint64(n)), make([]byte, n+1))
}

func with(change func(m *w.Module)) []byte {
	m := w.Command(nil)
	change(&m)
	return m.Bytes()
}

func withLocals(n uint64) []byte {
	return with(func(m *w.Module) { m.Funcs[0].Locals = locals(n) })
}

func withBody(size int) []byte {
	// The body is its local count, its code and an end.
	return w.Command(bytes.Repeat([]byte{0x01}, size-2)).Bytes()
}

func withFunctions(n int) []byte {
	return with(func(m *w.Module) { m.Funcs = append(m.Funcs, make([]w.Func, n-1)...) })
}

func withMemory(pages uint64) []byte {
	return with(func(m *w.Module) { m.Memory = w.Cat([]byte{1, 0}, w.U(pages)) })
}

func withTable(entries uint64) []byte {
	return with(func(m *w.Module) { m.Table = w.Cat([]byte{1, 0x70, 0}, w.U(entries)) })
}

func withElements(n int) []byte {
	return with(func(m *w.Module) {
		m.Elems = w.Vec(w.Cat([]byte{1, 0}, w.U(uint64(n)), make([]byte, n)))
	})
}

func withGlobals(n int) []byte {
	return with(func(m *w.Module) {
		m.Globals = append(w.U(uint64(n)), bytes.Repeat([]byte{w.I32, 0, 0x41, 0, bytecode.OpEnd}, n)...)
	})
}

func withData(n int) []byte {
	return with(func(m *w.Module) { m.Data = slicesRepeat(w.Data(0, ""), n) })
}

func withTypes(n int) []byte {
	return with(func(m *w.Module) { m.Types = append(m.Types, slicesRepeat(w.Type(nil, nil), n-len(m.Types))...) })
}

func withParams(n int) []byte {
	return with(func(m *w.Module) { m.Types = append(m.Types, w.Type(bytes.Repeat([]byte{w.I32}, n), nil)) })
}

func withExports(n int) []byte {
	return with(func(m *w.Module) {
		for i := range n - 2 {
			m.Exports = append(m.Exports, w.Export(strings.Repeat("x", i+1), 0, w.FirstFunc))
		}
	})
}

func withImports(n int) []byte {
	return with(func(m *w.Module) {
		m.Imports = slicesRepeat(m.Imports[0], n)
		m.Exports[1] = w.Export("_start", 0, uint32(n))
	})
}

func withCustom(n int) []byte {
	return with(func(m *w.Module) { m.Custom = bytes.Repeat(w.Section(0, w.Name("x")), n) })
}

func slicesRepeat(item []byte, n int) [][]byte {
	s := make([][]byte, n)
	for i := range s {
		s[i] = item
	}
	return s
}

// Every limit: a module at it passes, one past it is refused by its rule.
func TestLimits(t *testing.T) {
	sections := 6 // of a plain command
	for name, c := range map[string]struct {
		rule   Rule
		build  func(n int) []byte
		limit  int
		offset int // what the module has by itself
	}{
		"size": {rule: RuleSize, limit: MaxModuleBytes, build: func(n int) []byte {
			plain := w.Command(nil).Bytes()
			// Custom section: id, five bytes of size, a name of one byte.
			pad := n - len(plain) - 6
			return w.Cat(plain, []byte{0, byte(pad&0x7f | 0x80), byte(pad>>7&0x7f | 0x80), byte(pad>>14&0x7f | 0x80), byte(pad>>21&0x7f | 0x80), 0}, []byte{1, 'x'}, make([]byte, pad-2))
		}},
		"functions":     {rule: RuleFunctions, limit: MaxFunctions, build: withFunctions},
		"types":         {rule: RuleTypes, limit: MaxTypes, build: withTypes},
		"parameters":    {rule: RuleTypes, limit: MaxParams, build: withParams},
		"imports":       {rule: RuleImport, limit: MaxImports, build: withImports},
		"exports":       {rule: RuleExports, limit: MaxExports, build: withExports},
		"body":          {rule: RuleBody, limit: MaxBody, build: withBody},
		"locals":        {rule: RuleLocals, limit: MaxLocals, build: func(n int) []byte { return withLocals(uint64(n)) }},
		"nesting":       {rule: RuleNesting, limit: MaxNesting, build: func(n int) []byte { return w.Command(nested(bytecode.OpBlock, n)).Bytes() }},
		"loop nesting":  {rule: RuleLoopNesting, limit: MaxLoopNesting, build: func(n int) []byte { return w.Command(nested(bytecode.OpLoop, n)).Bytes() }},
		"branch table":  {rule: RuleBranchTable, limit: MaxBranchTable, build: func(n int) []byte { return w.Command(brTable(n)).Bytes() }},
		"loops":         {rule: RuleLoopLocals, limit: MaxLoopLocals, build: func(n int) []byte { return w.Command(inRow(bytecode.OpLoop, n)).Bytes() }},
		"table":         {rule: RuleTable, limit: MaxTableEntries - 1, build: func(n int) []byte { return withTable(uint64(n)) }},
		"elements":      {rule: RuleTable, limit: MaxElements - 1, build: withElements},
		"globals":       {rule: RuleGlobals, limit: MaxGlobals, build: withGlobals},
		"data segments": {rule: RuleData, limit: MaxDataSegments, build: withData},
		"memory":        {rule: RuleMemory, limit: int(options.MemoryPages), build: func(n int) []byte { return withMemory(uint64(n)) }},
		"sections":      {rule: RuleSize, limit: MaxSections - sections, build: withCustom},
		"loops x locals": {rule: RuleLoopLocals, limit: MaxLoopLocals / 1000, build: func(n int) []byte {
			return with(func(m *w.Module) { m.Funcs[0] = w.Func{Locals: locals(1000), Code: inRow(bytecode.OpLoop, n)} })
		}},
		"total locals": {rule: RuleLocals, limit: MaxTotalLocals / MaxLocals, build: func(n int) []byte {
			return with(func(m *w.Module) {
				for range n {
					m.Funcs = append(m.Funcs, w.Func{Locals: locals(MaxLocals)})
				}
			})
		}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Check(c.build(c.limit), options)
			require.NoError(t, err)
			_, err = Check(c.build(c.limit+1), options)
			requireRule(t, c.rule, err)
		})
	}
}

func requireRule(t *testing.T, rule Rule, err error) {
	t.Helper()
	var refusal *Refusal
	require.ErrorAs(t, err, &refusal)
	require.Equal(t, rule, refusal.Rule, "%v", err)
}

func TestHostileModules(t *testing.T) {
	huge := uint64(1<<32 - 1)
	for name, c := range map[string]struct {
		rule   Rule
		text   string
		module []byte
	}{
		"empty":                 {RuleMagic, "not a WebAssembly module", nil},
		"elf":                   {RuleMagic, "not a WebAssembly module", []byte("\x7fELF\x02\x01\x01\x00")},
		"version 2":             {RuleMagic, "binary version", []byte("\x00asm\x02\x00\x00\x00")},
		"component":             {RuleComponent, "core module", []byte("\x00asm\x0d\x00\x01\x00")},
		"header only":           {RuleMemory, "no memory", w.Header},
		"32 GiB locals":         {RuleLocals, "4294967295 locals", withLocals(huge)},
		"split locals":          {RuleLocals, "locals", with(func(m *w.Module) { m.Funcs[0].Locals = w.Vec(slicesRepeat(w.Cat(w.U(huge), []byte{w.I64}), 4)...) })},
		"compile bomb":          {RuleLoopLocals, "loops times 1000 locals", with(func(m *w.Module) { m.Funcs[0] = w.Func{Locals: locals(1000), Code: nested(bytecode.OpLoop, 100)} })},
		"table.grow":            {RuleTableGrow, "table.grow", w.Command([]byte{0xd0, 0x70, 0x41, 1, 0xfc, 15, 0, 0x1a}).Bytes()},
		"huge table":            {RuleTable, "entries", withTable(huge)},
		"many tables":           {RuleTable, "entries", with(func(m *w.Module) { m.Table = w.Vec(slicesRepeat([]byte{0x70, 0, 0xff, 0x7f}, 5)...) })},
		"huge memory":           {RuleMemory, "memory limit", withMemory(65536)},
		"two memories":          {RuleMemory, "exactly one", with(func(m *w.Module) { m.Memory = []byte{2, 0, 1, 0, 1} })},
		"shared memory":         {RuleFeature, "shared", with(func(m *w.Module) { m.Memory = []byte{1, 3, 1, 1} })},
		"64-bit memory":         {RuleFeature, "64-bit", with(func(m *w.Module) { m.Memory = []byte{1, 4, 1} })},
		"no memory":             {RuleMemory, "no memory", with(func(m *w.Module) { m.Memory = nil })},
		"hidden memory":         {RuleExportMemory, "memory", with(func(m *w.Module) { m.Exports = m.Exports[1:] })},
		"memory is func":        {RuleExportMemory, "memory", with(func(m *w.Module) { m.Exports[0] = w.Export("memory", 0, 3) })},
		"no start":              {RuleExportStart, "_start", with(func(m *w.Module) { m.Exports = m.Exports[:1] })},
		"start takes":           {RuleExportStart, "take nothing", with(func(m *w.Module) { m.Exports[1] = w.Export("_start", 0, w.FdRead) })},
		"start nowhere":         {RuleExportStart, "take nothing", with(func(m *w.Module) { m.Exports[1] = w.Export("_start", 0, 99) })},
		"start takes args":      {RuleStart, "take nothing", with(func(m *w.Module) { m.Start = w.U(w.FdRead) })},
		"start section nowhere": {RuleStart, "take nothing", with(func(m *w.Module) { m.Start = w.U(99) })},
		"data outside":          {RuleData, "ends at 65537", with(func(m *w.Module) { m.Data = [][]byte{w.Data(65535, "xx")} })},
		"data negative":         {RuleData, "ends at 4294967297", with(func(m *w.Module) { m.Data = [][]byte{w.Data(-1, "xx")} })},
		"export twice":          {RuleExports, "twice", with(func(m *w.Module) { m.Exports = append(m.Exports, m.Exports[0]) })},
		"unknown import":        {RuleImport, "--use abort=", with(func(m *w.Module) { m.Imports[0] = w.Import("env", "abort", 0) })},
		"sockets":               {RuleImport, "sock_accept", with(func(m *w.Module) { m.Imports[0] = w.Import("wasi_snapshot_preview1", "sock_accept", 1) })},
		"wrong type":            {RuleImportType, "fd_read", with(func(m *w.Module) { m.Imports[0] = w.Import("wasi_snapshot_preview1", "fd_read", 0) })},
		"import memory":         {RuleImport, "only functions", with(func(m *w.Module) { m.Imports[0] = w.Cat(w.Name("env"), w.Name("memory"), []byte{2, 0, 1}) })},
		"atomics":               {RuleFeature, "threads", w.Command([]byte{0xfe, 0}).Bytes()},
		"tail call":             {RuleFeature, "tail calls", w.Command([]byte{0x12, 3}).Bytes()},
		"exceptions":            {RuleFeature, "exceptions", w.Command([]byte{0x06, 0x40, 0x0b}).Bytes()},
		"gc":                    {RuleFeature, "garbage", w.Command([]byte{0xfb, 0}).Bytes()},
		"relaxed simd":          {RuleFeature, "relaxed", w.Command([]byte{0xfd, 0x80, 2}).Bytes()},
		"extended const":        {RuleFeature, "more than one", with(func(m *w.Module) { m.Globals = []byte{1, w.I32, 0, 0x41, 1, 0x41, 1, 0x6a, 0x0b} })},
		"endless number":        {RuleMalformed, "32 bits", w.Cat(w.Header, []byte{1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff})},
		"truncated":             {RuleMalformed, "left", w.Command(nil).Bytes()[:40]},
		"no end":                {RuleMalformed, "early", w.Cat(w.Command(nil).Bytes()[:len(w.Command(nil).Bytes())-1], []byte{0x01})},
		"after the end":         {RuleMalformed, "follow the end", w.Command([]byte{0x0b, 0x01}).Bytes()},
		"repeated":              {RuleMalformed, "repeated", w.Cat(w.Header, w.Section(1, []byte{0}), w.Section(1, []byte{0}))},
		"out of order":          {RuleMalformed, "order", w.Cat(w.Header, w.Section(3, []byte{0}), w.Section(1, []byte{0}))},
		"left over":             {RuleMalformed, "left over", w.Cat(w.Header, w.Section(1, []byte{0, 0}))},
		"lying count":           {RuleMalformed, "announced", w.Cat(w.Header, w.Section(1, w.U(9000)))},
		"tag section":           {RuleFeature, "section 13", w.Cat(w.Header, w.Section(13, nil))},
		"bodies missing":        {RuleMalformed, "have a body", w.Cat(w.Header, w.Section(1, w.Vec(w.Type(nil, nil))), w.Section(3, []byte{1, 0}))},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Check(c.module, options)
			requireRule(t, c.rule, err)
			require.Contains(t, err.Error(), c.text)
		})
	}
}

func TestRefusalNamesTheFunction(t *testing.T) {
	named := with(func(m *w.Module) {
		m.Exports[1] = w.Export("_start", 0, 4)
		m.Funcs = append([]w.Func{{Locals: locals(5000)}}, m.Funcs...)
		m.Custom = w.Section(0, w.Cat(w.Name("name"), w.Section(1, w.Vec(w.Cat(w.U(3), w.Name("fold\x1b[31m"))))))
	})
	_, err := Check(named, options)
	require.EqualError(t, err, "function 3 (fold?[31m): at least 5000 locals and parameters; at most 2000 are allowed (offset 175)")

	_, err = Check(withLocals(5000), options)
	require.ErrorContains(t, err, "function 3 (_start): ", "an export names it too")
}

func TestEveryTruncationIsRefused(t *testing.T) {
	// The last section must be one that the contract needs.
	module := w.Command(w.Write(1, 0, 1)).Bytes()
	_, err := Check(module, options)
	require.NoError(t, err)
	for n := range module {
		_, err := Check(module[:n], options)
		require.Error(t, err, "the first %d of %d bytes", n, len(module))
	}
}

// A real program passes with room: the Go toolchain makes the largest modules
// that we know, so its figures guard the limits.
func TestRealProgramPasses(t *testing.T) {
	dir := t.TempDir()
	source := `package main
import ("bufio"; "encoding/json"; "fmt"; "os")
func main() {
	n := 0
	for s := bufio.NewScanner(os.Stdin); s.Scan(); n++ {
		var v map[string]any
		_ = json.Unmarshal(s.Bytes(), &v)
	}
	fmt.Println(n)
}`
	require.NoError(t, os.WriteFile(filepath.Join(dir, "main.go"), []byte(source), 0o600))
	out := filepath.Join(dir, "main.wasm")
	build := exec.Command("go", "build", "-o", out, filepath.Join(dir, "main.go"))
	build.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "GOFLAGS=")
	text, err := build.CombinedOutput()
	require.NoError(t, err, "%s", text)
	module, err := os.ReadFile(out)
	require.NoError(t, err)

	info, err := Check(module, options)
	require.NoError(t, err)
	t.Logf("%+v", info)
	require.Contains(t, info.Imports, "fd_read")
	require.Less(t, info.MaxNesting, MaxNesting)
	require.Less(t, info.TotalLocals, MaxTotalLocals/4)
}
