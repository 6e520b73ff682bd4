package agent

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/runtime/harness"
)

const (
	// maxDiagnosticBytes is the most that a result may say besides its output, in bytes of JSON. The server keeps 64 KiB.
	maxDiagnosticBytes = 60 << 10
	// maxFileListBytes is the most that the list of a shard's artifacts may be, in bytes of JSON: it votes, so that it is never shortened,
	// and what is for people must fit beside it.
	maxFileListBytes = 48 << 10
)

// resultOf is what the server is told of a shard.
func resultOf(r harness.Result) (client.ShardResult, error) {
	started, err := time.Parse(time.RFC3339Nano, r.StartedAt)
	if err != nil {
		return client.ShardResult{}, fmt.Errorf("reading when the shard was started: %w", err)
	}
	ended, err := time.Parse(time.RFC3339Nano, r.EndedAt)
	if err != nil {
		return client.ShardResult{}, fmt.Errorf("reading when the shard ended: %w", err)
	}
	result := client.ShardResult{
		Shard: r.Shard, Status: client.ShardResultStatus(r.Status),
		Output: r.Output, OutputDigest: r.OutputDigest, OutputBytes: r.OutputBytes,
		StdoutDigest: r.StdoutDigest, StdoutBytes: r.StdoutBytes, StdoutTail: r.StdoutTail, StdoutTruncated: r.StdoutTruncated,
		StderrBytes: r.StderrBytes, StderrTail: r.StderrTail,
		ExitCode: new(int64(r.ExitCode)), Signal: r.Signal,
		StartedAt: started, EndedAt: ended, CPUUs: r.CPUMicros, WallUs: r.WallMicros, PeakRssBytes: r.PeakRSSBytes, InputBytes: r.InputBytes,
		Isolation: r.Isolation, Interpreter: r.Interpreter, Platform: r.Platform, Libc: r.Libc,
	}
	if e := r.Exception; e != nil {
		result.Exception = &client.Exception{Type: e.Type, Message: e.Message, Traceback: e.Traceback}
	}
	if r.Status == harness.StatusOK { // what a failed shard left counts for nothing
		for _, f := range r.Files {
			result.Files = append(result.Files, client.File{Path: f.Path, Size: f.Size, Digest: f.Digest})
		}
	}
	if err := fitFiles(&result); err != nil {
		return result, err
	}
	return result, fitDiagnostics(&result)
}

// fitDiagnostics shortens what is for people until the server takes it: text that grows when it is written as JSON can pass its
// limit. What votes (status, output, artifacts, and an exception's type and message) is never touched, and a
// tail that was shortened is still the end of what was printed.
func fitDiagnostics(r *client.ShardResult) error {
	for {
		size, err := diagnosticSize(*r)
		if err != nil || size <= maxDiagnosticBytes {
			return err
		}
		longest := &r.StderrTail
		if len(r.StdoutTail) > len(*longest) {
			longest = &r.StdoutTail
			r.StdoutTruncated = true
		}
		if r.Exception != nil && len(r.Exception.Traceback) > len(*longest) {
			longest = &r.Exception.Traceback
		}
		switch {
		case *longest != "":
			*longest = lastHalf(*longest)
		default:
			return nil // nothing is left to leave out; the server will say what it does not like
		}
	}
}

// fitFiles fails a shard whose list of artifacts the server would not take.
func fitFiles(r *client.ShardResult) error {
	text, err := json.Marshal(r.Files)
	if err != nil {
		return fmt.Errorf("encoding the list of artifacts: %w", err)
	}
	if len(text) <= maxFileListBytes {
		return nil
	}
	r.Status, r.Output, r.OutputDigest, r.OutputBytes, r.Files = client.ShardResultStatus(harness.StatusArtifactLimit), "", "", 0, nil
	r.Exception = &client.Exception{
		Type:    harness.ExceptionLimit,
		Message: fmt.Sprintf("the list of the files under $OSTRAKA_OUTPUT has %d bytes, at most %d are allowed: use shorter names, or pack them into fewer files", len(text), maxFileListBytes),
	}
	return nil
}

func diagnosticSize(r client.ShardResult) (int, error) {
	r.Output = ""
	text, err := json.Marshal(r)
	if err != nil {
		return 0, fmt.Errorf("encoding a result: %w", err)
	}
	return len(text), nil
}

// lastHalf is the second half of a text, beginning with a whole character.
func lastHalf(s string) string {
	runes := []rune(s)
	return string(runes[(len(runes)+1)/2:])
}
