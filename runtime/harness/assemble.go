package harness

import (
	"errors"
	"os"
	"time"

	"github.com/ostraka/ostraka/runtime/canonical"
)

// outcome is what a run of a shard came to.
type outcome struct {
	ending
	started, ended time.Time
	peakRSS        int64
	last           bool  // the zygote leaves: only that ends all that is left
	err            error // the context ended
}

// assemble puts the Result together when the processes of the shard are gone: it judges what they wrote and what they left in the
// workspace and under root, its $OSTRAKA_OUTPUT.
func (o *outcome) assemble(shard *Shard, root *os.Root, stdout, stderr *tail) (Result, error) {
	o.stdout, o.stderr = stdout.n, stderr.n
	if shard.Workspace != "" {
		var err error
		if o.workspace, err = measure(shard.Workspace, o.limits, true); err != nil {
			return Result{}, err
		}
	}
	v := decide(o.ending)
	files, filesErr := []File{}, error(nil)
	if shard.Workspace == "" || o.workspace.inodes > 0 { // else nothing can lie there
		files, filesErr = artifacts(root, o.limits)
	}
	if filesErr != nil && v.status == StatusOK {
		v = badArtifacts(filesErr)
	}
	r := Result{
		Status: v.status, Exception: v.exception, Files: files,
		OutputBytes:  outputBytes(o.frame),
		StdoutDigest: stdout.digest(), StdoutBytes: stdout.n, StdoutTail: stdout.text(), StdoutTruncated: !stdout.whole(),
		StderrBytes: stderr.n, StderrTail: stderr.text(),
		ExitCode: o.exitCode, Signal: signalName(o.signal),
		StartedAt: stamp(o.started), EndedAt: stamp(o.ended),
		CPUMicros: o.cpu, WallMicros: o.ended.Sub(o.started).Microseconds(), PeakRSSBytes: o.peakRSS,
	}
	if v.status == StatusOK {
		r.Output, r.OutputDigest = string(v.output), canonical.Digest(v.output)
	}
	return r, nil
}

// label says in a Result which shard it is of, and where that ran.
func (r *Result) label(cfg *Config, f *facts, shard *Shard) {
	r.Shard, r.InputBytes = shard.Index, int64(len(shard.Input))
	r.Isolation = string(cfg.Isolation)
	r.Interpreter, r.Platform, r.Libc = f.named(cfg.Tree), f.Platform, f.Libc
}

func badArtifacts(err error) verdict {
	if errors.Is(err, errTooMuch) {
		return failed(StatusArtifactLimit, ExceptionLimit, "%v", err)
	}
	return failed(StatusError, ExceptionArtifact, "%v", err)
}

// outputBytes is the size of the output, also of one that is over its limit.
func outputBytes(f frame) int64 {
	if f.kind != frameOutput || f.problem != "" {
		return 0
	}
	return int64(min(f.size, 1<<62))
}
