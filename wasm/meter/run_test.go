package meter_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
	"github.com/tetratelabs/wazero/sys"

	"github.com/ostraka/ostraka/wasm/meter"
)

// end is how a run of a module ended.
type end struct {
	invalid bool   // it does not compile
	text    string // exit code or trap
	stdout  string
	units   int64 // used, if it is metered
	starved bool  // the fuel ran out
}

const exitStarved = 99

// host grants fuel as the runner does.
type host struct {
	limit, granted int64
	starved        bool
	rest           api.MutableGlobal
}

func (h *host) tick(rest int64) int64 {
	const slice = 1000
	used := h.granted - rest
	h.rest.Set(api.EncodeI64(rest))
	if used > h.limit {
		h.starved = true
		panic(sys.NewExitError(exitStarved))
	}
	grant := min(slice, h.limit-used)
	h.granted = used + grant
	h.rest.Set(api.EncodeI64(grant))
	return grant
}

// run runs a module in this process: only what our own tests made, or what has
// proved to end.
func run(t testing.TB, module []byte, stdin string, limit int64) (e end) {
	t.Helper()
	ctx := context.Background()
	r := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigCompiler().WithCoreFeatures(api.CoreFeaturesV2).WithMemoryLimitPages(64))
	defer r.Close(ctx)
	_, err := wasi_snapshot_preview1.Instantiate(ctx, r)
	require.NoError(t, err)
	h := &host{limit: limit}
	i64 := []api.ValueType{api.ValueTypeI64}
	_, err = r.NewHostModuleBuilder(meter.ImportModule).NewFunctionBuilder().
		WithGoFunction(api.GoFunc(func(_ context.Context, stack []uint64) {
			stack[0] = api.EncodeI64(h.tick(int64(stack[0])))
		}), i64, i64).Export(meter.ImportTick).Instantiate(ctx)
	require.NoError(t, err)
	compiled, err := r.CompileModule(ctx, module)
	if err != nil {
		return end{invalid: true, text: err.Error()}
	}
	var stdout bytes.Buffer
	instance, err := r.InstantiateModule(ctx, compiled, wazero.NewModuleConfig().WithName("").WithStartFunctions().
		WithStdin(strings.NewReader(stdin)).WithStdout(&stdout))
	if err != nil {
		return end{text: reason(err)}
	}
	h.rest, _ = instance.ExportedGlobal(meter.ExportFuel).(api.MutableGlobal)
	if start := instance.ExportedFunction(meter.ExportStart); start != nil {
		_, err = start.Call(ctx)
	}
	if err == nil {
		_, err = instance.ExportedFunction("_start").Call(ctx)
	}
	e = end{text: reason(err), stdout: stdout.String(), starved: h.starved}
	if rest := instance.ExportedGlobal(meter.ExportFuel); rest != nil {
		e.units = h.granted - int64(rest.Get())
	}
	return e
}

// reason is the first line of a trap, or the exit code.
func reason(err error) string {
	var exit *sys.ExitError
	switch {
	case err == nil:
		return ""
	case errors.As(err, &exit):
		return fmt.Sprint("exit ", exit.ExitCode())
	}
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}

const plenty = 1 << 40

// metered runs a module with its meter.
func metered(t testing.TB, module []byte, stdin string, limit int64) end {
	t.Helper()
	m, err := meter.Instrument(module)
	require.NoError(t, err)
	e := run(t, m, stdin, limit)
	require.False(t, e.invalid, "%s", e.text)
	return e
}
