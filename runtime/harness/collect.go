//go:build linux

package harness

import "time"

// collect takes what the shard left and makes the Result of it. held says that
// somebody still holds a pipe although all processes of the shard are gone: only
// what the import left behind can.
func (f *flight) collect(o outcome) (r Result, held bool, err error) {
	defer f.root.Close()
	f.closeEnds()
	deadline := time.Now().Add(drainGrace)
	o.frame = f.answer.finish(deadline)
	stdout, stderr := f.stdout.finish(deadline), f.stderr.finish(deadline)
	held = !o.lost && !time.Now().Before(deadline)
	if o.err != nil {
		return Result{}, held, o.err
	}
	if err := f.weigh(&o); err != nil {
		return Result{}, held, err
	}
	o.started, o.schema = f.started, f.cfg.schema
	r, err = o.assemble(&f.shard, f.root, stdout, stderr)
	return r, held, err
}

// weigh adds what only the counters of the sandbox and its file system show
// after the end.
func (f *flight) weigh(o *outcome) error {
	after, err := account(f.cfg)
	if err != nil {
		return err
	}
	o.oomKills, o.refused = after.OOMKills-f.before.OOMKills, after.PidsRefused-f.before.PidsRefused
	if len(f.shard.Mounts) > 0 {
		o.workspace = f.spread()
	}
	if o.ranOutOfDisk() {
		o.quota = quotas(f.shard.outputDir(), f.limits)
	}
	if o.quota.full && !o.quota.own {
		return errMachineFull
	}
	return nil
}
