package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/ostraka/ostraka/agent"
	"github.com/ostraka/ostraka/agent/isolation"
	"github.com/ostraka/ostraka/runtime/bundle"
	"github.com/ostraka/ostraka/runtime/python"
)

// ownSandbox is where a command executes a function on this machine, in a folder of its own.
type ownSandbox struct {
	isolation.Sandbox
	python *python.Tree // nil: of a function in WebAssembly, which needs none
	ends   []func() error
	// Of a function in a runtime: the runtime, and what runs functions in others.
	runtime *python.Tree
	walls   onTree
}

// openSandbox opens the strongest sandbox that this machine allows for a function. interpreter is the Python that was asked for, and server
// the one that may have the function's runtime.
func openSandbox(ctx context.Context, t *terminal, server *serverFlags, walls isolation.Walls, interpreter string, b *bundle.Bundle) (s *ownSandbox, err error) {
	if walls.Log, err = newLog(t, "warn"); err != nil {
		return nil, err
	}
	if walls.Work, err = os.MkdirTemp("", "ostraka-sandbox-"); err != nil {
		return nil, fmt.Errorf("making a folder for the sandbox: %w", err)
	}
	s = &ownSandbox{ends: []func() error{func() error { return os.RemoveAll(walls.Work) }}}
	if b.Manifest.IsWasm() {
		err = s.openWasm(walls)
	} else {
		err = s.openPython(ctx, t, walls, interpreter)
	}
	if err == nil && b.Manifest.RuntimeDigest() != "" {
		err = s.openRuntime(ctx, t, server, b)
	}
	if err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

func (s *ownSandbox) openWasm(walls isolation.Walls) error {
	sandbox, err := agent.NewWasmSandbox(filepath.Join(walls.Work, "compiled"), walls.Log)
	if err != nil {
		return err
	}
	s.Sandbox, s.ends = sandbox, append(s.ends, sandbox.Close)
	return nil
}

func (s *ownSandbox) openPython(ctx context.Context, t *terminal, walls isolation.Walls, interpreter string) error {
	tree, err := openPython(ctx, t, interpreter)
	if err != nil {
		return err
	}
	s.python, s.ends = &tree, append(s.ends, tree.Release)
	s.Sandbox, err = isolation.Isolate(ctx, walls, tree)
	return err
}

// onTree is a sandbox that can run functions in a runtime.
type onTree interface {
	On(t python.Tree) (isolation.Sandbox, error)
}

// openRuntime has the sandbox run the function in its runtime.
func (s *ownSandbox) openRuntime(ctx context.Context, t *terminal, server *serverFlags, b *bundle.Bundle) error {
	level := s.Level()
	walls, able := s.Sandbox.(onTree)
	if !able || level != bundle.Linux && level != bundle.Process {
		return &exitError{
			code: exitUsage, err: fmt.Errorf("%s runs in the runtime %s, which the isolation level %q of this machine does not run", b.Manifest.Name, b.Manifest.RuntimeName(), level),
			hint: "push it and run a job with one shard, which agents execute: ostraka function push, ostraka function call",
		}
	}
	local, err := openLocalRuntimes(t)
	if err != nil {
		return err
	}
	s.ends = append(s.ends, local.close)
	unpacked, release, err := local.runtimeOf(ctx, server, &b.Manifest)
	if err != nil {
		return err
	}
	s.ends = append(s.ends, func() error { release(); return nil })
	s.runtime, s.walls = &unpacked, walls
	s.Sandbox, err = walls.On(unpacked)
	return err
}

// close ends what was opened, the last first.
func (s *ownSandbox) close() (err error) {
	for i := len(s.ends) - 1; i >= 0; i-- {
		err = errors.Join(err, s.ends[i]())
	}
	return err
}
