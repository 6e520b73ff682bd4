package api_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/runtime/protocol"
)

func TestAgentsOfAnotherProtocolAreRefused(t *testing.T) {
	r := newRig(t)
	ask := func(path, version string) *http.Response {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, r.url+path, nil)
		require.NoError(t, err)
		request.Header.Set("Authorization", "Bearer "+agentKey)
		if version != "" {
			request.Header.Set(protocol.Header, version)
		}
		response, err := new(http.Client).Do(request)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		require.Equal(t, "1", response.Header.Get(protocol.Header), "every answer says it")
		return response
	}
	for version, status := range map[string]int{
		"": http.StatusNoContent, "1": http.StatusNoContent, "2": http.StatusUpgradeRequired, "0": http.StatusUpgradeRequired, "one": http.StatusUpgradeRequired,
	} {
		response := ask("/v1/agent/leases?wait=0s", version)
		require.Equal(t, status, response.StatusCode, version)
		if status == http.StatusUpgradeRequired {
			require.NotEmpty(t, response.Header.Get("Upgrade"))
		}
	}
	require.NotEqual(t, http.StatusUpgradeRequired, ask("/v1/projects", "2").StatusCode, "the protocol is the agents'")
}
