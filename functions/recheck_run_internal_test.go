package functions

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestWhoHasUsedMuchWaitsForSlicesLonger than who has used little, and not without end.
func TestWhoHasUsedMuchWaitsForSlicesLonger(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		ran    time.Duration
		modest bool
		over   bool
	}{
		{RecheckSlice - 1, true, false},
		{RecheckSlice, true, true},
		{RecheckSlice, false, false},
		{slicesOfModest*RecheckSlice - 1, false, false},
		{slicesOfModest * RecheckSlice, false, true},
	} {
		require.Equal(t, c.over, sliceOver(c.ran, RecheckSlice, c.modest), "%+v", c)
	}
}
