package precheck

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// A download that broke off: a real module ends at any of its bytes. It is refused
// with a rule, but where sections that need not be there are all that is missing.
func TestTruncatedAtEveryByte(t *testing.T) {
	module, err := os.ReadFile("../../examples/modules/outlier/outlier.wasm")
	require.NoError(t, err)
	_, err = Check(module, options)
	require.NoError(t, err)
	whole := map[int]bool{}
	for n := range module {
		_, err := Check(module[:n], options)
		if err == nil {
			whole[n] = true
			continue
		}
		var refused *Refusal
		require.ErrorAs(t, err, &refused, "%d bytes", n)
		require.NotEmpty(t, refused.Rule)
		require.NotEmpty(t, refused.What)
	}
	require.LessOrEqual(t, len(whole), 3, "of the sections behind the code each may be missing: %v", whole)
}
