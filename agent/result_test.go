package agent

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/runtime/harness"
)

func harnessResult() harness.Result {
	now := time.Now().UTC().Format(time.RFC3339Nano)
	return harness.Result{Shard: 7, Status: harness.StatusError, StartedAt: now, EndedAt: now, ExitCode: -1, Signal: "SIGSEGV"}
}

func TestResultSaysWhatTheSandboxSays(t *testing.T) {
	r := harnessResult()
	r.Exception = &harness.Exception{Type: "ValueError", Message: "m", Traceback: "t"}
	r.Files = []harness.File{{Path: "a", Size: 1, Digest: "d"}}
	got, err := resultOf(r)
	require.NoError(t, err)
	theirs, err := json.Marshal(r)
	require.NoError(t, err)
	ours, err := json.Marshal(got)
	require.NoError(t, err)
	var want, have map[string]any
	require.NoError(t, json.Unmarshal(theirs, &want))
	require.NoError(t, json.Unmarshal(ours, &have))
	for name, value := range want { // what is empty is left out
		if value != "" && value != false && value != float64(0) {
			require.Equal(t, value, have[name], name)
		}
	}
}

// Text that grows in JSON passes the server's limit; it is shortened, and what votes is not.
func TestDiagnosticsAreMadeToFit(t *testing.T) {
	r := harnessResult()
	control := strings.Repeat("\x01", 4096) // six bytes each
	r.Exception = &harness.Exception{Type: "E", Message: control, Traceback: strings.Repeat("\x02", 16<<10) + "the end"}
	r.StdoutTail, r.StderrTail = control, control+"last words é"
	for i := range maxFiles + 1 {
		r.Files = append(r.Files, harness.File{Path: strings.Repeat("p", 230) + fmt.Sprint(i), Digest: strings.Repeat("0", 64)})
	}
	got, err := resultOf(r)
	require.NoError(t, err)
	size, err := diagnosticSize(got)
	require.NoError(t, err)
	require.LessOrEqual(t, size, maxDiagnosticBytes)
	require.LessOrEqual(t, size, functions.MaxDiagnosticBytes)
	require.Equal(t, control, got.Exception.Message)
	require.Equal(t, "E", got.Exception.Type)
	require.EqualValues(t, maxFiles+1, int64(len(got.Files))+got.FilesOmitted, "what is left out is counted")
	require.Positive(t, got.FilesOmitted)
	require.True(t, strings.HasSuffix(got.StderrTail, "last words é"), "a tail stays a tail")
}

func TestDiagnosticsThatFitAreLeftAlone(t *testing.T) {
	r := harnessResult()
	r.StderrTail = strings.Repeat("x", 4096)
	got, err := resultOf(r)
	require.NoError(t, err)
	require.Equal(t, r.StderrTail, got.StderrTail)
}

func TestTimesMustBeTimes(t *testing.T) {
	r := harnessResult()
	r.EndedAt = "yesterday"
	_, err := resultOf(r)
	require.Error(t, err)
}
