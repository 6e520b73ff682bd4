package runner

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A crash lists every goroutine after its reason: the reason is what must be kept.
func TestTheFirstWordsOfACrashAreKept(t *testing.T) {
	h := &head{max: 40}
	for _, text := range []string{"fatal error: ", "runtime: out of memory\n\n", "goroutine 1 [running]:\n", "and many more"} {
		n, err := h.Write([]byte(text))
		require.NoError(t, err)
		require.Len(t, text, n)
	}
	require.Equal(t, "fatal error: runtime: out of memory\n\ngor", string(h.buf))
	require.True(t, outOfMemory(string(h.buf)))
}
