package wasmbox

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/runtime/harness"
)

// TestTheCanonicalFormHasTheLimitToo: what was printed may be shorter than what is delivered.
func TestTheCanonicalFormHasTheLimitToo(t *testing.T) {
	const form = "[1000000000000000.0]"
	require.Equal(t, verdict{status: harness.StatusOK, output: []byte(form)}, decideOutput([]byte("[1e15]"), int64(len(form))))
	require.Equal(t, harness.StatusOutputLimit, decideOutput([]byte("[1e15]"), int64(len(form))-1).status)
	require.Equal(t, harness.StatusOK, decideOutput([]byte(" [ 1 ] "), 3).status, "white space does not count")
}
