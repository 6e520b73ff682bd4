package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/ostraka/ostraka/runtime/bundle"
	"github.com/ostraka/ostraka/runtime/harness"
	"github.com/ostraka/ostraka/runtime/wasmbox"
)

const (
	sieveFolder = "examples/sieve"
	// sieveInput keeps the sieve busy for a second or so: nearly all of it in loops.
	sieveInput = `{"from":"100000000000000000","to":"100000000001000000"}`
	// noInput is an empty range: the module reads it, prints 0, and is done.
	noInput = `{"from":"1","to":"1"}`
	// sieveTries is how often each way is timed, in turns; the best counts.
	sieveTries = 8
	// wasmShards are the trivial shards of one round.
	wasmShards = 2000
)

// wasmFunctions measures functions in WebAssembly, by the C example.
//
// wasm_function_ratio is the time of the same source, built by `cc -O2`, divided by the time in the sandbox: metered, in the runner, with
// input and output, compiled code at hand. wasm_shard_us is the time of a trivial shard of a lease, with an instance of its own.
func (b *bench) wasmFunctions(ctx context.Context) (_ []figure, err error) {
	native := filepath.Join(b.dir, "sieve")
	if out, err := exec.CommandContext(ctx, "cc", "-O2", "-o", native, filepath.Join(sieveFolder, "sieve.c")).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("building the C example natively (is there a C compiler? apt-get install gcc libc6-dev): %w: %s", err, out)
	}
	packed, err := bundle.Pack(sieveFolder)
	if err != nil {
		return nil, err
	}
	r, err := wasmbox.New(wasmbox.Config{Dir: filepath.Join(b.dir, "compiled")})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	s, err := r.Open(ctx, packed, harness.Settings{})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	var ours, theirs, each time.Duration
	for range sieveTries {
		took, err := sieveNatively(ctx, native)
		if err != nil {
			return nil, err
		}
		theirs = better(theirs, took)
		if took, err = sieveShards(ctx, s, sieveInput, 1); err != nil {
			return nil, err
		}
		ours = better(ours, took)
		if took, err = sieveShards(ctx, s, noInput, wasmShards); err != nil {
			return nil, err
		}
		each = better(each, took/wasmShards)
	}
	say("a shard of the C example takes %v natively and %v in WebAssembly, a trivial one %v", theirs, ours, each)
	return []figure{{"wasm_function_ratio", theirs.Seconds() / ours.Seconds()}, {"wasm_shard_us", each.Seconds() * 1e6}}, nil
}

// better is the shorter of two times; 0: there is none yet.
func better(best, took time.Duration) time.Duration {
	if best == 0 {
		return took
	}
	return min(best, took)
}

func sieveNatively(ctx context.Context, program string) (time.Duration, error) {
	cmd := exec.CommandContext(ctx, program)
	cmd.Stdin = strings.NewReader(sieveInput)
	began := time.Now()
	out, err := cmd.CombinedOutput()
	if err != nil {
		return 0, fmt.Errorf("sieving natively: %w: %s", err, out)
	}
	return time.Since(began), nil
}

func sieveShards(ctx context.Context, s *wasmbox.Sandbox, input string, shards int) (time.Duration, error) {
	began := time.Now()
	for i := range shards {
		r, err := s.Run(ctx, int64(i), []byte(input))
		if err != nil {
			return 0, err
		}
		if r.Status != harness.StatusOK {
			return 0, fmt.Errorf("a shard ended with %s: %+v", r.Status, r.Exception)
		}
	}
	return time.Since(began), nil
}
