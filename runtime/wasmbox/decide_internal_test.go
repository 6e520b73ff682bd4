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
func TestOutputsAreHeldAgainstTheSchema(t *testing.T) {
	m := bundle.Manifest{Output: &bundle.Output{Schema: []byte(`{"type":"integer"}`)}}
	schema, err := m.OutputSchema()
	require.NoError(t, err)
	require.Equal(t, harness.StatusOK, decideOutput([]byte("7\n"), 10, schema).status)
	v := decideOutput([]byte(`"7"`), 10, schema)
	require.Equal(t, harness.StatusError, v.status)
	require.Equal(t, harness.Exception{
		Type: harness.ExceptionSchema, Message: "the output is not as [output.schema] says: output (type)", Traceback: "output: got string, want integer",
	}, *v.exception(nil))
}

func TestTheCanonicalFormHasTheLimitToo(t *testing.T) {
	const form = "[1000000000000000.0]"
	require.Equal(t, verdict{status: harness.StatusOK, output: []byte(form)}, decideOutput([]byte("[1e15]"), int64(len(form)), nil))
	require.Equal(t, harness.StatusOutputLimit, decideOutput([]byte("[1e15]"), int64(len(form))-1, nil).status)
	require.Equal(t, harness.StatusOK, decideOutput([]byte(" [ 1 ] "), 3, nil).status, "white space does not count")
}

// TestAMachineWithoutMemoryHasNoAnswer, however the module has ended.
func TestAMachineWithoutMemoryHasNoAnswer(t *testing.T) {
	for name, end := range map[string]runner.Outcome{"well": {}, "with a code": {ExitCode: 1}, "with a trap": {Trap: "unreachable"}, "never begun": {Failed: "instantiating"}} {
		end.Exceeded = runner.ExceededMachine
		v := decide(&wasm.Answer{Outcome: end, Stdout: []byte("1")}, bundle.Limits{OutputBytes: 10}, nil)
		require.Equal(t, verdict{status: harness.StatusMemory, kind: harness.ExceptionLimit, message: "the machine has no memory left"}, v, name)
	}
}
