//go:build linux

package linux

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestProbe: what the probe says agrees with what can be built.
func TestProbe(t *testing.T) {
	report := Probe(t.Context())
	states := map[string]State{}
	for _, l := range report.Layers {
		t.Logf("%-20s %-8s %s %s", l.Name, l.State, l.Detail, l.Fix)
		if l.State != StateOK {
			require.NotEmpty(t, l.Detail, l.Name)
		}
		states[l.Name] = l.State
	}
	for _, name := range []string{LayerUser, LayerRoot, LayerSeccomp, LayerLandlock} {
		require.Equal(t, StateOK, states[name], name)
	}
}
