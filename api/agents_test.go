package api_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions/fleet"
	"github.com/ostraka/ostraka/runtime/eula"
)

func TestEULAIsReadWithoutAKey(t *testing.T) {
	r := newRig(t)
	a := r.ask("GET", "/v1/eula", "", "")
	require.Equal(t, 200, a.StatusCode)
	var d eula.Document
	require.NoError(t, json.Unmarshal(a.body, &d))
	require.NoError(t, d.Check())
	body := `{"version":"2026-11","digest":"` + strings.Repeat("a", 64) + `","accepted_at":"2026-05-04T03:02:01Z","signature":"AAAA"}`
	require.Equal(t, 204, r.ask("POST", "/v1/agent/eula", agentKey, body).StatusCode)
	require.Equal(t, "2026-11", r.fake.acceptance.Version)
	require.Equal(t, when, r.fake.acceptance.AcceptedAt)
}

func TestDecisionsAboutAgents(t *testing.T) {
	r := newRig(t)
	path := "/v1/agents/" + agentID.String()
	for _, action := range []fleet.AgentAction{fleet.ApproveAgent, fleet.DrainAgent, fleet.ResumeAgent, fleet.QuarantineAgent, fleet.RevokeAgent} {
		require.Equal(t, 200, r.ask("POST", path+"/"+string(action), operatorKey, `{"reason":"because"}`).StatusCode)
		require.Equal(t, action, r.fake.action)
		require.Equal(t, "because", r.fake.reason)
		require.Equal(t, 200, r.ask("POST", path+"/"+string(action), operatorKey, "").StatusCode, "a reason may be left out")
		require.Equal(t, 422, r.ask("POST", path+"/"+string(action), operatorKey, `{"reason":"`+strings.Repeat("x", fleet.MaxReason+1)+`"}`).StatusCode)
	}
	require.Equal(t, 200, r.ask("PUT", in("/agents/"+agentID.String()), ownerKey, `{"owner":"lab"}`).StatusCode)
	require.Equal(t, 200, r.ask("PUT", in("/agents/"+agentID.String()), ownerKey, "").StatusCode)
	require.Equal(t, 200, r.ask("POST", in("/agents/"+agentID.String()+"/exclude"), ownerKey, `{"reason":"slow"}`).StatusCode)
	require.Equal(t, 200, r.ask("GET", "/v1/agents?state=pending", operatorKey, "").StatusCode)
	require.Equal(t, 422, r.ask("GET", "/v1/agents?state=asleep", operatorKey, "").StatusCode)
	require.Equal(t, 422, r.ask("GET", path+"/telemetry?step=soon", operatorKey, "").StatusCode)
	require.Equal(t, 200, r.ask("GET", path+"/telemetry?step=5m&from=2026-05-04T03:02:01Z", operatorKey, "").StatusCode)
	ofProject := in("/agents/" + agentID.String() + "/telemetry")
	require.Equal(t, 200, r.ask("GET", ofProject, viewerKey, "").StatusCode)
	require.Equal(t, 422, r.ask("GET", ofProject+"?step=soon", viewerKey, "").StatusCode)
}

func TestInstancesAreChecked(t *testing.T) {
	r := newRig(t)
	beat := func(instance string) int {
		t.Helper()
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, r.url+"/v1/agent/heartbeat", strings.NewReader(`{"leases":[],"shards_done":0}`))
		require.NoError(t, err)
		request.Header.Set("Authorization", "Bearer "+agentKey)
		request.Header.Set("Content-Type", "application/json")
		request.Header.Set("Ostraka-Instance", instance)
		response, err := new(http.Client).Do(request)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		return response.StatusCode
	}
	instance := uuid.New()
	require.Equal(t, 200, beat(instance.String()))
	require.Equal(t, instance, r.fake.instance)
	require.Equal(t, 422, beat("one"))
	require.Equal(t, 422, beat(uuid.Nil.String()))
	r.fake.err = fleet.ErrDuplicateInstance
	require.Equal(t, 409, beat(instance.String()))
}
