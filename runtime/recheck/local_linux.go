package recheck

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ostraka/ostraka/runtime/harness"
	"github.com/ostraka/ostraka/runtime/linux"
	"github.com/ostraka/ostraka/runtime/python"
	"github.com/ostraka/ostraka/runtime/volume"
)

// LocalConfig says how to execute batches without containers.
type LocalConfig struct {
	Python     python.Tree
	Dir        string   // private folder for bundles
	Concurrent int      // how many batches are under way at a time
	Hidden     []string // files and folders that no function may see, for the canary
	Volumes    []volume.Mapping
	Log        *slog.Logger
}

// Local executes batches in the strongest sandbox that agents have and that this
// machine's kernel lets us build. As root every sandbox has a user of its own.
type Local struct {
	runner *linux.Runner
	slots  chan struct{}
	kept   *Kept[*linux.Sandbox]
	log    *slog.Logger
	made   Description
	shelf  *Shelf
}

var _ Executor = (*Local)(nil)

// NewLocal finds the strongest level that holds a canary.
func NewLocal(ctx context.Context, cfg LocalConfig) (*Local, error) {
	if cfg.Concurrent < 1 {
		return nil, errors.New("preparing rechecks without containers: at least one batch at a time")
	}
	runner, err := strongest(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("preparing rechecks without containers: %w", err)
	}
	facts, err := cfg.Python.Facts(ctx)
	if err != nil {
		return nil, fmt.Errorf("preparing rechecks without containers: %w", err)
	}
	shelf, err := OpenShelf(cfg.Volumes, cfg.Dir, cfg.Hidden, cfg.Log)
	if err != nil {
		return nil, fmt.Errorf("preparing rechecks without containers: %w", err)
	}
	return &Local{shelf: shelf, runner: runner, slots: make(chan struct{}, cfg.Concurrent), kept: NewKept[*linux.Sandbox](cfg.Concurrent, cfg.Log), log: cfg.Log, made: Description{
		Level: runner.Level(), Interpreter: facts.Interpreter + " (" + cfg.Python.Label() + ")", Libc: facts.Libc, Platform: platform(),
	}}, nil
}

func strongest(ctx context.Context, cfg LocalConfig) (*linux.Runner, error) {
	var failed error
	for _, level := range linux.Levels() {
		runner, err := linux.New(linux.Config{Python: cfg.Python, Dir: cfg.Dir, Level: level})
		if err == nil {
			err = runner.Prove(ctx, cfg.Hidden...)
		}
		if err == nil {
			return runner, nil
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		failed = errors.Join(failed, err)
		cfg.Log.Warn("a level of isolation is not to be had for rechecks", "isolation", string(level), "error", err)
	}
	return nil, failed
}

// platform is what interpreters here say of the machine.
func platform() string {
	var u unix.Utsname
	if unix.Uname(&u) != nil {
		return ""
	}
	return "linux " + unix.ByteSliceToString(u.Machine[:])
}

// Describe implements Executor.
func (l *Local) Describe() Description { return l.made }

// Health implements Executor: it was proven when it was made, and depends on no other program.
func (l *Local) Health(context.Context) error { return nil }

// Recheck implements Executor.
func (l *Local) Recheck(ctx context.Context, batch Batch) (results []harness.Result, err error) {
	if err := batch.Check(); err != nil {
		return nil, err
	}
	select {
	case l.slots <- struct{}{}:
		defer func() { <-l.slots }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	limited, cancel := context.WithTimeoutCause(ctx, batch.Limit(), &Error{Class: Slow, Err: errors.New("no answer in time")})
	defer cancel()
	results, err = l.execute(limited, batch)
	if err != nil && ctx.Err() != nil {
		return results, context.Cause(ctx)
	}
	return results, l.classify(err)
}

func (l *Local) execute(ctx context.Context, batch Batch) ([]harness.Result, error) {
	if len(batch.Bundle.Manifest.Volumes) > 0 {
		return l.executeWithVolumes(ctx, batch)
	}
	s, made, err := l.sandbox(ctx, batch)
	if err != nil {
		return nil, err
	}
	results, err := runIn(ctx, s, batch)
	if err == nil && batch.Tree == nil && s.Rest() { // a runtime is held for the batch alone
		l.kept.Keep(s, batch.Served(), made)
		return results, nil
	}
	l.kept.End()
	return results, errors.Join(err, s.Close())
}

// sandbox wakes the one that rests for batches such as this, or opens a new one, and says when it was made. End or Keep must follow where
// there is no error.
func (l *Local) sandbox(ctx context.Context, batch Batch) (s *linux.Sandbox, made time.Time, err error) {
	s, made, found := l.kept.Begin(batch.Served())
	if found {
		if err = s.Wake(batch.Job.String()); err == nil {
			return s, made, nil
		}
		l.log.Warn("a sandbox that rested is no good any more", "error", errors.Join(err, s.Close()))
	}
	made = time.Now()
	if s, err = l.open(ctx, batch, batch.Settings()); err != nil {
		l.kept.End()
	}
	return s, made, err
}

// open opens a sandbox where a batch's function runs: in the interpreter of this machine, or in the runtime that it brings along.
func (l *Local) open(ctx context.Context, batch Batch, settings harness.Settings) (*linux.Sandbox, error) {
	runner := l.runner
	if batch.Tree != nil {
		var err error
		if runner, err = l.runner.On(*batch.Tree); err != nil {
			return nil, err
		}
	}
	return runner.Open(ctx, batch.Bundle, settings)
}

func runIn(ctx context.Context, s *linux.Sandbox, batch Batch) (results []harness.Result, err error) {
	for _, shard := range batch.Shards {
		if len(shard.Files) > 0 {
			if err := s.Inputs().Replace(ctx, shard.Files, batch.Open); err != nil {
				return results, err
			}
		}
		r, err := s.Run(ctx, shard.Number, shard.Input)
		if err != nil {
			return results, err
		}
		results = append(results, r)
		batch.NoteEnd()
	}
	return results, nil
}

func (l *Local) classify(err error) error {
	var done *Error
	switch {
	case err == nil, errors.As(err, &done):
		return err
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.ENOMEM), errors.Is(err, syscall.EAGAIN), errors.Is(err, syscall.EMFILE):
		return &Error{Class: Full, Err: err, Hint: "make room on the server's machine"}
	}
	return &Error{Class: Broken, Err: err}
}

// Close implements Executor. It waits for what is under way.
func (l *Local) Close() error {
	for range cap(l.slots) {
		l.slots <- struct{}{}
	}
	l.shelf.Close()
	if err := l.kept.Close(); err != nil {
		return fmt.Errorf("ending sandboxes that rest: %w", err)
	}
	return nil
}
