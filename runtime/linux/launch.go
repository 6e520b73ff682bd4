//go:build linux

package linux

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"sync/atomic"
	"syscall"

	"golang.org/x/sys/unix"
)

// argument is how our binary knows that it is to be a launcher. It is no
// command for people and appears in no help.
const argument = "__ostraka-sandbox-launcher"

// Descriptors of the launcher beside the interpreter's stdin, stdout, stderr
// and control socket.
const (
	controlFD = 3
	orderFD   = 4
)

// Exit codes of a launcher that could not become the interpreter.
const (
	exitBroken = 120 // the order could not be carried out; the answer says why
	exitRaw    = 121 // one of the last steps failed, after which nothing can be said
)

// MaybeLaunch turns this process into a sandbox and never returns, if it was
// started as one; otherwise it does nothing. It must be called first thing in
// main, before flags are parsed, files are opened or the environment is read.
//
// Calling it by hand gains nothing: all that it does is to give up rights, with
// those of its caller.
func MaybeLaunch() {
	hooked.Store(true)
	if len(os.Args) != 2 || os.Args[1] != argument && os.Args[1] != probeArgument {
		return
	}
	runtime.LockOSThread() // walls are put up around this thread, which becomes the process
	debug.SetTraceback("none")
	debug.SetGCPercent(-1) // it is short-lived
	if os.Args[1] == probeArgument {
		probeMain()
	}
	launch()
	os.Exit(exitBroken) //nolint:forbidigo // the process is the launcher: its main must go no further
}

// hooked says that this program calls MaybeLaunch: another one, started again,
// would do what it always does.
var hooked atomic.Bool

var errNotHooked = errors.New("this program cannot be its own launcher: its main does not call linux.MaybeLaunch")

// launch carries out the order, or tells why it cannot.
func launch() {
	var o order
	fds, err := receivePacket(orderFD, &o)
	if err != nil {
		fmt.Fprintln(os.Stderr, "sandbox launcher: this is no command:", err)
		return
	}
	l := launcher{order: &o, fds: fds}
	err = l.run()
	a := answer{Error: err.Error()}
	var failed *stepError
	if errors.As(err, &failed) {
		a.Step = failed.step
	}
	var errno syscall.Errno
	if errors.As(err, &errno) {
		a.Errno = int(errno)
	}
	if sendPacket(orderFD, a) != nil {
		fmt.Fprintln(os.Stderr, "sandbox launcher:", err)
	}
}

// stepError names the wall that could not be put up.
type stepError struct {
	step string
	err  error
}

func (e *stepError) Error() string { return e.step + ": " + e.err.Error() }
func (e *stepError) Unwrap() error { return e.err }

// Steps, as the answer and the probe name them.
const (
	stepMounts   = "mount namespace"
	stepRoot     = "root of its own"
	stepHost     = "host name"
	stepLandlock = "Landlock"
	stepLimits   = "resource limits"
	stepStart    = "start"
)

type launcher struct {
	order   *order
	fds     []int // of detached mounts, then of cgroups
	mounts  []int // one for each bind
	ruleset int
	abi     int
}

// run puts up the walls. It returns only an error.
func (l *launcher) run() error {
	steps := []struct {
		name string
		do   func() error
	}{
		{stepStart, l.expendable}, // while its own files in /proc are still its own
		{stepStart, l.begin},
		{stepMounts, l.separate},
		{stepRoot, l.root},
		{stepHost, l.hostName},
		{stepLimits, l.limits},
		{stepLandlock, l.rules},
		{stepStart, l.answer},
		{stepStart, l.become},
	}
	for _, s := range steps {
		if err := s.do(); err != nil {
			return &stepError{s.name, err}
		}
	}
	return &stepError{stepStart, errors.New("the interpreter did not take over")}
}

func (l *launcher) begin() error {
	if got := len(l.fds); got != l.order.Cgroups+l.detached() {
		return fmt.Errorf("%d descriptors came with the order", got)
	}
	unix.Umask(0o022)
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("hiding from others: %w", err)
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("giving up new privileges: %w", err)
	}
	return nil
}

func (l *launcher) detached() (n int) {
	for _, b := range l.order.Binds {
		if b.Mount || b.Held {
			n++
		}
	}
	return n
}

func (l *launcher) hostName() error {
	if !l.order.Namespaces {
		return nil
	}
	if err := unix.Sethostname([]byte(hostName)); err != nil {
		return err
	}
	return unix.Setdomainname([]byte("(none)"))
}

func (l *launcher) limits() error {
	for _, r := range l.order.Limits {
		if err := lower(r); err != nil {
			return fmt.Errorf("limiting resource %d to %d: %w", r.Resource, r.Hard, err)
		}
	}
	return nil
}

// lower sets a limit; one that is lower already stays.
func lower(r rlimit) error {
	var now syscall.Rlimit
	if err := syscall.Getrlimit(r.Resource, &now); err != nil {
		return err
	}
	hard := min(r.Hard, now.Max)
	return syscall.Setrlimit(r.Resource, &syscall.Rlimit{Cur: min(r.Soft, hard), Max: hard})
}

// answer tells the agent that all is well and gives it the workspace.
func (l *launcher) answer() error {
	if err := unix.Chdir(l.order.Dir); err != nil {
		return fmt.Errorf("going to %s: %w", l.order.Dir, err)
	}
	if l.order.Writable != "" {
		return sendPacket(orderFD, answer{Landlock: l.abi})
	}
	work, err := unix.Open(workDir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("opening the workspace: %w", err)
	}
	return sendPacket(orderFD, answer{Landlock: l.abi}, work)
}

// become is the point of no return: what follows is given up for good, by raw
// calls on this thread.
func (l *launcher) become() error {
	path, err := unix.BytePtrFromString(l.order.Program)
	if err != nil {
		return err
	}
	argv, err := syscall.SlicePtrFromStrings(append([]string{l.order.Program}, l.order.Args...))
	if err != nil {
		return err
	}
	env, err := syscall.SlicePtrFromStrings(l.order.Env)
	if err != nil {
		return err
	}
	filter := sandboxFilter(l.order.Namespaces || l.order.Contained, slices.ContainsFunc(l.order.Binds, func(b bind) bool { return b.Writable }))
	last := finish{
		cgroups: l.fds[l.detached():], namespaces: l.order.Namespaces, ruleset: l.ruleset,
		path: path, argv: argv, env: env, last: lastCapability(),
		filter: unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]},
	}
	step, errno := last.do()
	// The filter is in force: say what can be said and leave.
	_, _ = os.Stderr.WriteString("sandbox launcher: step " + strconv.Itoa(step) + " of the last: errno " + strconv.Itoa(int(errno)) + "\n")
	os.Exit(exitRaw) //nolint:forbidigo // see MaybeLaunch
	return nil
}
