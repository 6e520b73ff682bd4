package api_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/api/rest"
	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/dispatch"
	"github.com/ostraka/ostraka/functions/fleet"
	"github.com/ostraka/ostraka/functions/partition"
	"github.com/ostraka/ostraka/functions/verify"
	"github.com/ostraka/ostraka/runtime/eula"
)

// schema is as much of a JSON schema as the limits need.
type schema struct {
	Minimum, Maximum    float64
	MaxItems, MaxLength int64
	Default             any
	Properties          map[string]schema
}

// TestStatedLimitsAreTheRealOnes: struct tags cannot name constants, so the limits stand in the specification a second time.
func TestStatedLimitsAreTheRealOnes(t *testing.T) {
	var spec struct {
		Paths map[string]map[string]struct {
			Parameters []struct {
				Name   string
				Schema schema
			}
		}
		Components struct{ Schemas map[string]schema }
	}
	require.NoError(t, json.Unmarshal(newRig(t).ask("GET", "/openapi.json", "", "").body, &spec))
	schemas := spec.Components.Schemas
	require.EqualValues(t, dispatch.MaxLeaseShards, schemas["ResultsRequest"].Properties["results"].MaxItems)
	require.EqualValues(t, partition.MaxInlineItems, schemas["Partition"].Properties["values"].MaxItems)
	require.InDelta(t, verify.MaxQuorum, schemas["PolicyRequest"].Properties["quorum"].Maximum, 0)
	policy := schemas["PolicyRequest"].Properties
	require.Equal(t, []float64{verify.MinTargetError, verify.MaxTargetError}, []float64{policy["target_error"].Minimum, policy["target_error"].Maximum})
	require.Equal(t, []float64{verify.MinHostile, verify.MaxHostile}, []float64{policy["assume_hostile"].Minimum, policy["assume_hostile"].Maximum})
	require.EqualValues(t, functions.MaxLabel, schemas["NewKey"].Properties["name"].MaxLength)
	require.EqualValues(t, functions.MaxLabel, schemas["NewEnrolmentToken"].Properties["name"].MaxLength)
	require.EqualValues(t, functions.MaxLabel, schemas["Enrolment"].Properties["name"].MaxLength)
	require.EqualValues(t, fleet.MaxBeatLeases, schemas["Heartbeat"].Properties["leases"].MaxItems)
	require.EqualValues(t, fleet.MaxIdleText, schemas["Idle"].Properties["text"].MaxLength)
	require.EqualValues(t, fleet.MaxAgentProjects, schemas["AgentWishes"].Properties["projects"].MaxItems)
	require.EqualValues(t, fleet.MaxReason, schemas["AgentDecision"].Properties["reason"].MaxLength)
	require.EqualValues(t, functions.MaxOwner, schemas["NewEnrolmentToken"].Properties["owner"].MaxLength)
	require.EqualValues(t, eula.MaxVersion, schemas["Acceptance"].Properties["version"].MaxLength)
	lists := 0
	for path, methods := range spec.Paths {
		for _, op := range methods {
			for _, parameter := range op.Parameters {
				switch parameter.Name {
				case "limit":
					lists++
					require.InDelta(t, functions.MaxListLimit, parameter.Schema.Maximum, 0, path)
					require.EqualValues(t, rest.DefaultListLimit, parameter.Schema.Default, path)
				case "max":
					require.InDelta(t, dispatch.MaxLeaseShards, parameter.Schema.Maximum, 0, path)
				case "Idempotency-Key":
					require.EqualValues(t, rest.MaxIdempotencyKey, parameter.Schema.MaxLength, path)
				}
			}
		}
	}
	require.Greater(t, lists, 10)
}
