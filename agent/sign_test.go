package agent

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/audit"
)

// TestAgentSignsWhatTheLeaseAsksFor: its results as work of the job, where the server asks for that; and as agents of before where another server of
// the installation is too old for it.
func TestAgentSignsWhatTheLeaseAsksFor(t *testing.T) {
	for name, c := range map[string]struct {
		asks, knows int
		refuse      []string
		want        []int
	}{
		"a server of before":                 {0, 1, nil, []int{0}},
		"a server of now":                    {audit.StatementOfWork, 0, nil, []int{audit.StatementOfWork}},
		"a server of now and one of before":  {audit.StatementOfWork, 1, nil, []int{0}},
		"one of before, and then one of now": {audit.StatementOfWork, 0, []string{"bad_results", "statement_too_old"}, []int{audit.StatementOfWork}},
	} {
		f, s := newFakeServer(t, 12)
		f.set(func() { f.asks, f.statement, f.refuse = c.asks, c.knows, c.refuse })
		stop := start(t, testOptions(t, s))
		f.untilResults(12)
		require.NoError(t, stop(), name)
		f.set(func() { require.Equal(t, c.want, slices.Compact(slices.Clone(f.signed)), name) })
	}
}
