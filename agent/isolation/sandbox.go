package isolation

import (
	"context"
	"fmt"

	"github.com/ostraka/ostraka/runtime/bundle"
	"github.com/ostraka/ostraka/runtime/harness"
	"github.com/ostraka/ostraka/runtime/inputdir"
	"github.com/ostraka/ostraka/runtime/monitor"
	"github.com/ostraka/ostraka/runtime/process"
	"github.com/ostraka/ostraka/runtime/python"
)

// Sandbox is where functions run. The levels of isolation differ behind it and nowhere else.
type Sandbox interface {
	// Level is the isolation that the sandbox achieves, as it has proved.
	Level() bundle.Isolation
	// Describe names the interpreter and the C library, as the server is told.
	Describe(ctx context.Context) (interpreter, libc string, err error)
	// LimitProcessors is how many processors a session gets at most, from the next one on; 0: all. What holds it differs by level.
	LimitProcessors(n int)
	// Open prepares a session for the shards of one lease, and of further ones of the function where it can rest.
	Open(ctx context.Context, b *bundle.Bundle, settings harness.Settings) (Session, error)
}

// Session runs the shards of one lease, one at a time.
type Session interface {
	// Run executes one shard. Whatever the function does is in the result; an error means that the sandbox itself does not work,
	// or that the context has ended.
	Run(ctx context.Context, shard int64, input []byte) (harness.Result, error)
	// Target is where the monitor finds the sandbox, at any time; the ID is left to the agent.
	Target() monitor.Target
	// OutputBytes is how much the shard that runs now has written to stdout and stderr so far.
	OutputBytes() int64
	// Kill ends the shard that runs now, if one does, with the status killed and this reason. The session continues.
	Kill(reason string)
	// OutputDir is where the files lie that the last shard left, until the next one runs.
	OutputDir() string
	// Inputs is the folder of the files that the next shard finds as its $OSTRAKA_INPUT; nil: its function reads none.
	Inputs() *inputdir.Dir
	// Close ends everything that the session started.
	Close() error
}

// processSandbox is the level `process`.
type processSandbox struct {
	*process.Runner
	python python.Tree
}

// NewSandbox gives a sandbox on that interpreter. What it writes lies below dir.
func NewSandbox(tree python.Tree, dir string) (Sandbox, error) {
	runner, err := process.New(process.Config{Python: tree, Dir: dir})
	if err != nil {
		return nil, fmt.Errorf("preparing the sandbox: %w", err)
	}
	return &processSandbox{Runner: runner, python: tree}, nil
}

// Open implements Sandbox.
func (s *processSandbox) Open(ctx context.Context, b *bundle.Bundle, settings harness.Settings) (Session, error) {
	return s.Runner.Open(ctx, b, settings)
}

// Describe implements Sandbox.
func (s *processSandbox) Describe(ctx context.Context) (interpreter, libc string, err error) {
	return describe(ctx, s.python)
}

// describe says what the server is told of an interpreter.
func describe(ctx context.Context, tree python.Tree) (interpreter, libc string, err error) {
	facts, err := tree.Facts(ctx)
	if err != nil {
		return "", "", err
	}
	return facts.Interpreter + " (" + tree.Label() + ")", facts.Libc, nil
}

// On implements onTree.
func (s *processSandbox) On(t python.Tree) (Sandbox, error) {
	return &processSandbox{Runner: s.Runner.On(t), python: t}, nil
}
