package host

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestHysteresis(t *testing.T) {
	var h Hysteresis
	feed := func(value float64, times int) (on bool) {
		for range times {
			on = h.Update(value, 60, 40)
		}
		return on
	}
	require.False(t, feed(90, busySamples-1))
	require.False(t, feed(50, 1), "one sample below starts it anew")
	require.False(t, feed(90, busySamples-1))
	require.True(t, feed(90, 1))
	require.True(t, feed(50, 100), "between the limits nothing changes")
	require.True(t, feed(30, calmSamples-1))
	require.False(t, feed(30, 1))
	require.False(t, feed(60, 100), "at the limit is not above it")
	require.False(t, h.Update(100, 0, 0), "without a limit never")
}
