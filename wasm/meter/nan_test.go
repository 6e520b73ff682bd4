package meter_test

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	w "github.com/ostraka/ostraka/wasm/internal/wasmtest"
)

func f32(f float64) []byte {
	return binary.LittleEndian.AppendUint32([]byte{0x43}, math.Float32bits(float32(f)))
}

func f64(f float64) []byte {
	return binary.LittleEndian.AppendUint64([]byte{0x44}, math.Float64bits(f))
}

// odd is a NaN with a sign and a payload of its own.
var (
	odd64 = math.Float64frombits(0xfff8_dead_beef_0001)
	odd32 = []byte{0x43, 1, 0xef, 0xde, 0xff}
)

// look32 and look64 end the module by a trap unless what is on the stack is the canonical NaN.
var (
	look32 = w.Cat([]byte{0xbc}, w.Const(0x7fc00000), []byte{0x47, iff, void, unreachable, end0})
	look64 = w.Cat([]byte{0xbd, 0x42}, w.S(0x7ff8_0000_0000_0000), []byte{0x52, iff, void, unreachable, end0})
)

// TestEveryNaNIsTheCanonicalOne has each instruction that can make a NaN make one, from a NaN and from numbers where it does.
func TestEveryNaNIsTheCanonicalOne(t *testing.T) {
	cases := map[string][]byte{
		"inf - inf":    w.Cat(f64(math.Inf(1)), f64(math.Inf(1)), []byte{0xa1}, look64),
		"0 / 0":        w.Cat(f64(0), f64(0), []byte{0xa3}, look64),
		"sqrt(-1)":     w.Cat(f64(-1), []byte{0x9f}, look64),
		"0 * inf":      w.Cat(f64(0), f64(math.Inf(-1)), []byte{0xa2}, look64),
		"32 inf - inf": w.Cat(f32(math.Inf(1)), f32(math.Inf(1)), []byte{0x93}, look32),
		"32 0 / 0":     w.Cat(f32(0), f32(0), []byte{0x95}, look32),
		"32 sqrt(-1)":  w.Cat(f32(-1), []byte{0x91}, look32),
		"demote":       w.Cat(f64(odd64), []byte{0xb6}, look32),
		"promote":      w.Cat(odd32, []byte{0xbb}, look64),
		// What comes right before an instruction that makes its own is not looked at.
		"a sum of a product": w.Cat(f64(1), f64(0), f64(math.Inf(1)), []byte{0xa2, 0xa0}, look64),
		"after a local":      w.Cat(f64(math.Inf(1)), f64(math.Inf(1)), []byte{0xa1, 0xbd, 0x42}, w.S(0x7ff8_0000_0000_0000), []byte{0x52, tee, 0, get, 0, 0x6a, iff, void, unreachable, end0}),
		"in a loop":          countdown(3, w.Cat(f64(0), f64(0), []byte{0xa3}, look64)),
	}
	for op := byte(0x9b); op <= 0x9f; op++ {
		cases["64 unary "+string(rune('a'+op-0x9b))] = w.Cat(f64(odd64), []byte{op}, look64)
		cases["32 unary "+string(rune('a'+op-0x9b))] = w.Cat(odd32, []byte{op - 14}, look32)
	}
	for op := byte(0xa0); op <= 0xa5; op++ {
		cases["64 binary "+string(rune('a'+op-0xa0))] = w.Cat(f64(1), f64(odd64), []byte{op}, look64)
		cases["32 binary "+string(rune('a'+op-0xa0))] = w.Cat(odd32, f32(1), []byte{op - 14}, look32)
	}
	for name, code := range cases {
		e := metered(t, with(code).Bytes(), "", plenty)
		require.Empty(t, e.text, name)
	}
}

// TestEveryLaneIsCanonical is the same for vectors.
func TestEveryLaneIsCanonical(t *testing.T) {
	splat64 := func(f float64) []byte { return w.Cat(f64(f), []byte{0xfd}, w.U(20)) }
	splat32 := w.Cat(odd32, []byte{0xfd}, w.U(19))
	lane64, lane32 := w.Cat([]byte{0xfd}, w.U(33), []byte{1}), w.Cat([]byte{0xfd}, w.U(31), []byte{3})
	op := func(sub uint64) []byte { return w.Cat([]byte{0xfd}, w.U(sub)) }
	for _, sub := range []uint64{116, 117, 122, 148, 239} {
		e := metered(t, with(w.Cat(splat64(odd64), op(sub), lane64, look64)).Bytes(), "", plenty)
		require.Empty(t, e.text, sub)
	}
	for _, sub := range []uint64{240, 241, 242, 243, 244, 245} {
		e := metered(t, with(w.Cat(splat64(odd64), splat64(1), op(sub), lane64, look64)).Bytes(), "", plenty)
		require.Empty(t, e.text, sub)
	}
	for _, sub := range []uint64{103, 104, 105, 106, 227} {
		e := metered(t, with(w.Cat(splat32, op(sub), lane32, look32)).Bytes(), "", plenty)
		require.Empty(t, e.text, sub)
	}
	for _, sub := range []uint64{228, 229, 230, 231, 232, 233} {
		e := metered(t, with(w.Cat(splat32, splat32, op(sub), lane32, look32)).Bytes(), "", plenty)
		require.Empty(t, e.text, sub)
	}
	e := metered(t, with(w.Cat(splat32, op(95), lane64, look64)).Bytes(), "", plenty)
	require.Empty(t, e.text, "promote")
	e = metered(t, with(w.Cat(splat64(odd64), op(94), w.Cat([]byte{0xfd}, w.U(31), []byte{1}), look32)).Bytes(), "", plenty)
	require.Empty(t, e.text, "demote")
}

// TestOtherBitsStay: what only moves floats about moves their bits as well, and programs hide other things in NaNs.
func TestOtherBitsStay(t *testing.T) {
	same := w.Cat([]byte{0xbd, 0x42}, w.S(-0x0007_2152_4110_ffff), []byte{0x52, iff, void, unreachable, end0})
	e := metered(t, with(w.Cat(f64(odd64), same)).Bytes(), "", plenty)
	require.Empty(t, e.text)
	e = metered(t, with(w.Cat(f64(odd64), []byte{0x9a, 0x9a}, same)).Bytes(), "", plenty)
	require.Empty(t, e.text, "two signs")
}
