package wasm_test

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/wasm"
	w "github.com/ostraka/ostraka/wasm/internal/wasmtest"
)

var header = wasm.Header{Kind: wasm.KindAggregator, Phase: wasm.PhaseLeaf, Project: "p", Job: "j"}

// runBytes runs a module with no records and returns what it printed.
func runBytes(t testing.TB, p *wasm.Pool, module []byte) (string, wasm.Stats, *wasm.Error) {
	t.Helper()
	var out strings.Builder
	stats, err := p.Run(t.Context(), "p", wasm.FromBytes(module), header, nil, func(line []byte) error {
		out.Write(line)
		out.WriteByte('\n')
		return nil
	})
	if err == nil {
		return out.String(), stats, nil
	}
	var e *wasm.Error
	require.ErrorAs(t, err, &e)
	return out.String(), stats, e
}

// tight are limits that a bad module meets soon.
func tight(o *wasm.Options) {
	o.Limits.Memory = 128 << 20
	o.Limits.Output = 1 << 20
	o.Limits.Line = 64 << 10
	o.Limits.Fuel = tightFuel
}

// tightFuel is what only modules that never end are meant to use up.
const tightFuel = 500_000_000

const unreachable = 0x00

// callSelf makes _start call itself, without any loop.
func callSelf() []byte { return w.Cat(w.Call(w.FirstFunc), w.Call(w.FirstFunc)) }

// fibonacci recurses without a loop, never deep, and practically for ever.
func fibonacci(n int32) w.Module {
	const self = w.FirstFunc + 1
	less := func(k int32) []byte { return w.Cat([]byte{0x20, 0}, w.Const(k), []byte{0x6b}, w.Call(self)) }
	m := w.Command(w.Cat(w.Const(n), w.Call(self), w.Drop))
	m.Funcs = append(m.Funcs, w.Func{Type: w.TypeInt, Code: w.Cat(
		[]byte{0x20, 0}, w.Const(2), []byte{0x48, 0x04, w.I32}, w.Const(1),
		[]byte{0x05}, less(1), less(2), []byte{0x6a, 0x0b})})
	return m
}

// growing grows the memory by pages until it is refused, then fails.
func growing(pages int32) []byte {
	return w.Cat([]byte{0x03, 0x40}, w.Const(pages), []byte{0x40, 0}, w.Const(-1), []byte{0x47, 0x0d, 0, 0x0b, unreachable})
}

func TestMisbehavingModules(t *testing.T) {
	p := newPool(t, tight)
	long := strings.Repeat("1", 64<<10)
	startLoops := w.Command(nil)
	startLoops.Funcs = append(startLoops.Funcs, w.Func{Type: w.TypeVoid, Code: w.Forever(nil)})
	startLoops.Start = w.U(w.FirstFunc + 1)
	manyOnes := w.Print("1\n")
	manyOnes.Funcs[0].Code = w.Forever(w.Write(1, 1024, 2))
	complains := w.Print("no\x1b[31m such\x00 field\n")
	complains.Funcs[0].Code = w.Cat(w.Write(2, 1024, 20), w.Exit(65))
	noisy := w.Print(strings.Repeat("noise ", 1000))
	noisy.Funcs[0].Code = w.Forever(w.Write(2, 1024, 6000))
	hugeLine := w.Command(w.Cat(w.Const(1700), []byte{0x40, 0}, w.Drop, w.Write(1, 0, 100<<20)))

	for name, c := range map[string]struct {
		module w.Module
		class  wasm.Class
		text   string
	}{
		"endless loop":         {w.Command(w.Forever(nil)), wasm.ClassFuel, "its fuel of 500000000 units"},
		"loop in start":        {startLoops, wasm.ClassFuel, "its fuel of 500000000 units"},
		"endless noise":        {noisy, wasm.ClassFuel, "its fuel of 500000000 units"},
		"recursion for years":  {fibonacci(70), wasm.ClassFuel, "its fuel of 500000000 units"},
		"endless recursion":    {w.Command(callSelf()), wasm.ClassTrap, "stack overflow"},
		"memory page by page":  {w.Command(growing(1)), wasm.ClassMemoryLimit, "128 MiB"},
		"memory at once":       {w.Command(growing(60000)), wasm.ClassMemoryLimit, "128 MiB"},
		"endless stdout":       {manyOnes, wasm.ClassOutputLimit, "more than 100000 lines"},
		"line of 100 MB":       {hugeLine, wasm.ClassOutputLimit, "more than 1048576 bytes"},
		"trap":                 {w.Command([]byte{unreachable}), wasm.ClassTrap, "unreachable"},
		"division by zero":     {w.Command(w.Cat(w.Const(1), w.Const(0), []byte{0x6d}, w.Drop)), wasm.ClassTrap, "divide by zero"},
		"outside memory":       {w.Command(w.Cat(w.Const(-4), []byte{0x28, 2, 0}, w.Drop)), wasm.ClassTrap, "out of bounds"},
		"exit 1":               {w.Command(w.Exit(1)), wasm.ClassExit, "code 1"},
		"exit 64":              {w.Command(w.Exit(64)), wasm.ClassExit, "does not support this kind"},
		"exit 65":              {complains, wasm.ClassExit, "does not understand a record or its parameters: no[31m such field"},
		"exit 75":              {w.Command(w.Exit(75)), wasm.ClassExit, "tried again"},
		"exit of our own":      {w.Command(w.Exit(251)), wasm.ClassExit, "code 251"},
		"text on stdout":       {w.Print("hello\n"), wasm.ClassBadOutput, "line 1 of stdout is not JSON"},
		"empty line":           {w.Print("1\n\n2\n"), wasm.ClassBadOutput, "line 2 of stdout is not JSON"},
		"two values":           {w.Print("1 2\n"), wasm.ClassBadOutput, "not JSON"},
		"NaN":                  {w.Print("{\"score\":NaN}\n"), wasm.ClassBadOutput, "not JSON"},
		"not UTF-8":            {w.Print("\"\xff\"\n"), wasm.ClassBadOutput, "not UTF-8"},
		"NUL":                  {w.Print(`"\u0000"`), wasm.ClassBadOutput, "NUL"},
		"half a surrogate":     {w.Print(`"\ud800"`), wasm.ClassBadOutput, "surrogate"},
		"other half":           {w.Print(`["\udc00"]`), wasm.ClassBadOutput, "surrogate"},
		"half and escape":      {w.Print(`"\ud800\u0041"`), wasm.ClassBadOutput, "surrogate"},
		"too deep":             {w.Print(strings.Repeat("[", 129) + strings.Repeat("]", 129)), wasm.ClassBadOutput, "deeper than 128"},
		"invalid code":         {w.Command([]byte{0x6a}), wasm.ClassRejected, "the compiler refused it"},
		"wrong result of main": {w.Command(w.Const(1)), wasm.ClassRejected, "the compiler refused it"},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, e := runBytes(t, p, c.module.Bytes())
			require.NotNil(t, e)
			require.Equal(t, c.class, e.Class, "%v", e)
			require.Contains(t, e.Message, c.text)
			require.NotContains(t, e.Error()+e.Stderr, "\x1b")
		})
	}

	// After all that, the pool serves as if nothing had happened.
	out, _, e := runBytes(t, p, w.Print("{\"a\":\"\\ud83d\\ude00\"}\n"+long).Bytes())
	require.Nil(t, e)
	require.Equal(t, "{\"a\":\"\\ud83d\\ude00\"}\n"+long+"\n", out)
}

func TestRefusedBeforeCompiling(t *testing.T) {
	p := newPool(t, tight)
	bomb := w.Command(bytes.Repeat([]byte{0x03, 0x40}, 100))
	bomb.Funcs[0].Code = append(bomb.Funcs[0].Code, bytes.Repeat([]byte{0x0b}, 100)...)
	bomb.Funcs[0].Locals = w.Vec(w.Cat(w.U(1000), []byte{w.I64}))
	giant := w.Command(nil)
	giant.Funcs[0].Locals = w.Vec(w.Cat(w.U(1<<32-1), []byte{w.I64}))
	grows := w.Command([]byte{0xd0, 0x70, 0x41, 1, 0xfc, 15, 0, 0x1a})
	grows.Table = []byte{1, 0x70, 0, 1}
	abort := w.Command(nil)
	abort.Imports[0] = w.Import("env", "abort", 0)
	outside := w.Command(nil)
	outside.Data = [][]byte{w.Data(1<<20, "far away")}
	hungry := w.Command(nil)
	hungry.Memory = w.Cat([]byte{1, 0}, w.U(2049))
	for name, c := range map[string]struct {
		module w.Module
		rule   string
	}{
		"compile bomb":   {bomb, "loop_locals"},
		"32 GiB locals":  {giant, "locals"},
		"table.grow":     {grows, "table_grow"},
		"unknown import": {abort, "import"},
		"large minimum":  {hungry, "memory"},
		"data outside":   {outside, "data"},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, e := runBytes(t, p, c.module.Bytes())
			require.NotNil(t, e)
			require.Equal(t, wasm.ClassRejected, e.Class)
			require.Equal(t, c.rule, e.Rule)
			require.NotEmpty(t, e.Hint)

			_, err := p.Check(t.Context(), "p", c.module.Bytes(), wasm.KindAggregator)
			var refused *wasm.Error
			require.ErrorAs(t, err, &refused)
			require.Equal(t, c.rule, refused.Rule)
		})
	}
}

// slowToCompile keeps every static limit and still takes the compiler 20 s:
// many functions in which many locals change in nested loops.
func slowToCompile() []byte {
	const functions, locals, loops = 200, 600, 30
	body := bytes.Repeat([]byte{0x03, 0x40}, loops)
	for i := range uint64(locals) {
		body = w.Cat(body, []byte{0x20}, w.U(i), []byte{0x42, 1, 0x7c, 0x21}, w.U(i))
	}
	body = append(body, bytes.Repeat([]byte{0x41, 1, 0x0d, 0, 0x0b}, loops)...)
	m := w.Command(nil)
	for range functions {
		m.Funcs = append(m.Funcs, w.Func{Locals: w.Vec(w.Cat(w.U(locals), []byte{w.I64})), Code: body})
	}
	return m.Bytes()
}

func TestCompileDeadlineCostsOnlyTheRunner(t *testing.T) {
	p := newPool(t, func(o *wasm.Options) { o.Limits.Compile = 3 * time.Second })
	_, _, e := runBytes(t, p, slowToCompile())
	require.NotNil(t, e)
	require.Equal(t, wasm.ClassCompileLimit, e.Class, "%v", e)
	require.False(t, e.Operational())
	require.Eventually(t, func() bool {
		_, err := p.Run(t.Context(), "p", wasm.FromBytes(w.Print("1").Bytes()), header, nil, discard)
		return err == nil
	}, waitFor, tick, "a small module is compiled, as soon as a busy machine has some seconds for it")
}

func TestOperationalClasses(t *testing.T) {
	for class, want := range map[wasm.Class]bool{
		wasm.ClassHost: true, wasm.ClassDeadline: true, wasm.ClassTrap: false, wasm.ClassExit: false, wasm.ClassRejected: false,
		wasm.ClassCompileLimit: false, wasm.ClassFuel: false, wasm.ClassMemoryLimit: false, wasm.ClassOutputLimit: false, wasm.ClassBadOutput: false,
	} {
		require.Equal(t, want, (&wasm.Error{Class: class}).Operational(), class)
	}
	require.True(t, (&wasm.Error{Class: wasm.ClassExit, ExitCode: wasm.ExitTemporary}).Operational())
}

func TestCancellation(t *testing.T) {
	p := newPool(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	started := make(chan struct{})
	records := func(yield func([]byte, error) bool) {
		close(started)
		cancel()
	}
	_, err := p.Run(ctx, "p", wasm.FromBytes(w.Command(w.Forever(nil)).Bytes()), header, records, func([]byte) error { return nil })
	require.ErrorIs(t, err, context.Canceled)
	<-started
	var e *wasm.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, wasm.ClassHost, e.Class)
}
