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
	// maxFiles is how many files of a shard a result lists, as the server has it.
	maxFiles = 100
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
	for _, f := range r.Files {
		result.Files = append(result.Files, client.File{Path: f.Path, Size: f.Size, Digest: f.Digest})
	}
	return result, fitDiagnostics(&result)
}

// fitDiagnostics shortens what is for people until the server takes it: text that grows when it is written as JSON can pass its
// limit. What is left out of the list of files is counted in the result. What votes (status, output, and an exception's type and message) is never touched, and a tail that was shortened is
// still the end of what was printed.
func fitDiagnostics(r *client.ShardResult) error {
	omitFiles(r, maxFiles)
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
		case len(r.Files) > 0:
			omitFiles(r, len(r.Files)/2)
		default:
			return nil // nothing is left to leave out; the server will say what it does not like
		}
	}
}

// omitFiles shortens the list of files and counts what it leaves out.
func omitFiles(r *client.ShardResult, most int) {
	if left := len(r.Files) - most; left > 0 {
		r.Files = r.Files[:most]
		r.FilesOmitted += int64(left)
	}
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
