//go:build unix

package harness

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// group is a process group. What leaves it (setsid) is found by the mark in its
// environment when the shard ends; what cleans its environment as well gets
// away. Only a stronger level holds that.
type group struct {
	wall []string // a program before the interpreter, that holds it back further
	mark string
	pgid int
}

// psLimit is how long it may take to list processes.
const psLimit = 5 * time.Second

func newGroup(cfg *Config, shard *Shard, mark string) (*group, error) {
	return &group{wall: outerWall(cfg, shard), mark: mark}, nil
}

// prepare makes the command the first of a session of its own, and hands it the
// result pipe as descriptor 3.
func (g *group) prepare(cmd *exec.Cmd, answer *os.File) (descriptor, handle uintptr, err error) {
	if len(g.wall) > 0 {
		cmd.Args = append(append([]string{}, g.wall...), append([]string{cmd.Path}, cmd.Args[1:]...)...)
		cmd.Path = g.wall[0]
	}
	cmd.ExtraFiles = []*os.File{answer}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return 3, 0, nil
}

func (g *group) hold(p *os.Process) error {
	g.pgid = p.Pid
	return nil
}

// countsMemory says whether the kernel holds the processes to their limit together.
func (g *group) countsMemory() bool { return false }

func (g *group) close() {}

// kill ends the group. Nothing in it can refuse.
func (g *group) kill() {
	if g.pgid > 0 {
		_ = unix.Kill(-g.pgid, unix.SIGKILL) // gone already
	}
}

// finish ends what is left and says what the interpreter, and what it has waited for, have used.
func (g *group) finish(state *os.ProcessState) (used groupUsed) {
	g.kill()
	g.sweep()
	used.cpu = (state.UserTime() + state.SystemTime()).Microseconds()
	if usage, ok := state.SysUsage().(*syscall.Rusage); ok {
		used.peak = peakBytes(usage)
	}
	return used
}

// sweep kills what has left the group and still carries the mark.
func (g *group) sweep() {
	want := plainMark + "=" + g.mark
	clean := 0
	for range maxSweeps {
		found := false
		list, err := processList("axeww", "-o", "pid=,command=")
		if err != nil {
			return // there is no ps: what got away stays away
		}
		for line := range bytes.Lines(list) {
			if !bytes.Contains(line, []byte(want)) {
				continue
			}
			number, _, _ := strings.Cut(strings.TrimSpace(string(line)), " ")
			if pid, err := strconv.Atoi(number); err == nil && pid > 1 && pid != os.Getpid() && unix.Kill(pid, unix.SIGKILL) == nil {
				found = true
			}
		}
		// A program that was just started may show no environment yet; not twice.
		if clean++; found {
			clean = 0
		}
		if clean == 2 {
			return
		}
	}
}

// maxSweeps bounds the hunt for processes that fork while they are killed.
const maxSweeps = 20

// usage counts the processes of the group and what they hold.
func (g *group) usage() (u groupUsage, err error) {
	list, err := processList("-axo", "pgid=,rss=")
	if err != nil {
		return u, err
	}
	for line := range bytes.Lines(list) {
		var pgid int
		var kilobytes int64
		if _, err := fmt.Sscan(string(line), &pgid, &kilobytes); err == nil && pgid == g.pgid {
			u.count++
			u.rss += kilobytes << 10
		}
	}
	return u, nil
}

func processList(arguments ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), psLimit)
	defer cancel()
	list, err := exec.CommandContext(ctx, "/bin/ps", arguments...).Output()
	if err != nil {
		return nil, errors.Join(errHold, err)
	}
	return list, nil
}

func systemEnvironment() []string { return []string{"PATH=/usr/local/bin:/usr/bin:/bin"} }
