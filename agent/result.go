package agent

import (
	"fmt"
	"time"

	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/runtime/harness"
)

// resultOf is what the server is told of a shard.
func resultOf(r harness.Result) (client.ShardResult, error) {
	r, err := harness.Fit(r)
	if err != nil {
		return client.ShardResult{}, err
	}
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
		Fuel: r.Fuel, Meter: int64(r.Meter),
	}
	if e := r.Exception; e != nil {
		result.Exception = &client.Exception{Type: e.Type, Message: e.Message, Traceback: e.Traceback}
	}
	for _, f := range r.Files {
		result.Files = append(result.Files, client.File{Path: f.Path, Size: f.Size, Digest: f.Digest})
	}
	return result, nil
}
