package engine_test

import (
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions/fleet"
)

func TestHeartbeatsSayNoMoreThanTheyMay(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.agent(honest)
	for name, c := range map[string]struct {
		beat fleet.Heartbeat
		code string
	}{
		"as many leases as there may be": {fleet.Heartbeat{Leases: make([]uuid.UUID, fleet.MaxBeatLeases)}, ""},
		"one more":                       {fleet.Heartbeat{Leases: make([]uuid.UUID, fleet.MaxBeatLeases+1)}, "bad_heartbeat"},
		"a long reason":                  {fleet.Heartbeat{Idle: &fleet.Idle{Code: "busy", Text: strings.Repeat("é", fleet.MaxIdleText)}}, ""},
		"one that is too long":           {fleet.Heartbeat{Idle: &fleet.Idle{Code: "busy", Text: strings.Repeat("é", fleet.MaxIdleText+1)}}, "bad_heartbeat"},
		"no code":                        {fleet.Heartbeat{Idle: &fleet.Idle{Text: "because"}}, "bad_heartbeat"},
		"many projects":                  {fleet.Heartbeat{Wishes: &fleet.AgentWishes{Projects: make([]uuid.UUID, fleet.MaxAgentProjects)}}, ""},
		"too many":                       {fleet.Heartbeat{Wishes: &fleet.AgentWishes{Projects: make([]uuid.UUID, fleet.MaxAgentProjects+1)}}, "bad_heartbeat"},
		"a level that there is not":      {fleet.Heartbeat{Wishes: &fleet.AgentWishes{MinIsolation: "magic"}}, "bad_isolation"},
	} {
		t.Run(name, func(t *testing.T) {
			d, err := w.Heartbeat(t.Context(), a.id, c.beat)
			if c.code != "" {
				requireCode(t, err, c.code)
				return
			}
			require.NoError(t, err)
			require.Equal(t, fleet.AgentActive, d.State)
		})
	}
	_, err := w.Heartbeat(t.Context(), uuid.New(), fleet.Heartbeat{})
	requireCode(t, err, "not_found")
}
