package precheck

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/wasm/internal/bytecode"
	w "github.com/ostraka/ostraka/wasm/internal/wasmtest"
)

// FuzzCheck looks for bytes that make the check panic, disagree with itself or
// refuse without a typed reason.
func FuzzCheck(f *testing.F) {
	for _, seed := range [][]byte{
		nil, w.Header, w.Print("{}\n").Bytes(),
		w.Command(nested(bytecode.OpLoop, 3)).Bytes(), w.Command(brTable(3)).Bytes(),
		withElements(3), withGlobals(2), withTable(2), withData(2), withLocals(5000),
		w.Command([]byte{0xfd, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x1a}).Bytes(),
		w.Command([]byte{0x41, 0, 0x41, 0, 0x41, 0, 0xfc, 11, 0}).Bytes(),
		w.Cat(w.Print("x").Bytes(), w.Section(0, w.Cat(w.Name("name"), w.Section(1, w.Vec(w.Cat(w.U(3), w.Name("f"))))))),
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, module []byte) {
		before := bytes.Clone(module)
		info, err := Check(module, options)
		require.Equal(t, before, module, "the check changed the module")
		if err == nil {
			require.LessOrEqual(t, info.MaxLocals, MaxLocals)
			require.LessOrEqual(t, info.MaxNesting, MaxNesting)
			return
		}
		var refusal *Refusal
		require.ErrorAs(t, err, &refusal)
		require.NotEmpty(t, refusal.Rule)
		require.NotEmpty(t, refusal.What)
	})
}
