//go:build linux

package linux

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/ostraka/ostraka/runtime/bundle"
	"github.com/ostraka/ostraka/runtime/harness"
	"github.com/ostraka/ostraka/runtime/inputdir"
	"github.com/ostraka/ostraka/runtime/monitor"
	"github.com/ostraka/ostraka/runtime/volume"
)

// Sandbox runs the shards of one lease after the other, of one function and project.
type Sandbox struct {
	runner   *Runner
	manifest bundle.Manifest
	name     string
	dir      string // the lease's folder on the host; removed by Close
	slot     *slot  // nil where the agent is no root
	inputs   *inputdir.Dir
	volumes  []*volume.Folder // which the opener of the sandbox closes
	group    *group           // nil without a cgroup
	loaded   *harness.Loaded  // in a container: the interpreter that waits for its function; nil when there is none
	session  *harness.Session
	resting  bool // everything in it is stopped

	mu     sync.Mutex // what follows belongs to the launcher that was started last
	orders *os.File   // our end of its socket
	theirs *os.File
	files  int // descriptor of its workspace; -1: none
	// variables are the names that the harness gives to the interpreter
	variables []string
	served    int // process number of the interpreter that is set up
	ballast   ballast

	workspace atomic.Value // string, for the monitor
}

func (s *Sandbox) open(ctx context.Context, b *bundle.Bundle, settings harness.Settings) error {
	if err := s.furnish(b); err != nil {
		return err
	}
	session, err := harness.Start(ctx, s.config(b.Digest, settings))
	if err != nil {
		return errors.Join(s.complaint(), err)
	}
	s.session = session
	return s.settle()
}

// config is what the harness is told.
func (s *Sandbox) config(digest string, settings harness.Settings) harness.Config {
	r := s.runner
	program, before := r.python.Program()
	cfg := harness.Config{
		Interpreter: program, Before: before, Variables: r.python.Variables, Tree: r.cfg.Python.Label(), BundleDir: s.bundleDir(), Digest: digest, Settings: settings, WorkDir: s.inside(importName), VolumesDir: s.volumesDir(),
		Manifest: s.manifest, Isolation: r.Level(),
		Prepare: s.prepare, PIDNamespace: r.namespaces(), Processes: s.processes(),
		Confine: harness.Confinement{ScopeSignals: r.abi >= ScopesABI},
	}
	switch {
	case s.group != nil:
		cfg.Accounting = s.group
	case r.own != nil:
		cfg.Accounting = r.own
	case r.contained(): // the container counts for itself, where we cannot look
	default:
		cfg.Confine.Filter, cfg.Confine.OwnPID = shardFilter()
	}
	return cfg
}

// furnish makes what lies on the host: the bundle, a cgroup, a user.
func (s *Sandbox) furnish(b *bundle.Bundle) (err error) {
	if s.dir, err = os.MkdirTemp(s.runner.cfg.Dir, "ostraka-lease-"); err != nil {
		return err
	}
	code := filepath.Join(s.dir, "bundle")
	if err := os.Mkdir(code, 0o755); err != nil { // the sandbox's user reads it; its parent is private
		return err
	}
	if err := b.Unpack(code); err != nil {
		return err
	}
	if s.inputs, err = inputdir.Make(filepath.Join(s.dir, inputsName)); err != nil {
		return err
	}
	if err := s.furnishVolumes(); err != nil {
		return err
	}
	if s.runner.root {
		if s.slot, err = takeSlot(); err != nil {
			return err
		}
	}
	if err := s.giveVolumes(); err != nil {
		return err
	}
	if !s.runner.namespaces() {
		if err := s.furnishLandlock(); err != nil {
			return err
		}
	}
	if s.runner.groups == nil {
		return nil
	}
	if s.group, err = s.runner.groups.newGroup(s.name); err != nil {
		return err
	}
	return s.limitGroup(interpreterBytes, launcherThreads)
}

const (
	// interpreterBytes is what the interpreter itself may hold until the
	// function is imported, beside what the function may.
	interpreterBytes = 64 << 20
	// marginBytes is how much more than their limit the processes of a shard
	// may hold together: page tables, sockets and what else the kernel counts.
	marginBytes = 16 << 20
	// ownProcesses are those of a sandbox that are not the shard's: zygote and
	// template. Before a shard there may be one more, which is none of its own yet.
	ownProcesses = 2
	// launcherThreads are those that the launcher may have before it becomes the
	// interpreter. Until the function is imported, the watchdog ends what has more
	// processes than the function may, and this bounds them meanwhile.
	launcherThreads = 64
)

// limitGroup sets the limits of the cgroup, given what is held already and how
// many processes are not the function's.
func (s *Sandbox) limitGroup(held, processes int64) error {
	l := s.manifest.Limits
	if err := s.group.limitMemory(held + l.MemoryBytes + s.quota().Bytes + marginBytes); err != nil {
		return err
	}
	if err := s.group.limitPids(l.Pids + processes); err != nil {
		return err
	}
	if n := s.runner.processors.Load(); n > 0 && s.runner.groups.folder(cpuController) != "" {
		return s.group.limitCPU(n)
	}
	return nil
}

// quota is the size of the workspace. A script's result passes through it.
func (s *Sandbox) quota() quota {
	l := s.manifest.Limits
	page := int64(os.Getpagesize())
	q := quota{Bytes: l.DiskBytes, Inodes: l.Inodes + 1 + int64(len(workspaceNames))}
	if s.manifest.Script != "" {
		q.Bytes, q.Inodes = q.Bytes+l.OutputBytes, q.Inodes+1
	}
	q.Bytes = max(page, (q.Bytes+page-1)/page*page)
	return q
}

// bundleDir is the bundle as the sandbox sees it.
func (s *Sandbox) bundleDir() string {
	if s.runner.cfg.Level != bundle.Landlock {
		return bundleDir
	}
	return filepath.Join(s.dir, "bundle")
}

// inputsDir is the folder of input files as the sandbox sees it.
func (s *Sandbox) inputsDir() string {
	if s.runner.cfg.Level != bundle.Landlock {
		return inputsDir
	}
	return s.inputs.Path()
}

// inside is a folder of the workspace as the sandbox sees it.
func (s *Sandbox) inside(name string) string {
	if s.runner.cfg.Level != bundle.Landlock {
		return filepath.Join(workDir, name)
	}
	return filepath.Join(s.dir, "work", name)
}

// outside is a folder of the workspace as this process can open it.
func (s *Sandbox) outside(name string) string { return filepath.Join(s.root(), name) }

// root is the workspace as this process can open it.
func (s *Sandbox) root() string {
	switch {
	case s.runner.contained():
		return workDir
	case s.runner.namespaces():
		return "/proc/self/fd/" + strconv.Itoa(s.files)
	}
	return filepath.Join(s.dir, "work")
}

// settle takes the launcher's answer and sets the limits that depend on how
// large the imported function is.
func (s *Sandbox) settle() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.listen(); err != nil {
		return err
	}
	pid := s.session.PID()
	if pid == 0 || pid == s.served { // the import failed: there is no interpreter
		return nil
	}
	s.served = pid
	if s.runner.contained() {
		return s.settleContained()
	}
	if s.group == nil {
		return nil
	}
	a, err := s.group.Account()
	if err != nil {
		return err
	}
	return s.limitGroup(a.Memory, ownProcesses)
}

// listen reads the answer, which has come before the interpreter answered.
func (s *Sandbox) listen() error {
	if s.orders == nil {
		return nil
	}
	defer s.hangUp()
	s.theirs.Close()
	var a answer
	fds, err := receivePacket(int(s.orders.Fd()), &a)
	switch {
	case errors.Is(err, errEnd):
		return errors.New("the launcher ended without a word")
	case err != nil:
		return err
	case a.Error != "":
		closeAll(fds)
		return &LaunchError{Step: a.Step, Message: a.Error, Errno: syscall.Errno(a.Errno)}
	}
	if len(fds) > 0 {
		s.files = fds[0]
		s.workspace.Store(s.root())
	}
	if s.runner.abi > 0 && a.Landlock == 0 {
		return errors.New("the launcher did not find Landlock, which this kernel has")
	}
	return nil
}

// complaint is what the launcher said when it could not become the interpreter.
func (s *Sandbox) complaint() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.listen()
}

func (s *Sandbox) hangUp() {
	for _, f := range []*os.File{s.orders, s.theirs} {
		if f != nil {
			f.Close()
		}
	}
	s.orders, s.theirs = nil, nil
}

// forget lets go of what belonged to the last launcher.
func (s *Sandbox) forget() {
	s.hangUp()
	if s.files >= 0 {
		_ = unix.Close(s.files)
		s.files = -1
	}
}

// LaunchError says which wall could not be put up.
type LaunchError struct {
	Step    string
	Message string
	Errno   syscall.Errno
}

// Error implements error.
func (e *LaunchError) Error() string { return "the launcher could not build the sandbox: " + e.Message }

// Unwrap gives the kernel's reason.
func (e *LaunchError) Unwrap() error { return e.Errno }

// Run runs one shard in an empty workspace. The files that it left under
// $OSTRAKA_OUTPUT are in OutputDir until the next Run or Close. Errors are those
// of harness.Session.Run.
func (s *Sandbox) Run(ctx context.Context, index int64, input []byte) (harness.Result, error) {
	if err := s.ready(ctx); err != nil {
		return harness.Result{}, fmt.Errorf("running shard %d: %w", index, err)
	}
	shard := harness.Shard{Index: index, Input: input, Home: s.inside(homeName), Output: s.inside(outputName), OutputDir: s.OutputDir(), Inputs: s.inputsDir()}
	switch level := s.runner.cfg.Level; {
	case level == bundle.Landlock || level == bundle.GVisor: // there is no file system of its own that ends; gVisor's ends, and counts no files
		shard.Workspace = s.root()
	case s.runner.contained():
		shard.Mounts = append([]string{workDir}, besideDirs...)
	}
	return s.session.Run(ctx, shard)
}

// ready makes sure of an interpreter and of an empty workspace. A workspace
// that is too tangled to be wiped goes with its interpreter.
func (s *Sandbox) ready(ctx context.Context) error {
	for range 2 {
		if err := s.session.Ready(ctx); err != nil {
			return errors.Join(s.complaint(), err)
		}
		if err := s.settle(); err != nil {
			return err
		}
		err := s.refresh()
		if !errors.Is(err, errTangled) {
			return err
		}
		if err := s.session.Restart(); err != nil {
			return err
		}
	}
	return errTangled
}

// OutputDir is where the last shard's files are.
func (s *Sandbox) OutputDir() string { return s.outside(outputName) }

// Inputs is the folder of the files that the next shard finds as its
// $OSTRAKA_INPUT, where it can read and not write.
func (s *Sandbox) Inputs() *inputdir.Dir { return s.inputs }

// Target is where the monitor finds the sandbox. It may be called at any time.
func (s *Sandbox) Target() monitor.Target {
	workspace, _ := s.workspace.Load().(string)
	t := monitor.Target{PID: s.session.PID(), Workspace: workspace}
	if s.group != nil {
		t.Cgroup = s.group.dir()
	}
	return t
}

// OutputBytes is how much the shard that runs now has written so far.
func (s *Sandbox) OutputBytes() int64 { return s.session.OutputBytes() }

// Kill ends the shard that runs now and says why in its result.
func (s *Sandbox) Kill(reason string) { s.session.Kill(reason) }

// Close ends the interpreter and everything that the function started, and
// removes all that the sandbox had.
func (s *Sandbox) Close() error {
	var failed error
	if s.resting { // what is stopped does not see that it is to end
		s.end()
	}
	if s.loaded != nil {
		failed = s.loaded.Close()
	}
	if s.session != nil {
		failed = s.session.Close()
	}
	s.mu.Lock()
	s.forget()
	s.mu.Unlock()
	if s.group != nil {
		failed = errors.Join(failed, s.group.remove())
	}
	s.slot.release()
	if s.dir != "" {
		failed = errors.Join(failed, s.removeDir())
	}
	if failed != nil {
		return fmt.Errorf("closing a sandbox: %w", failed)
	}
	return nil
}
