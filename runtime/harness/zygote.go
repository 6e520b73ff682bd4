//go:build linux

package harness

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"slices"
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
	Exception *described `json:"exception,omitempty"`
	ExitCode  *int       `json:"exit_code,omitempty"`
	Signal    int        `json:"signal,omitempty"`
	CPUMicros int64      `json:"cpu_us,omitempty"`
	PeakRSS   int64      `json:"peak_rss_bytes,omitempty"`
	Template  int        `json:"template,omitempty"`
	PID       int        `json:"pid,omitempty"`  // of the process that "next" is about, in its own namespace
	Last      bool       `json:"last,omitempty"` // the zygote leaves with this
	facts

	channel int // descriptor that came with "next": the shard's own
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
	program   string // the interpreter as the configuration names it
	conn      *net.UnixConn
	mark      string
	messages  chan message  // closed when the zygote has closed the socket
	exited    chan struct{} // closed when the process is gone and waited for
	template  int           // as this process sees it
	contained bool          // in a namespace of processes that ends with it

	stdout, stderr *output       // of the import, and of the zygote itself
	verbose        chan struct{} // closed when one of them is over its limit
	talk           sync.Once
}

func (z *zygote) chatty() { z.talk.Do(func() { close(z.verbose) }) }

// startZygote starts the interpreter, which waits for its configuration.
func startZygote(cfg *Config) (*zygote, error) {
	z := &zygote{program: cfg.Interpreter, mark: uuid.NewString(), contained: cfg.PIDNamespace, messages: make(chan message, 8), exited: make(chan struct{}), verbose: make(chan struct{})}
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
	return z, nil
}

// configure tells the interpreter what to run, and gives it the kernel's list of its children: it may have no /proc, and must see after
// each shard whether anything is left. Its earlier output is not read: a pipe holds more than it prints.
func (z *zygote) configure(cfg *Config) error {
	z.stdout.limit, z.stderr.limit = cfg.Manifest.Limits.StdoutBytes, cfg.Manifest.Limits.StderrBytes
	z.stdout.start()
	z.stderr.start()
	var beside []byte
	if !cfg.withoutChildren {
		if children, err := os.Open(fmt.Sprintf("/proc/%[1]d/task/%[1]d/children", z.cmd.Process.Pid)); err == nil { // not every kernel has it
			defer children.Close()
			beside = unix.UnixRights(int(children.Fd()))
		}
	}
	return z.sendBeside(configMessage(cfg), beside)
}

// await waits for a message of the interpreter itself, before any code of a function runs.
func (z *zygote) await(ctx context.Context, op string) (message, error) {
	select {
	case m, ok := <-z.messages:
		if !ok || m.Op != op {
			return m, fmt.Errorf("the interpreter %s does not start; it needs Python 3.9 or later with ctypes: %s", z.program, z.lastWords())
		}
		return m, nil
	case <-time.After(startGrace):
		return message{}, fmt.Errorf("the interpreter %s has not started within %s", z.program, startGrace)
	case <-ctx.Done():
		return message{}, context.Cause(ctx)
	}
}

// lastWords is what a dying interpreter wrote.
func (z *zygote) lastWords() string {
	<-z.exited
	tail := z.stderr.finish(time.Now().Add(drainGrace))
	return end(string(tail.kept), 1000)
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
	stdout, stdoutW, err := newOutput(cfg.Manifest.Limits.StdoutBytes, z.chatty)
	if err != nil {
		return err
	}
	outW := os.NewFile(uintptr(stdoutW), "stdout")
	defer outW.Close()
	stderr, stderrW, err := newOutput(cfg.Manifest.Limits.StderrBytes, z.chatty)
	if err != nil {
		stdout.finish(time.Now())
		return err
	}
	errW := os.NewFile(uintptr(stderrW), "stderr")
	defer errW.Close()
	z.stdout, z.stderr = stdout, stderr
	z.cmd = command(cfg, z.mark)
	z.cmd.Stdout, z.cmd.Stderr, z.cmd.ExtraFiles = outW, errW, []*os.File{control}
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
	cmd := exec.Command(cfg.Interpreter, slices.Concat(cfg.Before, []string{"-s", "-S", "-B", "-"})...)
	cmd.Stdin = strings.NewReader(program())
	cmd.Dir = cfg.WorkDir
	cmd.Env = append([]string{
		"HOME=" + cfg.WorkDir,
		"TMPDIR=" + cfg.WorkDir,
		"PATH=/usr/local/bin:/usr/bin:/bin",
		"LC_ALL=C.UTF-8",
		"TZ=" + cfg.Settings.timeZone(),
		"PYTHONHASHSEED=" + strconv.FormatUint(uint64(cfg.Settings.HashSeed), 10),
		"LD_BIND_NOW=1", // else every shard looks up the same functions of libc
		"PYTHONSAFEPATH=1",
		"PYTHONUTF8=1",
		"PYTHONDONTWRITEBYTECODE=1",
		"PYTHONNOUSERSITE=1",
		markName + "=" + mark,
	}, cfg.Variables...)
	cmd.Env = append(cmd.Env, volumesEnvironment(cfg)...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return cmd
}

// Variables are the names of those that an interpreter gets.
func Variables() []string {
	var names []string
	for _, e := range command(&Config{}, "").Env {
		name, _, _ := strings.Cut(e, "=")
		names = append(names, name)
	}
	return names
}

func configMessage(cfg *Config) any {
	l := cfg.Manifest.Limits
	return map[string]any{
		"bundle": cfg.BundleDir, "home": cfg.WorkDir,
		"module": cfg.Manifest.Module(), "callable": cfg.Manifest.Callable(), "script": cfg.Manifest.Script, "per_item": cfg.Manifest.IsPerItem(),
		"contained": cfg.PIDNamespace, "processes": cfg.Processes, "pid_max": pidMax(), "confine": cfg.Confine.message(),
		"limits": map[string]int64{
			"cpu_seconds": l.CPUSeconds, "memory_bytes": l.MemoryBytes, "output_bytes": l.OutputBytes,
			"address_space_bytes": l.MemoryBytes + AddressSpaceSlack, "disk_bytes": l.DiskBytes, "open_files": l.OpenFiles,
		},
	}
}

// send writes one packet.
func (z *zygote) send(m any) error { return z.sendBeside(m, nil) }

// sendBeside writes one packet with what goes beside it.
func (z *zygote) sendBeside(m any, beside []byte) error {
	packet, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("encoding a control message: %w", err)
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
	packet, beside := make([]byte, maxPacket), make([]byte, unix.CmsgSpace(4))
	for {
		n, oob, _, _, err := z.conn.ReadMsgUnix(packet, beside)
		if err != nil || n == 0 {
			return
		}
		m := message{channel: descriptor(beside[:oob])}
		if json.Unmarshal(packet[:n], &m) != nil {
			m.drop()
			return
		}
		z.messages <- m
	}
}

// descriptor returns the one that came beside a packet, -1 when none did.
func descriptor(beside []byte) int {
	parts, err := unix.ParseSocketControlMessage(beside)
	if err != nil || len(parts) == 0 {
		return -1
	}
	fds, err := unix.ParseUnixRights(&parts[0])
	if err != nil || len(fds) == 0 {
		return -1
	}
	return fds[0]
}

// drop closes the descriptor that came with the message.
func (m *message) drop() {
	if m.channel >= 0 {
		_ = unix.Close(m.channel) // nothing was written to it that could be lost
		m.channel = -1
	}
}

// kill ends a zygote that was stopped or hangs. Its process group holds the
// template as well; what else there is, killMarked finds.
func (z *zygote) kill() {
	if !z.contained {
		killBelow(z.cmd.Process.Pid) // while they still are below it
	}
	z.killGroup()
}

func (z *zygote) killGroup() {
	// It may have ended by itself meanwhile.
	_ = syscall.Kill(-z.cmd.Process.Pid, syscall.SIGKILL)
}

// stop ends the interpreter and everything it started, and waits for that.
func (z *zygote) stop() error {
	closed := z.conn.Close() // the zygote sees the end and cleans up
	go func() {
		for m := range z.messages { // so that receive can leave
			m.drop()
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
		z.killGroup() // its number is not given to others while somebody is in it
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
