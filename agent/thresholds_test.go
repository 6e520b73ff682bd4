package agent

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/runtime/bundle"
	"github.com/ostraka/ostraka/runtime/monitor/threshold"
)

// TestTheStrictestThresholdHolds merges those of the machine's owner, the project and the function.
func TestTheStrictestThresholdHolds(t *testing.T) {
	w := &worker{agent: &agent{options: Options{Thresholds: threshold.Rules{Memory: &threshold.Pair{Critical: "90%"}, Samples: 9}}}}
	m := &bundle.Manifest{Limits: bundle.DefaultLimits(), Monitor: &threshold.Rules{Memory: &threshold.Pair{Critical: "1Gi"}}}
	l := &client.Lease{Monitor: &client.Thresholds{Memory: &client.ThresholdPair{Warning: "10Mi", Critical: "100Mi"}, Samples: 1}}
	for lease, want := range map[*client.Lease]string{l: "the project", {}: "the machine's owner"} {
		plan, err := w.thresholds(lease, m)
		require.NoError(t, err)
		d := threshold.NewDecider(plan)
		var alerts []threshold.Alert
		for range 9 {
			alerts = append(alerts, d.Observe(threshold.Sample{MemoryBytes: 250 << 20})...)
		}
		require.Len(t, alerts, 1)
		require.Contains(t, alerts[0].Text, want)
	}
	l.Monitor.Memory.Critical = "much"
	_, err := w.thresholds(l, m)
	require.ErrorContains(t, err, "the thresholds of the project")
}
