package agent

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestAgentSignsWhatTheLeaseAsksFor: its results as work of the job, where the server asks for that; and as agents of before where another server of
// the installation is too old for it.
func TestAgentSignsWhatTheLeaseAsksFor(t *testing.T) {
	for name, c := range map[string]struct {
		asks, knows int
		want        []int
	}{
		"a server of before":                {0, 1, []int{0}},
		"a server of now":                   {statementOfWork, 0, []int{statementOfWork}},
		"a server of now and one of before": {statementOfWork, 1, []int{0}},
	} {
		f, s := newFakeServer(t, 12)
		f.set(func() { f.asks, f.statement = c.asks, c.knows })
		stop := start(t, testOptions(t, s))
		f.untilResults(12)
		require.NoError(t, stop(), name)
		f.set(func() { require.Equal(t, c.want, slices.Compact(slices.Clone(f.signed)), name) })
	}
}
