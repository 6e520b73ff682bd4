package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"

	"github.com/ostraka/ostraka/runtime/bundle"
	"github.com/ostraka/ostraka/runtime/harness"
	"github.com/ostraka/ostraka/runtime/inputdir"
	"github.com/ostraka/ostraka/runtime/monitor"
	"github.com/ostraka/ostraka/runtime/volume"
)

// Sandbox runs the shards of one lease, one after the other.
type Sandbox struct {
	dir     string // private; removed by Close
	inputs  *inputdir.Dir
	session *harness.Session
	count   int    // workspaces made so far
	current string // the workspace that the next shard may get, if it is clean

	workspace atomic.Value // current, for those who look from outside
}

func (s *Sandbox) open(ctx context.Context, r *Runner, b *bundle.Bundle, settings harness.Settings) error {
	code, work := filepath.Join(s.dir, "bundle"), filepath.Join(s.dir, "import")
	for _, dir := range []string{code, work} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			return err
		}
	}
	if err := b.Unpack(code); err != nil {
		return err
	}
	var err error
	if s.inputs, err = inputdir.Make(filepath.Join(s.dir, "input")); err != nil {
		return err
	}
	volumes := ""
	if len(settings.Volumes) > 0 {
		volumes = filepath.Join(s.dir, "volumes")
		if err := volume.Link(volumes, settings.Volumes); err != nil {
			return err
		}
	}
	program, before := r.python.Program()
	session, err := harness.Start(ctx, harness.Config{
		Interpreter: program, Before: before, Variables: r.python.Variables, Tree: r.python.Label(), BundleDir: code, Digest: b.Digest, Settings: settings, WorkDir: work, VolumesDir: volumes,
		Manifest: b.Manifest, Isolation: r.Level(),
	})
	if err != nil {
		return err
	}
	s.session = session
	return nil
}

// Run runs one shard in an empty workspace. The files that it left under
// $OSTRAKA_OUTPUT are in OutputDir until the next Run or Close. Errors are those
// of harness.Session.Run.
func (s *Sandbox) Run(ctx context.Context, index int64, input []byte) (harness.Result, error) {
	if err := s.refresh(); err != nil {
		return harness.Result{}, fmt.Errorf("running shard %d: making its workspace: %w", index, err)
	}
	return s.session.Run(ctx, harness.Shard{Index: index, Input: input, Home: s.home(), Output: s.OutputDir(), Inputs: s.inputs.Path(), Workspace: s.current})
}

// Inputs is the folder of the files that the next shard finds as its
// $OSTRAKA_INPUT. Nothing keeps a shard from changing its own copies.
func (s *Sandbox) Inputs() *inputdir.Dir { return s.inputs }

// Target is where the monitor finds the sandbox. It may be called at any time.
func (s *Sandbox) Target() monitor.Target {
	workspace, _ := s.workspace.Load().(string)
	return monitor.Target{PID: s.session.PID(), Workspace: workspace}
}

// OutputBytes is how much the shard that runs now has written so far.
func (s *Sandbox) OutputBytes() int64 { return s.session.OutputBytes() }

// Kill ends the shard that runs now and says why in its result.
func (s *Sandbox) Kill(reason string) { s.session.Kill(reason) }

// OutputDir is where the last shard's files are.
func (s *Sandbox) OutputDir() string { return filepath.Join(s.current, "output") }

func (s *Sandbox) home() string { return filepath.Join(s.current, "home") }

// refresh makes a fresh workspace. One that a shard left exactly as it found it
// is as good as fresh, and making directories costs more than most shards.
func (s *Sandbox) refresh() error {
	if s.current != "" {
		if s.untouched() {
			return nil
		}
		if err := removeAll(s.current); err != nil {
			return err
		}
	}
	s.count++
	s.current = filepath.Join(s.dir, fmt.Sprintf("shard-%d", s.count))
	s.workspace.Store(s.current)
	for _, dir := range []string{s.current, s.home(), s.OutputDir()} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			return err
		}
	}
	return nil
}

// untouched reports whether the workspace holds its two empty directories and
// nothing else, with the modes that they were made with.
func (s *Sandbox) untouched() bool {
	return holds(s.current, 2) && holds(s.home(), 0) && holds(s.OutputDir(), 0)
}

func holds(dir string, entries int) bool {
	info, err := os.Lstat(dir)
	if err != nil || info.Mode() != os.ModeDir|0o700 {
		return false
	}
	names, err := os.ReadDir(dir)
	return err == nil && len(names) == entries
}

// Close ends the interpreter, everything that the function started, and removes
// the lease's directory.
func (s *Sandbox) Close() error {
	var session error
	if s.session != nil {
		session = s.session.Close()
	}
	if err := errors.Join(session, removeAll(s.dir)); err != nil {
		return fmt.Errorf("closing a sandbox: %w", err)
	}
	return nil
}
