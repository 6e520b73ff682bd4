package agent

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/ostraka/ostraka/runtime/bundle"
	"github.com/ostraka/ostraka/runtime/harness"
	"github.com/ostraka/ostraka/runtime/monitor"
	"github.com/ostraka/ostraka/runtime/process"
)

// Sandbox is where functions run. The levels of isolation differ behind it and nowhere else.
type Sandbox interface {
	// Level is the isolation that the sandbox achieves, as it has proved.
	Level() bundle.Isolation
	// Describe names the interpreter and the C library, as the server is told.
	Describe(ctx context.Context) (interpreter, libc string, err error)
	// Open prepares a session for the shards of one lease.
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
	// Kill ends the shard that runs now, if one does, with the status killed and this reason. The session goes on.
	Kill(reason string)
	// Close ends everything that the session started.
	Close() error
}

// processSandbox is the level `process` on the machine's own interpreter.
type processSandbox struct {
	*process.Runner
	interpreter string
}

// newProcessSandbox finds the interpreter. What the sandbox writes lies below dir.
func newProcessSandbox(dir string) (*processSandbox, error) {
	s := &processSandbox{}
	for _, name := range process.Interpreters() {
		if found, err := exec.LookPath(name); err == nil {
			if s.interpreter, err = filepath.Abs(found); err != nil {
				return nil, fmt.Errorf("finding the interpreter: %w", err)
			}
			break
		}
	}
	var err error
	if s.Runner, err = process.New(process.Config{Interpreter: s.interpreter, Dir: dir}); err != nil {
		return nil, fmt.Errorf("preparing the sandbox: %w", err)
	}
	return s, nil
}

// Open implements Sandbox.
func (s *processSandbox) Open(ctx context.Context, b *bundle.Bundle, settings harness.Settings) (Session, error) {
	return s.Runner.Open(ctx, b, settings)
}

// describeLimit is how long the interpreter may take to say what it is.
const describeLimit = 30 * time.Second

// describe prints what the harness says of itself with every result.
const describe = `import os, sys
print(sys.implementation.name, ".".join(map(str, sys.version_info[:3])))
try:
    print(os.confstr("CS_GNU_LIBC_VERSION") or "unknown")
except (OSError, ValueError):
    print("unknown")
`

// Describe implements Sandbox.
func (s *processSandbox) Describe(ctx context.Context) (interpreter, libc string, err error) {
	ctx, cancel := context.WithTimeout(ctx, describeLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, s.interpreter, "-I", "-S", "-B", "-c", describe)
	cmd.Env = []string{}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", "", fmt.Errorf("asking %s what it is: %w: %s", s.interpreter, err, strings.TrimSpace(stderr.String()))
	}
	interpreter, libc, _ = strings.Cut(strings.TrimSpace(string(out)), "\n")
	return interpreter, libc, nil
}
