package agent

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestBackoffGrowsAndStaysBounded(t *testing.T) {
	var b backoff
	for i := range 100 {
		bound := maxBackoff
		if i < 6 {
			bound = firstBackoff << i
		}
		wait := b.next()
		require.GreaterOrEqual(t, wait, bound/10, "try %d", i)
		require.Less(t, wait, bound, "try %d", i)
	}
	b.reset()
	require.Less(t, b.next(), firstBackoff)
	require.Less(t, firstBackoff<<5, maxBackoff+time.Second, "the loop above knows where the bound is reached")
}
