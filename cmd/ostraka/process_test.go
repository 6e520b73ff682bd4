package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/testenv"
)

// program is a process of the program under test: this test binary under the program's name.
type program struct {
	t      *testing.T
	cmd    *exec.Cmd
	lines  chan string // of stdout; closed at its end
	exited chan struct{}
	mu     sync.Mutex
	stderr bytes.Buffer
}

// Write collects stderr.
func (p *program) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.stderr.Write(b)
}

func (p *program) said() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.stderr.String()
}

// runProgram starts the program. It is killed at the end of the test unless it has ended.
func runProgram(t *testing.T, env []string, args ...string) *program {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	p := &program{t: t, cmd: exec.Command(self), lines: make(chan string, 1000), exited: make(chan struct{})}
	p.cmd.Args = append([]string{"ostraka"}, args...)
	p.cmd.Env = append(childEnvironment(), env...)
	p.cmd.Stderr = p
	out, err := p.cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, p.cmd.Start())
	go func() {
		defer close(p.exited)
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			p.lines <- lines.Text()
		}
		close(p.lines)
		_ = p.cmd.Wait() // how it ended is in ProcessState
	}()
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		<-p.exited
		if t.Failed() {
			t.Logf("ostraka %s said:\n%s", strings.Join(args, " "), p.said())
		}
	})
	return p
}

// line waits for a line of stdout that begins with a text.
func (p *program) line(prefix string) string {
	p.t.Helper()
	for l := range p.lines {
		if strings.HasPrefix(l, prefix) {
			return l
		}
	}
	require.Fail(p.t, "the program ended", "in vain waited for a line %q; it said: %s", prefix, p.said())
	return ""
}

func (p *program) signal(s os.Signal) {
	p.t.Helper()
	require.NoError(p.t, p.cmd.Process.Signal(s))
}

// ends waits for the end and returns the exit code.
func (p *program) ends() int {
	<-p.exited
	return p.cmd.ProcessState.ExitCode()
}

// processesOf lists the live processes whose command line or working directory names the folder.
func processesOf(folder string) []string {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return []string{err.Error()}
	}
	var found []string
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		command, _ := os.ReadFile(filepath.Join("/proc", e.Name(), "cmdline"))
		cwd, _ := os.Readlink(filepath.Join("/proc", e.Name(), "cwd"))
		if bytes.Contains(command, []byte(folder)) || strings.HasPrefix(cwd, folder) {
			found = append(found, e.Name()+" "+strings.ReplaceAll(string(command), "\x00", " "))
		}
	}
	return found
}

func nothingRunsIn(t *testing.T, folder string) {
	t.Helper()
	testenv.Eventually(t, func() bool { return len(processesOf(folder)) == 0 }, "nothing runs in %s", folder)
}

// readDev reads the dev.json of a folder.
func readDev(t *testing.T, folder string) devInfo {
	t.Helper()
	path := filepath.Join(folder, "dev.json")
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	var d devInfo
	require.NoError(t, json.Unmarshal(text, &d))
	return d
}

// devRun runs `ostraka dev` on a folder and waits until it is ready.
func devRun(t *testing.T, folder string, args ...string) (*program, devInfo) {
	t.Helper()
	p := runProgram(t, nil, slices.Concat([]string{"dev", "--data", folder, "--listen", "127.0.0.1:0"}, args)...)
	ready := p.line("ready http://127.0.0.1:")
	d := readDev(t, folder)
	require.Equal(t, "ready "+d.URL, ready)
	return p, d
}

// environment is what a command needs to use the server.
func (i devInfo) environment() []string {
	return []string{"OSTRAKA_URL=" + i.URL, "OSTRAKA_PROJECT=" + i.Project, "OSTRAKA_KEY=" + i.OwnerKey}
}

// ostraka runs a command to its end and returns its stdout.
func ostraka(t *testing.T, d devInfo, args ...string) string {
	t.Helper()
	p := runProgram(t, d.environment(), args...)
	var out []string
	for l := range p.lines {
		out = append(out, l)
	}
	require.Zero(t, p.ends(), p.said())
	return strings.Join(out, "\n")
}

// postmaster is the process ID of the embedded Postgres; 0 while there is none.
func postmaster(folder string) int {
	text, err := os.ReadFile(filepath.Join(folder, "db", "data", "postmaster.pid"))
	if err != nil {
		return 0
	}
	first, _, _ := strings.Cut(string(text), "\n")
	pid, err := strconv.Atoi(strings.TrimSpace(first))
	if err != nil {
		return 0 // it is being written
	}
	return pid
}

func kill(t *testing.T, pid int) {
	t.Helper()
	require.NoError(t, syscall.Kill(pid, syscall.SIGKILL))
}
