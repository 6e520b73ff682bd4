package agent

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/functions/result"
	"github.com/ostraka/ostraka/runtime/canonical"
	"github.com/ostraka/ostraka/runtime/harness"
)

func harnessResult() harness.Result {
	now := time.Now().UTC().Format(time.RFC3339Nano)
	return harness.Result{Shard: 7, Status: harness.StatusError, StartedAt: now, EndedAt: now, ExitCode: -1, Signal: "SIGSEGV"}
}

func reportBytesOf(r client.ShardResult) (int, error) {
	r.Output = ""
	text, err := json.Marshal(r)
	return len(text), err
}

func TestResultSaysWhatTheSandboxSays(t *testing.T) {
	r := harnessResult()
	r.Exception = &harness.Exception{Type: "ValueError", Message: "m", Traceback: "t"}
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

// The list of artifacts votes: it is whole, or the shard has failed.
func TestTheListOfArtifactsIsWholeOrTheShardFails(t *testing.T) {
	r := harnessResult()
	r.Status, r.Output, r.OutputDigest, r.OutputBytes = harness.StatusOK, "1", canonical.Digest([]byte("1")), 1
	r.StdoutTail = strings.Repeat("x", 50<<10)
	for i := range result.MaxFilesListed {
		r.Files = append(r.Files, harness.File{Path: strings.Repeat("p", 238) + fmt.Sprintf("%02d", i), Size: 1 << 30, Digest: strings.Repeat("0", 64)})
	}
	got, err := resultOf(r)
	require.NoError(t, err)
	require.Len(t, got.Files, result.MaxFilesListed, "names of the longest length fit")
	require.EqualValues(t, harness.StatusOK, got.Status)
	size, err := reportBytesOf(got)
	require.NoError(t, err)
	require.LessOrEqual(t, size, harness.MaxReportBytes)

	for i := range r.Files { // each quote is two bytes in JSON
		r.Files[i].Path = strings.Repeat(`"`, 238) + fmt.Sprintf("%02d", i)
	}
	got, err = resultOf(r)
	require.NoError(t, err)
	require.EqualValues(t, harness.StatusArtifactLimit, got.Status)
	require.Empty(t, got.Files)
	require.Empty(t, got.Output+got.OutputDigest)
	require.Contains(t, got.Exception.Message, "shorter names")

	r.Status = harness.StatusError
	got, err = resultOf(r)
	require.NoError(t, err)
	require.Empty(t, got.Files, "what a failed shard left counts for nothing")
}

// Text that grows in JSON passes the server's limit; it is shortened, and what votes is not.
func TestDiagnosticsAreMadeToFit(t *testing.T) {
	r := harnessResult()
	control := strings.Repeat("\x01", 4096) // six bytes each
	r.Exception = &harness.Exception{Type: "E", Message: control, Traceback: strings.Repeat("\x02", 16<<10) + "the end"}
	r.StdoutTail, r.StderrTail = control, control+"last words é"
	got, err := resultOf(r)
	require.NoError(t, err)
	size, err := reportBytesOf(got)
	require.NoError(t, err)
	require.LessOrEqual(t, size, harness.MaxReportBytes)
	require.LessOrEqual(t, size, result.MaxDiagnosticBytes)
	require.Equal(t, control, got.Exception.Message)
	require.Equal(t, "E", got.Exception.Type)
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
