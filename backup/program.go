package backup

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// packagedPrograms is where Debian and its kin keep the programs of each version.
const packagedPrograms = "/usr/lib/postgresql/*/bin"

// stopTime is how long a program of Postgres has to end once it is told to.
const stopTime = 10 * time.Second

// MissingError says that a program of Postgres is not there in a version that is good for a server.
type MissingError struct {
	Program string
	Major   int   // that it must be at least
	Found   []int // what there is instead
}

// Error implements error.
func (e *MissingError) Error() string {
	if len(e.Found) == 0 {
		return fmt.Sprintf("the program %s of PostgreSQL %d or later is not on this machine", e.Program, e.Major)
	}
	return fmt.Sprintf("the program %s here is of PostgreSQL %d, and the server needs one of %d or later", e.Program, slices.Max(e.Found), e.Major)
}

// Advice says what to install.
func (e *MissingError) Advice() string {
	return fmt.Sprintf("install it: apt-get install postgresql-client-%d (Debian), dnf install postgresql%d (Fedora, PGDG), or put it on PATH", e.Major, e.Major)
}

// programVersion matches what the programs say of themselves: pg_dump (PostgreSQL) 15.14 (Debian …).
var programVersion = regexp.MustCompile(`\(PostgreSQL\) (\d+)`)

// findProgram finds a program that is as new as the server, and no newer than it must be: an archive is read by none that is older than
// what has written it.
func findProgram(ctx context.Context, name string, major int) (string, error) {
	candidates, err := filepath.Glob(filepath.Join(packagedPrograms, name))
	if err != nil {
		return "", fmt.Errorf("looking for %s: %w", name, err)
	}
	if path, err := exec.LookPath(name); err == nil {
		candidates = append(candidates, path)
	}
	best, missing := "", &MissingError{Program: name, Major: major}
	least := 0
	for _, path := range candidates {
		is := majorOf(ctx, path)
		switch {
		case is == 0:
		case is < major:
			missing.Found = append(missing.Found, is)
		case best == "" || is < least:
			best, least = path, is
		}
	}
	if best == "" {
		return "", missing
	}
	return best, nil
}

// majorOf is 0 where a program does not say its version.
func majorOf(ctx context.Context, path string) int {
	said, err := exec.CommandContext(ctx, path, "--version").Output()
	if err != nil {
		return 0
	}
	m := programVersion.FindSubmatch(said)
	if m == nil {
		return 0
	}
	major, err := strconv.Atoi(string(m[1]))
	if err != nil {
		return 0
	}
	return major
}

// toldLines is how much of what a program says last is kept for an error.
const toldLines = 12

// run runs a program of Postgres to its end and hands on each line that it says of its work.
func run(ctx context.Context, to target, said func(line string), program string, args ...string) error {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "OSTRAKA_") || strings.HasPrefix(v, "PGPASSWORD=") })
	cmd.Env = append(cmd.Env, to.environment()...)
	// Ctrl-C is ours to answer: a program that it reached as well would say that it failed.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = stopTime
	talk, err := cmd.StderrPipe()
	if err != nil {
		return fmt.Errorf("starting %s: %w", filepath.Base(program), err)
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("starting %s: %w", filepath.Base(program), err)
	}
	var last []string
	lines := bufio.NewScanner(talk)
	for lines.Scan() {
		said(lines.Text())
		if last = append(last, lines.Text()); len(last) > toldLines {
			last = last[1:]
		}
	}
	err = errors.Join(lines.Err(), cmd.Wait())
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		return fmt.Errorf("%s: %w; it said: %s", filepath.Base(program), err, strings.Join(last, "; "))
	}
	return nil
}
