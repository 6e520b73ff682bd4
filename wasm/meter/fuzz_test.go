package meter_test

import (
	"bytes"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	w "github.com/ostraka/ostraka/wasm/internal/wasmtest"
	"github.com/ostraka/ostraka/wasm/meter"
	"github.com/ostraka/ostraka/wasm/precheck"
)

// FuzzInstrument looks for a module that does something else with its meter
// than without, or that passes with it and not without.
func FuzzInstrument(f *testing.F) {
	builtin, err := os.ReadFile("../builtin/aggregate.wasm")
	require.NoError(f, err)
	for _, seed := range [][]byte{
		w.Print("{}\n").Bytes(), with(countdown(10, []byte{nop})).Bytes(),
		w.Command(w.Forever(w.Write(1, 0, 1))).Bytes(), w.Command(w.Exit(3)).Bytes(), w.Command([]byte{unreachable}).Bytes(),
		with([]byte{block, void, br, 0, nop, block, void, end0, end0, 0x41, 0, 0x0e, 0, 0}).Bytes(),
		with(w.Cat(w.Const(3), []byte{0x40, 0}, w.Drop, w.Const(0), w.Const(7), w.Const(80), []byte{0xfc, 11, 0})).Bytes(),
		with(w.Cat(w.Const(1), []byte{iff, void, nop, els, 0x41, 0, 0x41, 0, 0x6d, 0x1a, end0})).Bytes(),
		builtin,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, module []byte) {
		const limit = 1_000_000
		before := bytes.Clone(module)
		m, err := meter.Instrument(module)
		require.Equal(t, before, module, "the original was changed")
		if err != nil {
			var refusal *meter.Refusal
			require.ErrorAs(t, err, &refusal)
			return
		}
		// What is compiled here must be harmless to compile.
		if _, err := precheck.Check(module, precheck.Options{MemoryPages: 64}); err != nil {
			return
		}
		got := run(t, m, "{}\n", limit)
		if got.starved {
			return
		}
		want := run(t, module, "{}\n", 0)
		require.Equal(t, want.invalid, got.invalid, "valid with its meter and not without, or the reverse: %s%s", got.text, want.text)
		if want.invalid {
			return
		}
		require.Equal(t, want.text, got.text)
		require.Equal(t, want.stdout, got.stdout)
	})
}
