package wasmbox

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/runtime/bundle"
	"github.com/ostraka/ostraka/runtime/harness"
	"github.com/ostraka/ostraka/wasm"
	"github.com/ostraka/ostraka/wasm/runner"
)

// TestTheCanonicalFormHasTheLimitToo: what was printed may be shorter than what is delivered.
func TestTheCanonicalFormHasTheLimitToo(t *testing.T) {
	const form = "[1000000000000000.0]"
	require.Equal(t, verdict{status: harness.StatusOK, output: []byte(form)}, decideOutput([]byte("[1e15]"), int64(len(form))))
	require.Equal(t, harness.StatusOutputLimit, decideOutput([]byte("[1e15]"), int64(len(form))-1).status)
	require.Equal(t, harness.StatusOK, decideOutput([]byte(" [ 1 ] "), 3).status, "white space does not count")
}

// TestAMachineWithoutMemoryHasNoAnswer, however the module has ended.
func TestAMachineWithoutMemoryHasNoAnswer(t *testing.T) {
	for name, end := range map[string]runner.Outcome{"well": {}, "with a code": {ExitCode: 1}, "with a trap": {Trap: "unreachable"}, "never begun": {Failed: "instantiating"}} {
		end.Exceeded = runner.ExceededMachine
		v := decide(&wasm.Answer{Outcome: end, Stdout: []byte("1")}, bundle.Limits{OutputBytes: 10})
		require.Equal(t, verdict{status: harness.StatusMemory, kind: harness.ExceptionLimit, message: "the machine has no memory left"}, v, name)
	}
}
