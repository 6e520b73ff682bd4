package guests_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/wasm"
	w "github.com/ostraka/ostraka/wasm/internal/wasmtest"
)

// calling is a command that imports one more function of WASI and calls it
// with the given code, whose result it drops.
func calling(name string, params string, code []byte) w.Module {
	m := w.Command(nil)
	m.Types = append(m.Types, w.Type([]byte(params), []byte{w.I32}))
	m.Imports = append(m.Imports, w.Import("wasi_snapshot_preview1", name, uint32(len(m.Types)-1)))
	m.Exports[1] = w.Export("_start", 0, w.FirstFunc+1)
	m.Funcs[0].Code = w.Cat(code, w.Call(w.FirstFunc), w.Drop)
	return m
}

func (f forever) module() w.Module {
	m := calling(f.name, f.params, f.code)
	m.Funcs[0].Code = w.Forever(m.Funcs[0].Code)
	return m
}

// forever calls a function of the host without end.
type forever struct {
	name, params string
	code         []byte
}

const i32, i64 = "\x7f", "\x7e"

// longPath asks the host for a path as long as the memory.
func longPath() []byte {
	return w.Cat(w.Const(3), w.Const(0), w.Const(0), w.Const(65536), w.Const(0),
		[]byte{0x42, 0, 0x42, 0}, w.Const(0), w.Const(0))
}

// sleepFor subscribes to a clock for the longest time there is.
func sleepFor() []byte {
	store := func(at int32, value ...byte) []byte { return w.Cat(w.Const(at), value) }
	return w.Cat(
		store(1024+16, 0x41, 1, 0x36, 2, 0),                                    // the monotonic clock
		store(1024+24, w.Cat([]byte{0x42}, w.S(1<<62), []byte{0x37, 3, 0})...), // the time-out
		w.Const(1024), w.Const(2048), w.Const(1), w.Const(4096))
}

// deepFrames recurses with many locals that are all in use.
func deepFrames() w.Module {
	m := w.Command(nil)
	body := []byte{}
	for i := range uint64(500) {
		body = w.Cat(body, []byte{0x20}, w.U(i), []byte{0x42, 1, 0x7c, 0x21}, w.U(i))
	}
	m.Funcs[0].Locals = w.Vec(w.Cat(w.U(500), []byte{w.I64}))
	m.Funcs[0].Code = w.Cat(body, w.Call(w.FirstFunc), body)
	return m
}

func indirect(elems []byte) w.Module {
	m := w.Command(w.Cat(w.Const(0), []byte{0x11, 0, 0}))
	m.Table = []byte{1, 0x70, 0, 4}
	m.Elems = elems
	return m
}

// deed is what a module does that passed the pre-check, and how it must end.
type deed struct {
	module w.Module
	class  wasm.Class // empty: it ends well
	text   string
}

// do runs it twice: it ends as it must, with an error that helps and is no burden
// itself, and takes the same fuel both times.
func (d deed) do(t *testing.T, p *wasm.Pool) {
	t.Helper()
	_, first, e := runBytes(t, p, d.module.Bytes())
	if d.class == "" {
		require.Nil(t, e)
	} else {
		require.NotNil(t, e)
		require.Equal(t, d.class, e.Class, "%v", e)
		require.Contains(t, e.Error(), d.text)
		require.NotEmpty(t, e.Hint)
		require.Contains(t, e.Header, `"ostraka":1`)
		require.Less(t, len(e.Error())+len(strings.Join(e.Frames, "")), 8<<10, "what the module calls itself does not bloat the error")
	}
	_, again, _ := runBytes(t, p, d.module.Bytes())
	require.Equal(t, first.Fuel, again.Fuel, "the same fuel in every run")
}

// Modules that pass the pre-check and then do their worst. Each ends with a
// clear class, or does no harm; and all of them together leave the pool as it was.
func TestCorpus(t *testing.T) {
	p := newPool(t, tight)
	trapInStart := w.Command(nil)
	trapInStart.Funcs = append(trapInStart.Funcs, w.Func{Type: w.TypeVoid, Code: []byte{unreachable}})
	trapInStart.Start = w.U(w.FirstFunc + 1)
	exitInStart := w.Command(nil)
	exitInStart.Funcs = append(exitInStart.Funcs, w.Func{Type: w.TypeVoid, Code: w.Exit(7)})
	exitInStart.Start = w.U(w.FirstFunc + 1)
	recursionInStart := w.Command(nil)
	recursionInStart.Funcs = append(recursionInStart.Funcs, w.Func{Type: w.TypeVoid, Code: w.Call(w.FirstFunc + 1)})
	recursionInStart.Start = w.U(w.FirstFunc + 1)
	manyVectors := w.Command(w.Cat(w.Const(1700), []byte{0x40, 0}, w.Drop,
		w.Forever(w.Cat(w.Const(1), w.Const(65536), w.Const(1<<22), w.Const(8), w.Call(w.FdWrite), w.Drop))))
	outsideVectors := w.Command(w.Cat(w.Const(1), w.Const(-8), w.Const(1<<20), w.Const(8), w.Call(w.FdWrite), w.Drop))
	bigData := w.Command(nil)
	bigData.Memory = []byte{1, 0, 0x40}
	bigData.Data = [][]byte{w.Data(0, strings.Repeat("\x00", 4<<20))}
	manyData := w.Command(nil)
	for range 50_000 {
		manyData.Data = append(manyData.Data, w.Data(0, "x"))
	}
	lyingNames := w.Command(nil)
	lyingNames.Custom = w.Section(0, w.Cat(w.Name("name"), w.Section(1, w.U(1<<32-1))))
	lyingLocals := w.Command(nil)
	lyingLocals.Custom = w.Section(0, w.Cat(w.Name("name"), w.Section(2, w.Cat(w.U(1), w.U(0), w.U(1<<32-1)))))
	fullTable := w.Command(nil)
	fullTable.Table = w.Cat([]byte{1, 0x70, 0}, w.U(65535))
	fullTable.Funcs[0].Code = w.Forever(w.Cat(w.Const(0), []byte{0xd0, 0x70}, w.Const(65535), []byte{0xfc, 17, 0}))
	outsideFill := w.Command(w.Cat(w.Const(0), w.Const(0), w.Const(1<<20), []byte{0xfc, 11, 0}))
	closes := calling("fd_close", i32, w.Const(1))
	closes.Funcs[0].Code = w.Cat(closes.Funcs[0].Code, w.Write(1, 1024, 2))
	vector := w.Command(bytes.Repeat(w.Cat([]byte{0xfd, 12}, make([]byte, 16), []byte{0xfd, 21, 0, 0x1a}), 3))
	halfLine := w.Print(`{"a":`)

	for name, c := range map[string]deed{
		"trap in start":           {trapInStart, wasm.ClassTrap, "unreachable"},
		"exit in start":           {exitInStart, wasm.ClassExit, "code 7"},
		"recursion in start":      {recursionInStart, wasm.ClassTrap, "stack overflow"},
		"deep frames":             {deepFrames(), wasm.ClassFuel, "fuel"},
		"null in a table":         {indirect(nil), wasm.ClassTrap, "table"},
		"wrong type in a table":   {indirect(w.Vec(w.Cat([]byte{0, 0x41, 0, 0x0b}, w.Vec(w.U(w.FdRead))))), wasm.ClassTrap, "indirect call type mismatch"},
		"elements outside":        {indirect(w.Vec(w.Cat([]byte{0, 0x41, 9, 0x0b}, w.Vec(w.U(3))))), wasm.ClassTrap, "invalid table access"},
		"fill outside":            {outsideFill, wasm.ClassTrap, "out of bounds"},
		"fill a table for ever":   {fullTable, wasm.ClassFuel, "fuel"},
		"millions of vectors":     {manyVectors, wasm.ClassFuel, "fuel"},
		"vectors outside":         {outsideVectors, "", ""},
		"random for ever":         {forever{"random_get", i32 + i32, w.Cat(w.Const(0), w.Const(65536))}.module(), wasm.ClassFuel, "fuel"},
		"clock for ever":          {forever{"clock_time_get", i32 + i64 + i32, w.Cat(w.Const(1), []byte{0x42, 0}, w.Const(0))}.module(), wasm.ClassFuel, "fuel"},
		"yield for ever":          {forever{"sched_yield", "", nil}.module(), wasm.ClassFuel, "fuel"},
		"read for ever":           {w.Command(w.Forever(w.Cat(w.Const(0), w.Const(0), w.Const(1), w.Const(8), w.Call(w.FdRead), w.Drop))), wasm.ClassFuel, "fuel"},
		"sleep for ever":          {forever{"poll_oneoff", i32 + i32 + i32 + i32, sleepFor()}.module(), wasm.ClassFuel, "fuel"},
		"sleep for years":         {calling("poll_oneoff", i32+i32+i32+i32, sleepFor()), "", ""},
		"a billion subscriptions": {calling("poll_oneoff", i32+i32+i32+i32, w.Cat(w.Const(0), w.Const(0), w.Const(1<<30), w.Const(0))), wasm.ClassFuel, "fuel"},
		"open a path":             {calling("path_open", i32+i32+i32+i32+i32+i64+i64+i32+i32, longPath()), "", ""},
		"open paths for ever":     {forever{"path_open", i32 + i32 + i32 + i32 + i32 + i64 + i64 + i32 + i32, longPath()}.module(), wasm.ClassFuel, "fuel"},
		"closes stdout":           {closes, "", ""},
		"4 MiB of data":           {bigData, "", ""},
		"50,000 data segments":    {manyData, "", ""},
		"4 billion names":         {lyingNames, "", ""},
		"4 billion local names":   {lyingLocals, "", ""},
		"vectors of numbers":      {vector, "", ""},
		"half a line":             {halfLine, wasm.ClassBadOutput, "not JSON"},
	} {
		t.Run(name, func(t *testing.T) { c.do(t, p) })
	}
	_, _, e := runBytes(t, p, w.Print("1").Bytes())
	require.Nil(t, e)
}
