package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions/trust"
	"github.com/ostraka/ostraka/runtime/bundle"
	"github.com/ostraka/ostraka/runtime/docker"
	"github.com/ostraka/ostraka/runtime/harness"
	"github.com/ostraka/ostraka/runtime/linux"
	"github.com/ostraka/ostraka/runtime/python"
	"github.com/ostraka/ostraka/runtime/recheck"
	"github.com/ostraka/ostraka/testenv"
)

const (
	// recheckRounds is how often both ways take turns.
	recheckRounds = 5
	// recheckBatches are the batches of one round, each of as many shards as the server takes at a time, dockerRuns the runs of `docker run`.
	recheckBatches, dockerRuns = 3, 5
)

// rechecks compares shards that the server executes in containers with a `docker run` of the same snippet for each.
func (b *bench) rechecks(ctx context.Context) (_ []figure, err error) {
	daemon, err := testenv.StartDocker(filepath.Join(b.dir, "docker"))
	if err != nil {
		return nil, err
	}
	defer daemon.Stop()
	tree, err := python.Install(ctx, filepath.Join(b.dir, "python"))
	if err != nil {
		return nil, err
	}
	packed, err := b.trivial()
	if err != nil {
		return nil, err
	}
	x, err := docker.New(docker.Config{
		Host: daemon.Host, Installation: "bench", Dir: filepath.Join(b.dir, "recheck"), Python: tree, Program: b.binary, Warm: 1, Concurrent: 1,
		Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, x.Close()) }()
	if err := x.Health(ctx); err != nil {
		return nil, err
	}
	var rechecked, ran time.Duration
	for range recheckRounds {
		took, err := recheckRound(ctx, x, packed)
		if err != nil {
			return nil, err
		}
		rechecked += took
		if took, err = dockerRound(ctx, daemon.Host, x.Describe().Image, linux.ContainerPython+strings.TrimPrefix(tree.Interpreter, tree.Dir)); err != nil {
			return nil, err
		}
		ran += took
	}
	shards := float64(recheckRounds*recheckBatches*trust.RecheckBatch) / rechecked.Seconds()
	runs := float64(recheckRounds*dockerRuns) / ran.Seconds()
	say("the server executes %.0f trivial shards a second in containers; docker run manages %.1f", shards, runs)
	return []figure{{"recheck_shards_per_s", shards}, {"docker_runs_per_s", runs}, {"recheck_ratio", shards / runs}}, nil
}

// recheckRound is the time of some batches, each in a container of its own.
func recheckRound(ctx context.Context, x recheck.Executor, b *bundle.Bundle) (time.Duration, error) {
	begin := time.Now()
	for range recheckBatches {
		batch := recheck.Batch{Project: uuid.New(), Job: uuid.New(), Bundle: b}
		for i := range int64(trust.RecheckBatch) {
			batch.Shards = append(batch.Shards, recheck.Shard{Number: i, Input: strconv.AppendInt(nil, i, 10)})
		}
		results, err := x.Recheck(ctx, batch)
		if err != nil {
			return 0, err
		}
		for i, r := range results {
			if r.Status != harness.StatusOK || r.Output != strconv.Itoa(i+1) {
				return 0, fmt.Errorf("shard %d ended with %s, %q", i, r.Status, r.Output)
			}
		}
	}
	return time.Since(begin), nil
}

// dockerRound is the time of some runs of the same snippet, on the same interpreter and under the same walls as far as one types them.
func dockerRound(ctx context.Context, host, image, interpreter string) (time.Duration, error) {
	begin := time.Now()
	for i := range dockerRuns {
		out, err := exec.CommandContext(ctx, "docker", "--host", host, "run", "--rm", "--network=none", "--read-only", "--cap-drop=ALL", "--user=65534",
			"--entrypoint="+interpreter, image, "-s", "-S", "-B", "-c", trivialProgram, strconv.Itoa(i)).CombinedOutput()
		if err != nil {
			return 0, fmt.Errorf("docker run: %w: %s", err, out)
		}
		if string(bytes.TrimSpace(out)) != strconv.Itoa(i+1) {
			return 0, fmt.Errorf("docker run answers %q", out)
		}
	}
	return time.Since(begin), nil
}
