package agent

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/api/rest"
	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/dispatch"
	"github.com/ostraka/ostraka/functions/fleet"
	"github.com/ostraka/ostraka/functions/result"
	"github.com/ostraka/ostraka/functions/verify"
	"github.com/ostraka/ostraka/runtime/bundle"
	"github.com/ostraka/ostraka/runtime/harness"
)

// The agent knows the server by its API alone, so limits of the server stand here a second time. They must agree.
func TestLimitsAgreeWithTheServer(t *testing.T) {
	require.Equal(t, result.MaxInlineOutput, maxInlineOutput)
	require.EqualValues(t, result.MaxFilesListed, bundle.MaxLimits().Files, "a result lists every file that a function may write")
	require.Equal(t, fmt.Sprint(verify.Statuses()), fmt.Sprint(harness.Statuses()))
	require.Equal(t, functions.MaxLabel, MaxNameLength)
	require.LessOrEqual(t, harness.MaxReportBytes, result.MaxDiagnosticBytes)
	require.LessOrEqual(t, MaxBatch, dispatch.MaxLeaseShards)
	require.LessOrEqual(t, pollWait, fleet.MaxLeaseWait)
	require.LessOrEqual(t, pollWait, rest.MaxWait)
	// A part is at most reportBytes, or one result: an output and its diagnostics, each byte of which may take six in JSON.
	require.LessOrEqual(t, max(reportBytes, 6*maxInlineOutput+harness.MaxReportBytes), rest.MaxResultsBody)
}
