package harness

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sys/unix"
)

// message is one packet on the control socket, in either direction.
type message struct {
	Op        string     `json:"op"`
	Seq       uint64     `json:"seq"`
	Exception *Exception `json:"exception,omitempty"`
	ExitCode  *int       `json:"exit_code,omitempty"`
	Signal    int        `json:"signal,omitempty"`
	CPUMicros int64      `json:"cpu_us,omitempty"`
	PeakRSS   int64      `json:"peak_rss_bytes,omitempty"`
	Template  int        `json:"template,omitempty"`
	Last      bool       `json:"last,omitempty"` // the zygote leaves with this
	facts

	Home   string `json:"home,omitempty"`
	Output string `json:"output,omitempty"`
}

// facts are what agents report about their interpreter.
type facts struct {
	Interpreter string `json:"interpreter,omitempty"`
	Platform    string `json:"platform,omitempty"`
	Libc        string `json:"libc,omitempty"`
}

// named is the interpreter's name for people and for the server, which tells interpreters apart by it.
func (f *facts) named(tree string) string {
	if tree == "" {
		return f.Interpreter
	}
	return f.Interpreter + " (" + tree + ")"
}

// code is the exit code of a process, -1 when a signal ended it.
func (m *message) code() int {
	if m.ExitCode == nil {
		return -1
	}
	return *m.ExitCode
}

// zygote is a running interpreter.
type zygote struct {
	cmd       *exec.Cmd
	conn      *net.UnixConn
	mark      string
	messages  chan message  // closed when the zygote has closed the socket
	exited    chan struct{} // closed when the process is gone and waited for
	template  int           // as this process sees it
	contained bool          // in a namespace of processes that ends with it

	stdout, stderr *output // of the import, and of the zygote itself
}

// output is a pipe that is read into a tail all the time.
type output struct {
	file *os.File
	done chan struct{}
	mu   sync.Mutex
	tail *tail
}

// Write implements io.Writer for drain.
func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.tail.Write(p)
}

// newOutput returns the reading side, and the end to write to.
func newOutput(limit int64) (*output, *os.File, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, nil, fmt.Errorf("making a pipe: %w", err)
	}
	o := &output{file: r, done: make(chan struct{}), tail: newTail(limit)}
	go func() {
		defer close(o.done)
		drain(o, r)
	}()
	return o, w, nil
}

// finish waits for the end of the stream, not longer than the deadline, and
// closes it.
func (o *output) finish(deadline time.Time) *tail {
	// A pipe that cannot have a deadline would be one that is closed already.
	_ = o.file.SetReadDeadline(deadline)
	<-o.done
	_ = o.file.Close()
	return o.tail
}

// startZygote starts the interpreter and sends it its configuration.
func startZygote(cfg *Config) (*zygote, error) {
	z := &zygote{mark: uuid.NewString(), contained: cfg.PIDNamespace, messages: make(chan message, 8), exited: make(chan struct{})}
	ours, theirs, err := socketpair()
	if err != nil {
		return nil, err
	}
	defer theirs.Close()
	z.conn = ours
	if err := z.start(cfg, theirs); err != nil {
		return nil, errors.Join(err, ours.Close())
	}
	go z.receive()
	if err := z.send(configMessage(cfg), nil); err != nil {
		return nil, errors.Join(err, z.stop())
	}
	return z, nil
}

func socketpair() (*net.UnixConn, *os.File, error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("making a socket pair: %w", err)
	}
	ours, theirs := os.NewFile(uintptr(fds[0]), "control"), os.NewFile(uintptr(fds[1]), "control")
	defer ours.Close()
	conn, err := net.FileConn(ours)
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("making a socket pair: %w", err), theirs.Close())
	}
	unixConn, ok := conn.(*net.UnixConn)
	if !ok {
		return nil, nil, errors.Join(fmt.Errorf("making a socket pair: it is a %T", conn), conn.Close(), theirs.Close())
	}
	return unixConn, theirs, nil
}

func (z *zygote) start(cfg *Config, control *os.File) error {
	stdout, stdoutW, err := newOutput(TailBytes)
	if err != nil {
		return err
	}
	defer stdoutW.Close()
	stderr, stderrW, err := newOutput(TailBytes) // the zygote's last words
	if err != nil {
		_ = stdoutW.Close() // the trouble with stderr says more
		stdout.finish(time.Now())
		return err
	}
	defer stderrW.Close()
	z.stdout, z.stderr = stdout, stderr
	z.cmd = command(cfg, z.mark)
	z.cmd.Stdout, z.cmd.Stderr, z.cmd.ExtraFiles = stdoutW, stderrW, []*os.File{control}
	if cfg.Prepare != nil {
		err = cfg.Prepare(z.cmd)
	}
	if err == nil {
		err = z.cmd.Start()
	}
	if err != nil {
		stdout.finish(time.Now())
		stderr.finish(time.Now())
		return fmt.Errorf("starting the interpreter %s: %w", cfg.Interpreter, err)
	}
	go func() {
		defer close(z.exited)
		_ = z.cmd.Wait() // how it ended shows on the socket
	}()
	return nil
}

// command builds the environment from nothing: what differs between machines
// makes honest agents differ. PYTHONSAFEPATH is -P, which Python knows only from
// 3.11 on; earlier ones ignore the variable and the program does it by hand.
func command(cfg *Config, mark string) *exec.Cmd {
	cmd := exec.Command(cfg.Interpreter, "-s", "-S", "-B", "-")
	cmd.Stdin = strings.NewReader(program())
	cmd.Dir = cfg.WorkDir
	cmd.Env = []string{
		"HOME=" + cfg.WorkDir,
		"TMPDIR=" + cfg.WorkDir,
		"PATH=/usr/local/bin:/usr/bin:/bin",
		"LC_ALL=C.UTF-8",
		"TZ=" + cfg.Settings.timeZone(),
		"PYTHONHASHSEED=" + strconv.FormatUint(uint64(cfg.Settings.HashSeed), 10),
		"PYTHONSAFEPATH=1",
		"PYTHONUTF8=1",
		"PYTHONDONTWRITEBYTECODE=1",
		"PYTHONNOUSERSITE=1",
		markName + "=" + mark,
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return cmd
}

func configMessage(cfg *Config) any {
	l := cfg.Manifest.Limits
	return map[string]any{
		"bundle": cfg.BundleDir, "home": cfg.WorkDir,
		"module": cfg.Manifest.Module(), "callable": cfg.Manifest.Callable(), "script": cfg.Manifest.Script,
		"contained": cfg.PIDNamespace, "confine": cfg.Confine.message(),
		"limits": map[string]int64{
			"cpu_seconds": l.CPUSeconds, "memory_bytes": l.MemoryBytes, "output_bytes": l.OutputBytes,
			"address_space_bytes": l.MemoryBytes + AddressSpaceSlack, "disk_bytes": l.DiskBytes, "open_files": l.OpenFiles,
		},
	}
}

// send writes one packet, with descriptors beside it.
func (z *zygote) send(m any, fds []int) error {
	packet, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("encoding a control message: %w", err)
	}
	var beside []byte
	if len(fds) > 0 {
		beside = unix.UnixRights(fds...)
	}
	if _, _, err := z.conn.WriteMsgUnix(packet, beside, nil); err != nil {
		return fmt.Errorf("writing to the interpreter: %w", err)
	}
	return nil
}

// receive reads packets until the zygote closes the socket. It sends only what
// Go can read; anything else is taken as its end.
func (z *zygote) receive() {
	defer close(z.messages)
	packet := make([]byte, maxPacket)
	for {
		n, err := z.conn.Read(packet)
		if err != nil || n == 0 {
			return
		}
		var m message
		if json.NewDecoder(bytes.NewReader(packet[:n])).Decode(&m) != nil {
			return
		}
		z.messages <- m
	}
}

// kill ends a zygote that was stopped or hangs. Its process group holds the
// template as well; what else there is, killMarked finds.
func (z *zygote) kill() {
	// It may have ended by itself meanwhile.
	_ = syscall.Kill(-z.cmd.Process.Pid, syscall.SIGKILL)
}

// stop ends the interpreter and everything it started, and waits for that.
func (z *zygote) stop() error {
	closed := z.conn.Close() // the zygote sees the end and cleans up
	go func() {
		for range z.messages { // so that receive can leave
		}
	}()
	select {
	case <-z.exited:
	case <-time.After(killGrace):
		z.kill()
		<-z.exited
	}
	var orphans error
	if !z.contained { // else the kernel has ended them all before it let the first one go
		orphans = killMarked(z.mark)
	}
	deadline := time.Now().Add(drainGrace)
	z.stdout.finish(deadline)
	z.stderr.finish(deadline)
	if err := errors.Join(closed, orphans); err != nil {
		return fmt.Errorf("stopping the interpreter: %w", err)
	}
	return nil
}
