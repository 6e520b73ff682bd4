package guests_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/wasm"
	w "github.com/ostraka/ostraka/wasm/internal/wasmtest"
)

// bigMemory grows the memory to 107 MiB, then does something without end.
func bigMemory(code ...[]byte) w.Module {
	return w.Command(w.Cat(w.Const(1700), []byte{0x40, 0}, w.Drop, w.Forever(w.Cat(code...))))
}

// pollStdin waits for stdin, or for the longest time there is.
func pollStdin() w.Module {
	store := func(at int32, value ...byte) []byte { return w.Cat(w.Const(at), value) }
	return calling("poll_oneoff", i32+i32+i32+i32, w.Cat(
		store(1024+8, 0x41, 1, 0x36, 2, 0), // to read
		store(1024+48+16, 0x41, 1, 0x36, 2, 0),
		store(1024+48+24, w.Cat([]byte{0x42}, w.S(1<<62), []byte{0x37, 3, 0})...),
		w.Const(1024), w.Const(2048), w.Const(2), w.Const(4096)))
}

// longName runs code in a function whose name takes most of the module.
func longName(code []byte) w.Module {
	m := w.Command(w.Call(w.FirstFunc + 1))
	m.Funcs = append(m.Funcs, w.Func{Type: w.TypeVoid, Code: code})
	m.Custom = w.Section(0, w.Cat(w.Name("name"), w.Section(1, w.Vec(w.Cat(w.U(w.FirstFunc+1), w.Name(strings.Repeat("f", 7<<20)))))))
	return m
}

// wideResults calls a function of 128 results again and again.
func wideResults() w.Module {
	const width = 128
	m := w.Command(nil)
	m.Types = append(m.Types, w.Type(nil, bytes.Repeat([]byte{w.I64}, width)))
	m.Funcs = append(m.Funcs, w.Func{Type: uint32(len(m.Types) - 1), Code: bytes.Repeat([]byte{0x42, 0}, width)})
	m.Funcs[0].Code = bytes.Repeat(w.Cat(w.Call(w.FirstFunc+1), bytes.Repeat(w.Drop, width)), 100)
	return m
}

// What asks the host, or the processor, for much in a single instruction.
func TestCorpusOfGreed(t *testing.T) {
	p := newPool(t, tight)
	copyTable := w.Command(w.Forever(w.Cat(w.Const(0), w.Const(0), w.Const(65535), []byte{0xfc, 14, 0, 0})))
	copyTable.Table = w.Cat([]byte{1, 0x70, 0}, w.U(65535))
	initTable := w.Command(w.Forever(w.Cat(w.Const(0), w.Const(0), w.Const(60000), []byte{0xfc, 12, 0, 0})))
	initTable.Table = w.Cat([]byte{1, 0x70, 0}, w.U(65535))
	initTable.Elems = w.Vec(w.Cat([]byte{1, 0}, w.U(60000), bytes.Repeat(w.U(w.FirstFunc), 60000)))
	manyGlobals := w.Command(nil)
	manyGlobals.Globals = append(w.U(10_000), bytes.Repeat(w.Cat([]byte{0x7b, 1, 0xfd, 12}, make([]byte, 16), []byte{0x0b}), 10_000)...)
	manyTables := w.Command(nil)
	manyTables.Table = append(w.U(65_000), bytes.Repeat([]byte{0x70, 0, 0}, 65_000)...)
	overlong := w.Command([]byte{0x41, 0x80, 0x80, 0x80, 0x80, 0x00, 0x1a})
	lines := w.Print(strings.Repeat("1\n", wasm.MaxLines))
	moreLines := w.Print(strings.Repeat("1\n", wasm.MaxLines+1))
	selfIndirect := indirect(w.Vec(w.Cat([]byte{0, 0x41, 0, 0x0b}, w.Vec(w.U(w.FirstFunc)))))
	for name, c := range map[string]deed{
		"fill for ever":           {bigMemory(w.Const(0), w.Const(0), w.Const(100<<20), []byte{0xfc, 11, 0}), wasm.ClassFuel, "fuel"},
		"copy for ever":           {bigMemory(w.Const(0), w.Const(1), w.Const(100<<20), []byte{0xfc, 10, 0, 0}), wasm.ClassFuel, "fuel"},
		"fill 4 GiB":              {w.Command(w.Cat(w.Const(0), w.Const(0), w.Const(-1), []byte{0xfc, 11, 0})), wasm.ClassFuel, "fuel"},
		"copy a table for ever":   {copyTable, wasm.ClassFuel, "fuel"},
		"init a table for ever":   {initTable, wasm.ClassFuel, "fuel"},
		"4 GiB of random":         {calling("random_get", i32+i32, w.Cat(w.Const(0), w.Const(-1))), wasm.ClassFuel, "fuel"},
		"4 GiB of directory":      {calling("fd_readdir", i32+i32+i32+i64+i32, w.Cat(w.Const(3), w.Const(0), w.Const(-1), []byte{0x42, 0}, w.Const(0))), wasm.ClassFuel, "fuel"},
		"4 GiB of a path":         {calling("fd_prestat_dir_name", i32+i32+i32, w.Cat(w.Const(3), w.Const(0), w.Const(-1))), wasm.ClassFuel, "fuel"},
		"4 billion vectors":       {w.Command(w.Cat(w.Const(1), w.Const(0), w.Const(-1), w.Const(8), w.Call(w.FdWrite), w.Drop)), wasm.ClassFuel, "fuel"},
		"arguments outside":       {calling("args_get", i32+i32, w.Cat(w.Const(-4), w.Const(-4))), "", ""},
		"environment outside":     {calling("environ_get", i32+i32, w.Cat(w.Const(-4), w.Const(-4))), "", ""},
		"sizes outside":           {calling("args_sizes_get", i32+i32, w.Cat(w.Const(-4), w.Const(-4))), "", ""},
		"no preopened directory":  {calling("fd_prestat_get", i32+i32, w.Cat(w.Const(3), w.Const(0))), "", ""},
		"stdin as a directory":    {calling("fd_readdir", i32+i32+i32+i64+i32, w.Cat(w.Const(0), w.Const(0), w.Const(65536), []byte{0x42, 0}, w.Const(0))), "", ""},
		"seeks stdin":             {calling("fd_seek", i32+i64+i32+i32, w.Cat(w.Const(0), []byte{0x42, 0}, w.Const(0), w.Const(0))), "", ""},
		"stdin without blocking":  {calling("fd_fdstat_set_flags", i32+i32, w.Cat(w.Const(0), w.Const(4))), "", ""},
		"waits for stdin":         {pollStdin(), "", ""},
		"recursion by a table":    {selfIndirect, wasm.ClassTrap, "stack overflow"},
		"trap with a long name":   {longName([]byte{unreachable}), wasm.ClassTrap, "unreachable"},
		"stack with a long name":  {longName(w.Call(w.FirstFunc + 1)), wasm.ClassTrap, "stack overflow"},
		"results of 128 values":   {wideResults(), "", ""},
		"10,000 vectors":          {manyGlobals, "", ""},
		"65,000 tables":           {manyTables, "", ""},
		"a number in five bytes":  {overlong, "", ""},
		"as many lines as may be": {lines, "", ""},
		"one line more":           {moreLines, wasm.ClassOutputLimit, "more than 100000 lines"},
	} {
		t.Run(name, func(t *testing.T) { c.do(t, p) })
	}
	_, _, e := runBytes(t, p, w.Print("1").Bytes())
	require.Nil(t, e)
}

// What the pre-check leaves to the compiler, which refuses it with the function.
func TestCorpusOfTheCompiler(t *testing.T) {
	p := newPool(t, tight)
	globalOffset := w.Command(nil)
	globalOffset.Globals = []byte{1, w.I32, 0, 0x41, 0, 0x0b}
	globalOffset.Data = [][]byte{w.Cat([]byte{0, 0x23, 0, 0x0b}, w.Name("xyz"))}
	initWithoutCount := w.Command(w.Cat(w.Const(0), w.Const(0), w.Const(0), []byte{0xfc, 8, 0, 0}))
	initWithoutCount.Data = [][]byte{w.Cat([]byte{1}, w.Name("abc"))}
	for name, module := range map[string]w.Module{
		"data at a global":        globalOffset,
		"init without data count": initWithoutCount,
		"alignment of 4 bytes":    w.Command(w.Cat(w.Const(0), []byte{0x28, 0x42, 0, 0x1a})),
		"alignment of 2^32":       w.Command(w.Cat(w.Const(0), []byte{0x28, 0xff, 0xff, 0xff, 0xff, 0x0f, 0, 0x1a})),
		"grows memory 1":          w.Command(w.Cat(w.Const(0), []byte{0x40, 1, 0x1a})),
		"a number of 33 bits":     w.Command([]byte{0x41, 0x80, 0x80, 0x80, 0x80, 0x70, 0x1a}),
	} {
		t.Run(name, func(t *testing.T) {
			_, _, e := runBytes(t, p, module.Bytes())
			require.NotNil(t, e)
			require.Equal(t, wasm.ClassRejected, e.Class, "%v", e)
			require.NotEmpty(t, e.Hint)
		})
	}
}
