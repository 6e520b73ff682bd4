package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/ostraka/ostraka/runtime/bundle"
	"github.com/ostraka/ostraka/runtime/harness"
	"github.com/ostraka/ostraka/runtime/python"
)

// Config says where sandboxes live.
type Config struct {
	Python python.Tree // the interpreter
	Dir    string      // where leases get their directories; the system's when empty
}

// Runner opens sandboxes of the level `process`.
type Runner struct {
	python python.Tree
	dir    string
}

// New makes Dir if it is missing.
func New(cfg Config) (*Runner, error) {
	r := &Runner{python: cfg.Python, dir: cfg.Dir}
	if r.dir == "" {
		r.dir = os.TempDir()
	}
	dir, err := filepath.Abs(r.dir)
	if err != nil {
		return nil, fmt.Errorf("preparing the directory of sandboxes: %w", err)
	}
	r.dir = dir
	if err := os.MkdirAll(r.dir, 0o700); err != nil {
		return nil, fmt.Errorf("preparing the directory of sandboxes: %w", err)
	}
	return r, nil
}

// On is a runner on another interpreter, whose sandboxes live where this one's do.
func (r *Runner) On(tree python.Tree) *Runner { return &Runner{python: tree, dir: r.dir} }

// Level is the isolation that sandboxes of this runner achieve.
func (*Runner) Level() bundle.Isolation { return bundle.Process }

// LimitProcessors does nothing: there is no wall that could hold a function to it. Where the agent is bound to some of the processors,
// functions begin there.
func (*Runner) LimitProcessors(int) {}

// Open unpacks the bundle into a private directory and imports the function. It
// refuses a function that asks for a stronger level.
func (r *Runner) Open(ctx context.Context, b *bundle.Bundle, settings harness.Settings) (*Sandbox, error) {
	if !r.Level().AtLeast(b.Manifest.MinIsolation) {
		return nil, fmt.Errorf("opening a sandbox for %s: it asks for isolation %q, this one is only %q", b.Manifest.Name, b.Manifest.MinIsolation, r.Level())
	}
	if err := settings.CheckVolumes(b.Manifest.Volumes); err != nil {
		return nil, fmt.Errorf("opening a sandbox for %s: %w", b.Manifest.Name, err)
	}
	dir, err := os.MkdirTemp(r.dir, "ostraka-lease-")
	if err != nil {
		return nil, fmt.Errorf("opening a sandbox for %s: %w", b.Manifest.Name, err)
	}
	s := &Sandbox{dir: dir}
	if err := s.open(ctx, r, b, settings); err != nil {
		return nil, errors.Join(fmt.Errorf("opening a sandbox for %s: %w", b.Manifest.Name, err), s.Close())
	}
	return s, nil
}
