//go:build linux

package docker

import (
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/docker/docker/api/types/container"

	"github.com/ostraka/ostraka/runtime/bundle"
	"github.com/ostraka/ostraka/runtime/canonical"
	"github.com/ostraka/ostraka/runtime/harness"
	"github.com/ostraka/ostraka/runtime/recheck"
)

// maxCulprits is how many shards of one batch may take their container with them; what takes more of them is no fault of shards.
const maxCulprits = 8

// overrun is a container that ended by what runs in it: the kernel of its machine ended it for lack of memory, or it crashed. Whatever is
// killed by somebody is none.
type overrun struct {
	err    error
	memory bool
}

func (o *overrun) Error() string { return o.err.Error() }
func (o *overrun) Unwrap() error { return o.err }

// killedCode is the exit code of a process that was killed.
const killedCode = 137

// blame tells whether a container has ended by what ran in it. Of gVisor the daemon does not always know that it ran out of memory.
func blame(s *container.State, level bundle.Isolation, err error) error {
	killed := s.ExitCode == killedCode && level != bundle.GVisor
	if s.Running || !s.OOMKilled && (killed || s.ExitCode == 0) {
		return err
	}
	return &overrun{err: err, memory: s.OOMKilled}
}

// aroundCulprits runs a batch. A shard that takes its container with it is run again in one of its own: where it takes that too, it is
// the shard's own end, and the others continue without it. With gVisor a function gets that far, which keeps less of its memory in check.
func aroundCulprits(batch recheck.Batch, made recheck.Description, run func(batch recheck.Batch, alone bool) ([]harness.Result, error)) (all []harness.Result, err error) {
	left := batch.Shards
	for range maxCulprits {
		batch.Shards = left
		results, err := run(batch, false)
		all, left = append(all, results...), left[len(results):]
		var own *overrun
		if !errors.As(err, &own) || len(left) == 0 {
			return all, err
		}
		batch.Shards = left[:1]
		results, err = run(batch, true)
		if errors.As(err, &own) {
			results, err = []harness.Result{own.result(left[0], made)}, nil
		}
		if err != nil {
			return all, err
		}
		all, left = append(all, results...), left[1:]
		if len(left) == 0 {
			return all, nil
		}
	}
	batch.Shards = left
	results, err := run(batch, false)
	return slices.Concat(all, results), err
}

// result is that of a shard which has ended its sandbox.
func (o *overrun) result(s recheck.Shard, made recheck.Description) harness.Result {
	now := time.Now().UTC().Format(time.RFC3339Nano)
	r := harness.Result{
		Shard: s.Number, Status: harness.StatusKilled, ExitCode: -1, Files: []harness.File{}, StartedAt: now, EndedAt: now,
		StdoutDigest: canonical.Digest(nil), InputBytes: int64(len(s.Input)),
		Isolation: string(made.Level), Interpreter: made.Interpreter, Platform: made.Platform, Libc: made.Libc,
		Exception: &harness.Exception{Type: harness.ExceptionHarness, Message: o.message()},
	}
	if o.memory {
		r.Status, r.Exception.Type = harness.StatusMemory, harness.ExceptionLimit
	}
	return r
}

func (o *overrun) message() string {
	text := "the shard ended its container, twice: " + o.Error()
	return strings.ToValidUTF8(text[:min(len(text), harness.MaxExceptionMessageBytes)], "")
}
