package functions_test

import (
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions"
)

func TestHeartbeatsSayNoMoreThanTheyMay(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.agent(honest)
	for name, c := range map[string]struct {
		beat functions.Heartbeat
		code string
	}{
		"as many leases as there may be": {functions.Heartbeat{Leases: make([]uuid.UUID, functions.MaxBeatLeases)}, ""},
		"one more":                       {functions.Heartbeat{Leases: make([]uuid.UUID, functions.MaxBeatLeases+1)}, "bad_heartbeat"},
		"a long reason":                  {functions.Heartbeat{Idle: &functions.Idle{Code: "busy", Text: strings.Repeat("é", functions.MaxIdleText)}}, ""},
		"one that is too long":           {functions.Heartbeat{Idle: &functions.Idle{Code: "busy", Text: strings.Repeat("é", functions.MaxIdleText+1)}}, "bad_heartbeat"},
		"no code":                        {functions.Heartbeat{Idle: &functions.Idle{Text: "because"}}, "bad_heartbeat"},
		"many projects":                  {functions.Heartbeat{Wishes: &functions.AgentWishes{Projects: make([]uuid.UUID, functions.MaxAgentProjects)}}, ""},
		"too many":                       {functions.Heartbeat{Wishes: &functions.AgentWishes{Projects: make([]uuid.UUID, functions.MaxAgentProjects+1)}}, "bad_heartbeat"},
		"a level that there is not":      {functions.Heartbeat{Wishes: &functions.AgentWishes{MinIsolation: "magic"}}, "bad_isolation"},
	} {
		t.Run(name, func(t *testing.T) {
			d, err := w.Heartbeat(t.Context(), a.id, c.beat)
			if c.code != "" {
				requireCode(t, err, c.code)
				return
			}
			require.NoError(t, err)
			require.Equal(t, functions.AgentActive, d.State)
		})
	}
	_, err := w.Heartbeat(t.Context(), uuid.New(), functions.Heartbeat{})
	requireCode(t, err, "not_found")
}
