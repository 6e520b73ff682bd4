package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"github.com/ostraka/ostraka/runtime/bundle"
	"github.com/ostraka/ostraka/runtime/harness"
	"github.com/ostraka/ostraka/runtime/linux"
	"github.com/ostraka/ostraka/runtime/process"
	"github.com/ostraka/ostraka/runtime/python"
)

const (
	// forkRounds is how often both ways of running shards take turns, so that a machine that changes its mind is not held against
	// either.
	forkRounds = 5
	// forkShards are the shards of one round through a session, startShards those with an interpreter each.
	forkShards, startShards = 200, 20
)

// The same trivial shard both ways: a number in, a number out.
const (
	trivialHandler = "def handler(x):\n    return x + 1\n"
	trivialProgram = "import json, sys; print(json.dumps(json.loads(sys.argv[1]) + 1))"
)

// sandboxSession is what every level of isolation has.
type sandboxSession interface {
	Run(ctx context.Context, shard int64, input []byte) (harness.Result, error)
	Close() error
}

// sandboxLevel is one level that is measured; the name ends its figures, and the first has none.
type sandboxLevel struct {
	suffix string
	open   func(ctx context.Context, tree python.Tree, dir string, b *bundle.Bundle) (sandboxSession, error)
}

func sandboxLevels() []sandboxLevel {
	return []sandboxLevel{{"", openProcess}, {"_linux", openLinux}}
}

// openLinux opens the level with all walls, or the one without a cgroup where there is none to be had.
func openLinux(ctx context.Context, tree python.Tree, dir string, b *bundle.Bundle) (sandboxSession, error) {
	var failed error
	for _, level := range []bundle.Isolation{bundle.Linux, bundle.LinuxNoCgroup} {
		r, err := linux.New(linux.Config{Python: tree, Dir: dir, Level: level})
		if err == nil {
			return r.Open(ctx, b, harness.Settings{})
		}
		failed = errors.Join(failed, err)
	}
	return nil, failed
}

func openProcess(ctx context.Context, tree python.Tree, dir string, b *bundle.Bundle) (sandboxSession, error) {
	r, err := process.New(process.Config{Python: tree, Dir: dir})
	if err != nil {
		return nil, err
	}
	return r.Open(ctx, b, harness.Settings{})
}

// forks compares trivial shards through a session with one `python3 -c` each, on the interpreter that agents carry.
func (b *bench) forks(ctx context.Context) ([]figure, error) {
	tree, err := python.Install(ctx, filepath.Join(b.dir, "python"))
	if err != nil {
		return nil, err
	}
	packed, err := b.trivial()
	if err != nil {
		return nil, err
	}
	var all []figure
	for _, level := range sandboxLevels() {
		session, err := level.open(ctx, tree, filepath.Join(b.dir, "sandboxes"), packed)
		if err != nil {
			return nil, err
		}
		forked, started, err := compareForks(ctx, session, tree.Interpreter)
		if err = errors.Join(err, session.Close()); err != nil {
			return nil, err
		}
		ms := func(d time.Duration) float64 { return d.Seconds() * 1000 }
		say("a trivial shard%s takes %.2f ms, an interpreter for each %.2f ms", level.suffix, ms(forked), ms(started))
		all = append(all, figure{"shard_fork" + level.suffix + "_ms", ms(forked)}, figure{"python_start" + level.suffix + "_ratio", float64(started) / float64(forked)})
	}
	return all, nil
}

// trivial packs the function of trivial shards.
func (b *bench) trivial() (*bundle.Bundle, error) {
	folder := filepath.Join(b.dir, "trivial")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(folder, "main.py"), []byte(trivialHandler), 0o600); err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(folder, bundle.ManifestName), []byte("name = \"trivial\"\n"), 0o600); err != nil {
		return nil, err
	}
	return bundle.Pack(folder)
}

// compareForks returns the time of a shard both ways.
func compareForks(ctx context.Context, session sandboxSession, interpreter string) (forked, started time.Duration, err error) {
	for range forkRounds {
		begun := time.Now()
		for i := range forkShards {
			if err := forkShard(ctx, session, int64(i)); err != nil {
				return 0, 0, err
			}
		}
		forked += time.Since(begun)
		begun = time.Now()
		for i := range startShards {
			if err := startShard(ctx, interpreter, int64(i)); err != nil {
				return 0, 0, err
			}
		}
		started += time.Since(begun)
	}
	return forked / (forkRounds * forkShards), started / (forkRounds * startShards), nil
}

func forkShard(ctx context.Context, session sandboxSession, i int64) error {
	r, err := session.Run(ctx, i, strconv.AppendInt(nil, i, 10))
	if err != nil {
		return err
	}
	if r.Output != strconv.FormatInt(i+1, 10) {
		return fmt.Errorf("running a trivial shard: status %s, output %q", r.Status, r.Output)
	}
	return nil
}

func startShard(ctx context.Context, interpreter string, i int64) error {
	out, err := exec.CommandContext(ctx, interpreter, "-c", trivialProgram, strconv.FormatInt(i, 10)).Output()
	if err != nil {
		return fmt.Errorf("starting an interpreter for a shard: %w", err)
	}
	if string(out) != strconv.FormatInt(i+1, 10)+"\n" {
		return fmt.Errorf("starting an interpreter for a shard: it printed %q", out)
	}
	return nil
}
