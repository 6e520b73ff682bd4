//go:build linux

package linux

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/ostraka/ostraka/runtime/bundle"
)

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
	switch {
	case s.runner.contained():
		if err := s.unsettleContained(); err != nil {
			return err
		}
	case !s.runner.namespaces():
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
		Namespaces: s.runner.namespaces(), Contained: s.runner.contained(), Binds: s.binds(), Workspace: s.quota(), Limits: s.rlimits(),
		Program: cmd.Args[0], Args: cmd.Args[1:], Env: cmd.Env, Dir: s.inside(importName),
	}
	if !o.Namespaces {
		o.Writable = s.root()
	}
	var fds []int
	defer func() { closeAll(fds) }()
	for i := range o.Binds {
		fd, err := s.handOver(&o.Binds[i], o.Namespaces)
		if err != nil {
			return err
		}
		if fd >= 0 {
			fds = append(fds, fd)
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

// handOver opens what goes to the launcher beside the order for a bind; -1: nothing does.
func (s *Sandbox) handOver(b *bind, namespaces bool) (fd int, err error) {
	mounts := s.runner.root && namespaces
	switch {
	case b.folder != nil && !mounts:
		b.Held = true
		return unix.FcntlInt(b.folder.File().Fd(), unix.F_DUPFD_CLOEXEC, 0)
	case !mounts:
		return -1, nil
	}
	b.Mount = true
	if b.folder != nil {
		return openFolder(int(b.folder.File().Fd()))
	}
	return openTree(b.Source)
}

func (s *Sandbox) binds() []bind {
	code := bind{Source: filepath.Join(s.dir, "bundle"), Target: s.bundleDir(), Dir: true}
	if s.runner.contained() {
		code.Source = bundleDir
	}
	inputs := bind{Source: s.inputs.Path(), Target: s.inputsDir(), Dir: true}
	return slices.Concat([]bind{code, inputs}, s.volumeBinds(), s.runner.binds)
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
	files := max(s.manifest.Limits.OpenFiles, interpreterFiles)
	if s.runner.contained() { // the function may not be known yet
		files = bundle.MaxLimits().OpenFiles
	}
	both := func(resource int, n uint64) rlimit { return rlimit{Resource: resource, Soft: n, Hard: n} }
	limits := []rlimit{both(unix.RLIMIT_CORE, 0), both(unix.RLIMIT_MEMLOCK, 0), both(unix.RLIMIT_STACK, stackBytes), both(unix.RLIMIT_NOFILE, uint64(files))}
	if s.runner.cfg.Level == bundle.GVisor {
		return limits // its kernel has no others to set
	}
	return append(limits, both(unix.RLIMIT_MSGQUEUE, 0), both(unix.RLIMIT_NICE, 0), both(unix.RLIMIT_RTPRIO, 0), both(unix.RLIMIT_SIGPENDING, pendingSignals))
}

// processes is how many processes and threads the sandbox's user may have,
// enforced by a limit that counts them in the namespace. The cgroup, which tells
// when it refuses one, is a little narrower, during the import too. Without a namespace the limit
// counts all that the user runs, so it only keeps the number from exploding.
func (s *Sandbox) processes() int64 {
	if s.runner.own != nil {
		return 0 // the container's cgroup counts exactly
	}
	if !s.runner.namespaces() && s.slot == nil {
		return tasksOf(os.Geteuid()) + s.manifest.Limits.Pids + otherTasks
	}
	n := s.manifest.Limits.Pids + ownProcesses
	if s.group != nil {
		n += launcherThreads
	}
	return n
}

const (
	stackBytes       = 8 << 20 // of a main thread
	pendingSignals   = 256
	interpreterFiles = 64 // descriptors of the zygote, and of passing them on
)
