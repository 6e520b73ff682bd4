package meter_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	w "github.com/ostraka/ostraka/wasm/internal/wasmtest"
	"github.com/ostraka/ostraka/wasm/meter"
)

// Instructions that the tests write.
const (
	nop, unreachable, block, loop, iff, els, end0, br, brIf, ret = 0x01, 0x00, 0x02, 0x03, 0x04, 0x05, 0x0b, 0x0c, 0x0d, 0x0f
	void                                                         = 0x40
	get, set, tee                                                = 0x20, 0x21, 0x22
	add, sub, lts                                                = 0x6a, 0x6b, 0x48
)

// countdown repeats code n times, with 4 instructions of its own each time
// (get, const, sub, tee, br_if: 5) and 3 before (const, set, loop).
func countdown(n int32, code []byte) []byte {
	return w.Cat(w.Const(n), []byte{set, 0, loop, void}, code,
		[]byte{get, 0, 0x41, 1, sub, tee, 0, brIf, 0, end0})
}

var oneLocal = w.Vec(w.Cat(w.U(1), []byte{w.I32}))

func with(code []byte) w.Module {
	m := w.Command(code)
	m.Funcs[0].Locals = oneLocal
	return m
}

// One unit is one instruction that was executed: counted by hand.
func TestUnits(t *testing.T) {
	choose := func(cond int32) []byte {
		return w.Cat(w.Const(cond), []byte{iff, void, nop, nop, els, nop, nop, nop, nop, end0, nop})
	}
	callee := with(w.Cat(w.Call(w.FirstFunc+1), w.Call(w.FirstFunc+1)))
	callee.Funcs = append(callee.Funcs, w.Func{Type: w.TypeVoid, Code: []byte{nop, nop, nop}})
	started := with([]byte{nop})
	started.Funcs = append(started.Funcs, w.Func{Type: w.TypeVoid, Code: []byte{nop, nop, nop}})
	started.Start = w.U(w.FirstFunc + 1)
	for name, c := range map[string]struct {
		module w.Module
		units  int64
	}{
		"nothing":        {with(nil), 0},
		"straight":       {with(bytes.Repeat([]byte{nop}, 7)), 7},
		"loop":           {with(countdown(1000, []byte{nop})), 3 + 1000*6},
		"loop in a loop": {with(w.Cat([]byte{loop, void}, countdown(10, nil), []byte{end0})), 1 + 3 + 10*5},
		"then":           {with(choose(1)), 2 + 2 + 1},
		"else":           {with(choose(0)), 2 + 4 + 1},
		"no else":        {with(w.Cat(w.Const(0), []byte{iff, void, nop, nop, end0, nop})), 3},
		"branch out":     {with(w.Cat([]byte{block, void}, w.Const(1), []byte{brIf, 0, nop, nop, end0, nop})), 1 + 2 + 1},
		"no branch":      {with(w.Cat([]byte{block, void}, w.Const(0), []byte{brIf, 0, nop, nop, end0, nop})), 1 + 2 + 2 + 1},
		"dead code":      {with([]byte{block, void, br, 0, nop, nop, block, void, nop, end0, end0, nop}), 2 + 1},
		"return":         {with([]byte{nop, ret, nop, nop}), 2},
		"calls":          {callee, 2 + 2*3},
		"start section":  {started, 3 + 1}, // what calls it is ours
		"memory.fill":    {with(w.Cat(w.Const(0), w.Const(7), w.Const(8000), []byte{0xfc, 11, 0})), 4 + 1000},
		"memory.copy":    {with(w.Cat(w.Const(0), w.Const(7), w.Const(8000), []byte{0xfc, 10, 0, 0})), 4 + 1000},
		"memory.grow":    {with(w.Cat(w.Const(2), []byte{0x40, 0}, w.Drop)), 2 + meter.GrowUnits + 2*meter.GrowPageUnits},
		"grow refused":   {with(w.Cat(w.Const(1000), []byte{0x40, 0}, w.Drop)), 2 + meter.GrowUnits},
		"host call":      {with(w.Cat(w.Const(1), w.Const(0), w.Const(2), w.Const(64), w.Call(w.FdWrite), w.Drop)), 6 + meter.HostCallUnits + 2*16},
	} {
		t.Run(name, func(t *testing.T) {
			e := metered(t, c.module.Bytes(), "", plenty)
			require.Empty(t, e.text)
			require.Equal(t, c.units, e.units)
		})
	}
}

// The fuel ends loops and recursions at the same unit each time.
func TestFuelEndsEverything(t *testing.T) {
	const self = w.FirstFunc + 1
	fibonacci := w.Command(w.Cat(w.Const(60), w.Call(self), w.Drop))
	less := func(k int32) []byte { return w.Cat([]byte{get, 0}, w.Const(k), []byte{sub}, w.Call(self)) }
	fibonacci.Funcs = append(fibonacci.Funcs, w.Func{Type: w.TypeInt, Code: w.Cat(
		[]byte{get, 0}, w.Const(2), []byte{lts, iff, w.I32}, w.Const(1), []byte{els}, less(1), less(2), []byte{add, end0})})
	inStart := w.Command(nil)
	inStart.Funcs = append(inStart.Funcs, w.Func{Type: w.TypeVoid, Code: w.Forever(nil)})
	inStart.Start = w.U(w.FirstFunc + 1)
	for name, m := range map[string]w.Module{
		"loop":          w.Command(w.Forever(nil)),
		"recursion":     fibonacci,
		"start section": inStart,
		"fill":          w.Command(w.Forever(w.Cat(w.Const(0), w.Const(0), w.Const(65536), []byte{0xfc, 11, 0}))),
		"host calls":    w.Command(w.Forever(w.Write(1, 0, 0))),
		"branch table":  w.Command([]byte{loop, void, 0x41, 0, 0x0e, 1, 0, 0, end0}),
	} {
		t.Run(name, func(t *testing.T) {
			const limit = 100_000
			e := metered(t, m.Bytes(), "", limit)
			require.True(t, e.starved)
			require.Greater(t, e.units, int64(limit))
			require.Equal(t, e, metered(t, m.Bytes(), "", limit))
		})
	}
}

// What the original cannot name, the rewritten module must not either.
func TestNothingOfOursCanBeNamed(t *testing.T) {
	global := func(index uint64, op byte) []byte { return w.Cat([]byte{op}, w.U(index)) }
	refuel := w.Cat([]byte{0x42}, w.S(1<<62), global(1, 0x24))
	oneGlobal := []byte{1, w.I32, 1, 0x41, 0, end0}
	change := func(f func(m *w.Module)) []byte {
		m := w.Command(nil)
		m.Globals = oneGlobal
		f(&m)
		return m.Bytes()
	}
	total := uint64(w.FirstFunc + 1)
	for name, module := range map[string][]byte{
		"set the fuel":    change(func(m *w.Module) { m.Funcs[0].Code = refuel }),
		"read the fuel":   change(func(m *w.Module) { m.Funcs[0].Code = w.Cat(global(1, 0x23), w.Drop) }),
		"export the fuel": change(func(m *w.Module) { m.Exports = append(m.Exports, w.Export("x", 3, 1)) }),
		"copy the fuel": change(func(m *w.Module) {
			m.Globals = w.Cat([]byte{2}, oneGlobal[1:], []byte{w.I64, 0}, global(2, 0x23), []byte{end0})
		}),
		"call the tick":      change(func(m *w.Module) { m.Funcs[0].Code = w.Cat([]byte{0x42, 0x7f}, w.Call(uint32(total)), w.Drop) }),
		"call a wrapper":     change(func(m *w.Module) { m.Funcs[0].Code = w.Call(uint32(total + 1)) }),
		"export a wrapper":   change(func(m *w.Module) { m.Exports = append(m.Exports, w.Export("x", 0, uint32(total))) }),
		"refer to a wrapper": change(func(m *w.Module) { m.Funcs[0].Code = w.Cat([]byte{0xd2}, w.U(total), w.Drop) }),
		"element of a wrapper": change(func(m *w.Module) {
			m.Table = []byte{1, 0x70, 0, 1}
			m.Elems = w.Vec(w.Cat([]byte{0, 0x41, 0, end0}, w.Vec(w.U(total))))
		}),
		"start at a wrapper":  change(func(m *w.Module) { m.Start = w.U(total) }),
		"our local":           change(func(m *w.Module) { m.Funcs[0].Code = []byte{get, 0, 0x1a} }),
		"our type":            change(func(m *w.Module) { m.Funcs[0].Type = uint32(len(m.Types)) }),
		"our type of a block": change(func(m *w.Module) { m.Funcs[0].Code = w.Cat([]byte{block}, w.S(int64(len(m.Types)+1)), []byte{end0}) }),
		"our type of a call": change(func(m *w.Module) {
			m.Funcs[0].Code = w.Cat(w.Const(0), []byte{0x11}, w.U(uint64(len(m.Types)+1)), []byte{0})
		}),
		"our export's name": change(func(m *w.Module) { m.Exports = append(m.Exports, w.Export(meter.ExportFuel, 0, 3)) }),
		"our import":        change(func(m *w.Module) { m.Imports[0] = w.Import(meter.ImportModule, meter.ImportTick, 0) }),
		"table.grow":        change(func(m *w.Module) { m.Funcs[0].Code = []byte{0xd0, 0x70, 0x41, 1, 0xfc, 15, 0, 0x1a} }),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := meter.Instrument(module)
			var refusal *meter.Refusal
			require.ErrorAs(t, err, &refusal)
		})
	}
}

// A module that was cut off is refused, unless the cut is between two sections.
func TestTruncations(t *testing.T) {
	module := w.Print("x").Bytes()
	passed := 0
	for n := range module {
		if _, err := meter.Instrument(module[:n]); err == nil {
			passed++
		}
	}
	require.Less(t, passed, 12, "there are not more sections than that")
}

// Traps tell the original's names, and numbers where it has none.
func TestFramesKeepTheirNames(t *testing.T) {
	m := w.Command(w.Call(w.FirstFunc + 1))
	m.Funcs = append(m.Funcs, w.Func{Type: w.TypeVoid, Code: w.Call(w.FirstFunc + 2)}, w.Func{Type: w.TypeVoid, Code: []byte{unreachable}})
	m.Custom = w.Section(0, w.Cat(w.Name("name"), w.Section(1, w.Vec(w.Cat(w.U(w.FirstFunc+1), w.Name("fold"))))))
	instrumented, err := meter.Instrument(m.Bytes())
	require.NoError(t, err)
	require.Contains(t, string(instrumented), "fold")
	require.Contains(t, string(instrumented), "$5")
}
