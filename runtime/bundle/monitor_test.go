package bundle

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/runtime/monitor/threshold"
)

func TestMonitorSection(t *testing.T) {
	m, err := ParseManifest([]byte("name = \"f\"\n[monitor]\nsamples = 5\nmemory = { warning = \"80%\", critical = \"200Mi\" }\n[monitor.processes]\ncritical = \"8\"\n"))
	require.NoError(t, err)
	require.Equal(t, &threshold.Rules{
		Memory: &threshold.Pair{Warning: "80%", Critical: "200Mi"}, Processes: &threshold.Pair{Critical: "8"}, Samples: 5,
	}, m.Monitor)
	m, err = ParseManifest([]byte(`name = "f"`))
	require.NoError(t, err)
	require.Nil(t, m.Monitor)
	for text, want := range map[string]string{
		"[monitor]\nmemory = { critical = \"much\" }": "monitor: memory.critical",
		"[monitor]\nsamples = 99":                     "monitor: samples",
		"[monitor]\nram = { critical = \"1Gi\" }":     "unknown field monitor.ram",
	} {
		_, err := ParseManifest([]byte("name = \"f\"\n" + text))
		require.ErrorContains(t, err, want)
	}
}
