//go:build linux

package harness

import (
	"time"

	"github.com/ostraka/ostraka/runtime/canonical"
)

// collect takes what the shard left and puts the Result together. held says that
// somebody still holds a pipe although all processes of the shard are gone: only
// what the import left behind can.
func (f *flight) collect(o outcome) (r Result, held bool, err error) {
	f.closeEnds()
	deadline := time.Now().Add(drainGrace)
	o.frame = f.answer.finish(deadline)
	stdout, stderr := f.stdout.finish(deadline), f.stderr.finish(deadline)
	held = !o.lost && !time.Now().Before(deadline)
	o.stdout, o.stderr = stdout.n, stderr.n
	defer f.root.Close()
	if o.err != nil {
		return Result{}, held, o.err
	}
	if err := f.weigh(&o); err != nil {
		return Result{}, held, err
	}
	v := decide(o.ending)
	files, filesErr := []File{}, error(nil)
	if f.shard.Workspace == "" || o.workspace.inodes > 0 {
		files, filesErr = artifacts(f.root, f.limits)
	}
	if filesErr != nil && v.status == StatusOK {
		v = badArtifacts(filesErr)
	}
	r = Result{
		Status: v.status, Exception: v.exception, Files: files,
		OutputBytes:  outputBytes(o.frame),
		StdoutDigest: stdout.digest(), StdoutBytes: stdout.n, StdoutTail: stdout.text(), StdoutTruncated: !stdout.whole(),
		StderrBytes: stderr.n, StderrTail: stderr.text(),
		ExitCode: o.exitCode, Signal: signalName(o.signal),
		StartedAt: stamp(f.started), EndedAt: stamp(o.ended),
		CPUMicros: o.cpu, WallMicros: o.ended.Sub(f.started).Microseconds(), PeakRSSBytes: o.peakRSS,
	}
	if v.status == StatusOK {
		r.Output, r.OutputDigest = string(v.output), canonical.Digest(v.output)
	}
	return r, held, nil
}

// weigh adds what only shows after the end: the counters of the sandbox and
// what lies in the workspace.
func (f *flight) weigh(o *outcome) error {
	after, err := account(f.cfg)
	if err != nil {
		return err
	}
	o.oomKills, o.refused = after.OOMKills-f.before.OOMKills, after.PidsRefused-f.before.PidsRefused
	if o.ranOutOfDisk() {
		o.quota = quotas(f.shard.outputDir(), f.limits)
	}
	if o.quota.full && !o.quota.own {
		return errMachineFull
	}
	if f.shard.Workspace == "" {
		return nil
	}
	o.workspace, err = measure(f.shard.Workspace, f.limits, true)
	return err
}
