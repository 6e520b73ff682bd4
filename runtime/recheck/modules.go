package recheck

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"syscall"
	"time"

	"github.com/ostraka/ostraka/runtime/bundle"
	"github.com/ostraka/ostraka/runtime/harness"
	"github.com/ostraka/ostraka/runtime/python"
	"github.com/ostraka/ostraka/runtime/tree"
	"github.com/ostraka/ostraka/runtime/volume"
	"github.com/ostraka/ostraka/runtime/wasmbox"
)

// Modules executes batches of functions in WebAssembly, as agents do and with nothing but the server's own program.
type Modules struct {
	runner *wasmbox.Runner
	slots  chan struct{}
	kept   *Kept[*wasmbox.Sandbox]
	log    *slog.Logger
}

var _ Executor = (*Modules)(nil)

// NewModules keeps compiled modules in dir, which is private, and has so many batches under way at a time.
func NewModules(dir string, concurrent int, log *slog.Logger) (*Modules, error) {
	if concurrent < 1 {
		return nil, errors.New("preparing rechecks of functions in WebAssembly: at least one batch at a time")
	}
	runner, err := wasmbox.New(wasmbox.Config{Dir: dir, Log: log})
	if err != nil {
		return nil, fmt.Errorf("preparing rechecks: %w", err)
	}
	return &Modules{runner: runner, slots: make(chan struct{}, concurrent), kept: NewKept[*wasmbox.Sandbox](concurrent, log), log: log}, nil
}

// Describe implements Executor.
func (m *Modules) Describe() Description {
	return Description{Level: m.runner.Level(), Interpreter: m.runner.Interpreter(), Libc: "none", Platform: wasmbox.Platform()}
}

// Health implements Executor: it depends on no other program.
func (m *Modules) Health(context.Context) error { return nil }

// Recheck implements Executor.
func (m *Modules) Recheck(ctx context.Context, batch Batch) ([]harness.Result, error) {
	if err := batch.Check(); err != nil {
		return nil, err
	}
	select {
	case m.slots <- struct{}{}:
		defer func() { <-m.slots }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	limited, cancel := context.WithTimeoutCause(ctx, batch.Limit(), &Error{Class: Slow, Err: errors.New("no answer in time")})
	defer cancel()
	results, err := m.execute(limited, batch)
	var done *Error
	switch {
	case err == nil || errors.As(err, &done):
		return results, err
	case ctx.Err() != nil:
		return results, context.Cause(ctx)
	}
	return results, &Error{Class: Broken, Err: err}
}

func (m *Modules) execute(ctx context.Context, batch Batch) (results []harness.Result, err error) {
	s, made, found := m.kept.Begin(batch.Served())
	if found {
		err = s.Wake(batch.Job.String())
	} else {
		made = time.Now()
		s, err = m.runner.Open(ctx, batch.Bundle, batch.Settings())
	}
	if err != nil {
		m.kept.End()
		return nil, err
	}
	for _, shard := range batch.Shards {
		r, err := s.Run(ctx, shard.Number, shard.Input)
		if err != nil {
			m.kept.End()
			return results, errors.Join(err, s.Close())
		}
		results = append(results, r)
		batch.NoteEnd()
	}
	m.kept.Keep(s, batch.Served(), made)
	return results, nil
}

// Close implements Executor. It waits for what is under way.
func (m *Modules) Close() error {
	for range cap(m.slots) {
		m.slots <- struct{}{}
	}
	return errors.Join(m.kept.Close(), m.runner.Close())
}

// ByRuntime executes functions in WebAssembly by Modules and all others as it did without it, those that bring a runtime along in that.
type ByRuntime struct {
	Executor
	Modules *Modules
	Trees   *tree.Cache // unpacked runtimes; nil: there are none
}

var _ Executor = (*ByRuntime)(nil)

// DescribeFor says what the results of a function are made in.
func (b *ByRuntime) DescribeFor(m *bundle.Manifest) Description {
	if m.IsWasm() {
		return b.Modules.Describe()
	}
	d := b.Describe()
	if digest := m.RuntimeDigest(); digest != "" {
		t := python.Tree{Origin: tree.Origin, Digest: digest}
		d.Tree, d.Image, d.Interpreter, d.Libc = tree.Platform, "", "python ("+t.Label()+")", ""
	}
	return d
}

// Recheck implements Executor.
func (b *ByRuntime) Recheck(ctx context.Context, batch Batch) ([]harness.Result, error) {
	if batch.Bundle != nil && batch.Bundle.Manifest.IsWasm() {
		return b.Modules.Recheck(ctx, batch)
	}
	if batch.Bundle == nil || batch.Bundle.Manifest.RuntimeDigest() == "" {
		return b.Executor.Recheck(ctx, batch)
	}
	if b.Trees == nil || batch.Runtime == nil {
		return nil, &Error{Class: Broken, Err: errors.New("the function runs in a runtime with native code, and this server has no room for one")}
	}
	at, release, err := b.Trees.Get(ctx, batch.Bundle.Manifest.RuntimeDigest(), batch.Runtime)
	if err != nil {
		return nil, b.noTree(ctx, err)
	}
	defer release()
	batch.Tree = &at
	return b.Executor.Recheck(ctx, batch)
}

// noTree says why a runtime is unavailable.
func (b *ByRuntime) noTree(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, tree.ErrNoRoom), errors.Is(err, syscall.ENOSPC):
		return &Error{Class: Full, Err: err, Hint: "make room on the server's machine"}
	}
	return &Error{Class: Broken, Err: err, Hint: "see whether the object store has the runtime"}
}

// Close implements Executor.
func (b *ByRuntime) Close() error { return errors.Join(b.Modules.Close(), b.Executor.Close()) }

// Volumes are those that functions may have here: none where the executor shows none.
func (b *ByRuntime) Volumes() []volume.Offer {
	if shows, can := b.Executor.(interface{ Volumes() []volume.Offer }); can {
		return shows.Volumes()
	}
	return nil
}
