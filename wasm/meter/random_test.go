package meter_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	w "github.com/ostraka/ostraka/wasm/internal/wasmtest"
)

// A random program that keeps all rules of typing: statements leave the stack
// as it was, expressions push one i32. Its locals end in memory, and that on stdout.
type program struct {
	t     *rapid.T
	depth int // open blocks, the body included
	left  int // statements that may still be drawn
}

const programLocals, heap, heapSize = 4, 2048, 64

func (p *program) pick(n int) int     { return rapid.IntRange(0, n-1).Draw(p.t, "pick") }
func (p *program) localIndex() byte   { return byte(p.pick(programLocals)) }
func (p *program) label() []byte      { return w.U(uint64(p.pick(p.depth))) }
func (p *program) address() []byte    { return w.Const(int32(heap + 4*p.pick(heapSize/4))) }
func (p *program) constant() []byte   { return w.Const(int32(p.pick(5) - 1)) }
func (p *program) expression() []byte { return p.deep(3) }

func (p *program) deep(levels int) []byte {
	if levels == 0 {
		return p.constant()
	}
	switch p.pick(6) {
	case 0:
		return []byte{get, p.localIndex()}
	case 1:
		return w.Cat(p.deep(levels-1), p.deep(levels-1), []byte{byte(0x6a + p.pick(3))}) // add, sub, mul
	case 2:
		return w.Cat(p.address(), []byte{0x28, 2, 0}) // load
	case 3:
		return w.Cat(p.deep(levels-1), p.deep(levels-1), []byte{lts})
	case 4:
		return w.Cat(p.deep(levels-1), w.Call(w.FirstFunc+1))
	default:
		return p.constant()
	}
}

func (p *program) statements() (code []byte) {
	for range p.pick(5) {
		if p.left--; p.left < 0 {
			return code
		}
		code = w.Cat(code, p.statement())
	}
	return code
}

func (p *program) inside(open ...byte) []byte {
	p.depth++
	code := w.Cat(open, p.statements())
	p.depth--
	return append(code, end0)
}

func (p *program) statement() []byte {
	switch p.pick(12) {
	case 0:
		return p.inside(block, void)
	case 1:
		return p.inside(loop, void)
	case 2:
		return w.Cat(p.expression(), p.inside(iff, void))
	case 3:
		p.depth++
		then := p.statements()
		p.depth--
		return w.Cat(p.expression(), []byte{iff, void}, then, p.inside(els))
	case 4:
		return w.Cat(p.expression(), []byte{brIf}, p.label())
	case 5:
		return w.Cat([]byte{br}, p.label())
	case 6:
		return w.Cat(p.expression(), []byte{0x0e, 2}, p.label(), p.label(), p.label())
	case 7:
		return w.Cat(p.address(), p.expression(), []byte{0x36, 2, 0}) // store
	case 8:
		return w.Cat(p.address(), p.expression(), w.Const(int32(p.pick(9))), []byte{0xfc, 11, 0}) // fill
	case 9:
		return w.Cat(w.Const(int32(p.pick(3))), []byte{0x40, 0, set, p.localIndex()}) // grow
	case 10:
		return w.Cat(p.expression(), p.expression(), []byte{0x6d, set, p.localIndex()}) // may trap
	default:
		return w.Cat(p.expression(), []byte{set, p.localIndex()})
	}
}

func (p *program) module() w.Module {
	p.depth = 1
	main := w.Cat([]byte{block, void}, p.inside(block, void), []byte{end0}, w.Write(1, heap, heapSize))
	m := w.Command(main)
	m.Memory = []byte{1, 1, 1, 4}
	m.Funcs[0].Locals = w.Vec(w.Cat(w.U(programLocals), []byte{w.I32}))
	// Half of it, or where nothing is left to halve, itself less one: calls end.
	m.Funcs = append(m.Funcs, w.Func{Type: w.TypeInt, Code: w.Cat(
		[]byte{get, 0, 0x41, 2, lts, iff, w.I32, get, 0, els},
		[]byte{get, 0, 0x41, 1, sub}, w.Call(w.FirstFunc+1), []byte{0x41, 1, add, end0})})
	return m
}

// A program does the same with its meter as without, and costs the same twice.
func TestRandomPrograms(t *testing.T) {
	ended := 0
	rapid.Check(t, func(rt *rapid.T) {
		module := (&program{t: rt, left: 40}).module().Bytes()
		const limit = 100_000
		got := metered(t, module, "", limit)
		require.Equal(rt, got, metered(t, module, "", limit))
		if got.starved {
			return
		}
		want := run(t, module, "", 0)
		require.False(rt, want.invalid, "%s", want.text)
		require.Equal(rt, want.text, got.text)
		require.Equal(rt, want.stdout, got.stdout)
		require.Positive(rt, got.units)
		ended++
	})
	require.Positive(t, ended)
}
