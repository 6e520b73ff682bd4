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

	"github.com/ostraka/ostraka/functions/trust/execution"
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
	d, err := b.startDocker(ctx, filepath.Join(b.dir, "docker"))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, d.stop()) }()
	packed, err := b.trivial()
	if err != nil {
		return nil, err
	}
	var rechecked, ran time.Duration
	for range recheckRounds {
		took, err := recheckRound(ctx, d.executor, packed)
		if err != nil {
			return nil, err
		}
		rechecked += took
		if took, err = d.round(ctx); err != nil {
			return nil, err
		}
		ran += took
	}
	shards := float64(recheckRounds*recheckBatches*execution.RecheckBatch) / rechecked.Seconds()
	runs := float64(recheckRounds*dockerRuns) / ran.Seconds()
	say("the server executes %.0f trivial shards a second in containers; docker run manages %.1f", shards, runs)
	return []figure{{"recheck_shards_per_s", shards}, {"docker_runs_per_s", runs}, {"recheck_ratio", shards / runs}}, nil
}

// recheckRound is the time of some batches, each in a container of its own.
func recheckRound(ctx context.Context, x recheck.Executor, b *bundle.Bundle) (time.Duration, error) {
	begin := time.Now()
	for range recheckBatches {
		batch := recheck.Batch{Project: uuid.New(), Job: uuid.New(), Bundle: b}
		for i := range int64(execution.RecheckBatch) {
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

// dockerBench is a Docker daemon of our own, with the image that the server executes shards in.
type dockerBench struct {
	daemon      *testenv.Docker
	executor    *docker.Executor
	interpreter string // in the image
}

func (b *bench) startDocker(ctx context.Context, dir string) (_ *dockerBench, err error) {
	daemon, err := testenv.StartDocker(dir)
	if err != nil {
		return nil, err
	}
	d := &dockerBench{daemon: daemon}
	defer func() {
		if err != nil {
			err = errors.Join(err, d.stop())
		}
	}()
	tree, err := python.Install(ctx, filepath.Join(b.dir, "python"))
	if err != nil {
		return nil, err
	}
	d.interpreter = linux.ContainerPython + strings.TrimPrefix(tree.Interpreter, tree.Dir)
	if d.executor, err = docker.New(docker.Config{
		Host: daemon.Host, Installation: "bench", Dir: filepath.Join(dir, "recheck"), Python: tree, Program: b.binary, Warm: 1, Concurrent: 1,
		Log: slog.New(slog.DiscardHandler),
	}); err != nil {
		return nil, err
	}
	return d, d.executor.Health(ctx)
}

func (d *dockerBench) stop() (err error) {
	if d.executor != nil {
		err = d.executor.Close()
	}
	d.daemon.Stop()
	return err
}

// round is the time of some runs of the same snippet.
func (d *dockerBench) round(ctx context.Context) (time.Duration, error) {
	begin := time.Now()
	for i := range dockerRuns {
		if err := d.run(ctx, i); err != nil {
			return 0, err
		}
	}
	return time.Since(begin), nil
}

// run executes the trivial snippet with `docker run`, on the same interpreter and under the same walls as far as one types them.
func (d *dockerBench) run(ctx context.Context, i int) error {
	out, err := exec.CommandContext(ctx, "docker", "--host", d.daemon.Host, "run", "--rm", "--network=none", "--read-only", "--cap-drop=ALL", "--user=65534",
		"--entrypoint="+d.interpreter, d.executor.Describe().Image, "-s", "-S", "-B", "-c", trivialProgram, strconv.Itoa(i)).CombinedOutput()
	if err != nil {
		return fmt.Errorf("docker run: %w: %s", err, out)
	}
	if string(bytes.TrimSpace(out)) != strconv.Itoa(i+1) {
		return fmt.Errorf("docker run answers %q", out)
	}
	return nil
}
