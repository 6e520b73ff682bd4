//go:build linux

package linux

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/ostraka/ostraka/runtime/bundle"
	"github.com/ostraka/ostraka/runtime/harness"
	"github.com/ostraka/ostraka/runtime/monitor"
)

// Sandbox runs the shards of one lease, one after the other.
type Sandbox struct {
	runner   *Runner
	manifest bundle.Manifest
	name     string
	dir      string // the lease's folder on the host; removed by Close
	slot     *slot  // nil where the agent is no root
	group    *group // nil without a cgroup
	session  *harness.Session

	mu     sync.Mutex // what follows belongs to the launcher that was started last
	orders *os.File   // our end of its socket
	theirs *os.File
	files  int // descriptor of its workspace; -1: none
	// variables are the names that the harness gives to the interpreter
	variables []string
	served    int // process number of the interpreter that is set up

	workspace atomic.Value // string, for the monitor
}

func (s *Sandbox) open(ctx context.Context, b *bundle.Bundle, settings harness.Settings) error {
	if err := s.furnish(b); err != nil {
		return err
	}
	r := s.runner
	cfg := harness.Config{
		Interpreter: r.python, Tree: r.cfg.Python.Label(), BundleDir: s.bundleDir(), Digest: b.Digest, Settings: settings, WorkDir: s.inside(importName),
		Manifest: b.Manifest, Isolation: r.Level(),
		Prepare: s.prepare, PIDNamespace: r.namespaces(), Processes: s.processes(),
		Confine: harness.Confinement{ScopeSignals: r.abi >= scopesABI},
	}
	if s.group != nil {
		cfg.Accounting = s.group
	} else {
		cfg.Confine.Alone = true
		cfg.Confine.Filter, cfg.Confine.OwnPID = shardFilter()
	}
	session, err := harness.Start(ctx, cfg)
	if err != nil {
		return errors.Join(s.complaint(), err)
	}
	s.session = session
	return s.settle()
}

// furnish makes what lies on the host: the bundle, a cgroup, a user.
func (s *Sandbox) furnish(b *bundle.Bundle) (err error) {
	if s.dir, err = os.MkdirTemp(s.runner.cfg.Dir, "ostraka-lease-"); err != nil {
		return err
	}
	code := filepath.Join(s.dir, "bundle")
	if err := os.Mkdir(code, 0o755); err != nil { //nolint:gosec // the sandbox's user reads it; its parent is private
		return err
	}
	if err := b.Unpack(code); err != nil {
		return err
	}
	if s.runner.root {
		if s.slot, err = takeSlot(); err != nil {
			return err
		}
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
	// interpreter. Until the function is imported, the user's limit alone
	// bounds processes.
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
	if s.runner.cfg.Processors > 0 && s.runner.groups.folder(cpuController) != "" {
		return s.group.limitCPU(s.runner.cfg.Processors)
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
	if s.runner.namespaces() {
		return bundleDir
	}
	return filepath.Join(s.dir, "bundle")
}

// inside is a folder of the workspace as the sandbox sees it.
func (s *Sandbox) inside(name string) string {
	if s.runner.namespaces() {
		return filepath.Join(workDir, name)
	}
	return filepath.Join(s.dir, "work", name)
}

// outside is a folder of the workspace as this process can open it.
func (s *Sandbox) outside(name string) string { return filepath.Join(s.root(), name) }

// root is the workspace as this process can open it.
func (s *Sandbox) root() string {
	if s.runner.namespaces() {
		return "/proc/self/fd/" + strconv.Itoa(s.files)
	}
	return filepath.Join(s.dir, "work")
}

// prepare makes the harness' command start a launcher, and writes its order.
func (s *Sandbox) prepare(cmd *exec.Cmd) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forget()
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("making a socket pair: %w", err)
	}
	s.orders, s.theirs = os.NewFile(uintptr(pair[0]), "orders"), os.NewFile(uintptr(pair[1]), "orders")
	if err := s.order(cmd, pair[0]); err != nil {
		return err
	}
	if !s.runner.namespaces() {
		if err := s.freshFolders(); err != nil {
			return err
		}
	}
	cmd.ExtraFiles = append(cmd.ExtraFiles, s.theirs) // descriptor 4, after the control socket
	cmd.Path, cmd.Args, cmd.Dir, cmd.Err = "/proc/self/exe", []string{"ostraka-sandbox", argument}, "/", nil
	s.variables = names(cmd.Env)
	cmd.Env = []string{} // the interpreter's comes with the order
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	s.runner.attributes(cmd.SysProcAttr, s.slot)
	return nil
}

func names(env []string) []string {
	out := make([]string, 0, len(env))
	for _, e := range env {
		name, _, _ := strings.Cut(e, "=")
		out = append(out, name)
	}
	return out
}

// order sends the launcher's order; it waits in the socket.
func (s *Sandbox) order(cmd *exec.Cmd, socket int) error {
	o := order{
		Namespaces: s.runner.namespaces(), Binds: s.binds(), Workspace: s.quota(), Limits: s.rlimits(),
		Program: s.runner.python, Args: cmd.Args[1:], Env: cmd.Env, Dir: s.inside(importName),
	}
	if !o.Namespaces {
		o.Writable = s.root()
	}
	var fds []int
	defer func() { closeAll(fds) }()
	if s.runner.root && o.Namespaces {
		for i := range o.Binds {
			fd, err := openTree(o.Binds[i].Source)
			if err != nil {
				return err
			}
			o.Binds[i].Mount, fds = true, append(fds, fd)
		}
	}
	if s.group != nil {
		members, err := s.group.members()
		if err != nil {
			return err
		}
		defer closeFiles(members)
		o.Cgroups = len(members)
		rights := fds
		for _, f := range members {
			rights = append(rights, int(f.Fd()))
		}
		return sendPacket(socket, o, rights...)
	}
	return sendPacket(socket, o, fds...)
}

func (s *Sandbox) binds() []bind {
	code := bind{Source: filepath.Join(s.dir, "bundle"), Target: s.bundleDir(), Dir: true}
	return append([]bind{code}, s.runner.binds...)
}

// attributes are how the kernel starts the launcher.
func (r *Runner) attributes(a *syscall.SysProcAttr, user *slot) {
	uid, gid := os.Geteuid(), os.Getegid()
	if user != nil {
		uid, gid = user.uid, user.uid
	}
	if !r.namespaces() {
		if user != nil {
			a.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
		}
		return
	}
	a.Cloneflags = syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS | syscall.CLONE_NEWPID | syscall.CLONE_NEWNET | syscall.CLONE_NEWIPC | syscall.CLONE_NEWUTS
	a.UidMappings = []syscall.SysProcIDMap{{ContainerID: sandboxUID, HostID: uid, Size: 1}}
	a.GidMappings = []syscall.SysProcIDMap{{ContainerID: sandboxUID, HostID: gid, Size: 1}}
	// Only a privileged process may leave its groups.
	a.GidMappingsEnableSetgroups = user != nil
	a.Credential = &syscall.Credential{Uid: sandboxUID, Gid: sandboxUID, NoSetGroups: user == nil}
	a.AmbientCaps = []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_SETPCAP} // of the namespace, for the launcher only
}

// rlimits are those that the interpreter starts with; the harness lowers more of
// them for the function.
func (s *Sandbox) rlimits() []rlimit {
	l := s.manifest.Limits
	both := func(resource int, n uint64) rlimit { return rlimit{Resource: resource, Soft: n, Hard: n} }
	return []rlimit{
		both(unix.RLIMIT_CORE, 0), both(unix.RLIMIT_MEMLOCK, 0), both(unix.RLIMIT_MSGQUEUE, 0), both(unix.RLIMIT_NICE, 0), both(unix.RLIMIT_RTPRIO, 0),
		both(unix.RLIMIT_STACK, stackBytes), both(unix.RLIMIT_SIGPENDING, pendingSignals),
		both(unix.RLIMIT_NOFILE, uint64(max(l.OpenFiles, interpreterFiles))),
	}
}

// processes is how many processes and threads the sandbox's user may have,
// enforced by a limit that counts them in the namespace. Without a namespace it
// would count all that the user runs, unless the user is the sandbox's alone.
// The cgroup, which tells when it refuses one, is a little narrower.
func (s *Sandbox) processes() int64 {
	if !s.runner.namespaces() && s.slot == nil {
		return 0
	}
	n := s.manifest.Limits.Pids + ownProcesses
	if s.group != nil {
		n += ownProcesses
	}
	return n
}

const (
	stackBytes       = 8 << 20 // of a main thread
	pendingSignals   = 256
	interpreterFiles = 64 // descriptors of the zygote, and of passing them on
)

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
	shard := harness.Shard{Index: index, Input: input, Home: s.inside(homeName), Output: s.inside(outputName), OutputDir: s.OutputDir()}
	if !s.runner.namespaces() {
		shard.Workspace = s.root() // there is no file system of its own that ends
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
