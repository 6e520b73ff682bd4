package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// A process has the machine's clock, and a machine has one. So that the clock of one process may be stepped, the program is built once more
// with a standard library whose time.Now adds what a file says. The program that ships knows nothing of it.
const (
	// clockEnv names the file to a process: how many seconds its clock is ahead of the machine's.
	clockEnv = "OSTRAKA_CHAOS_CLOCK"
	// farthestStep is how far a clock is stepped, forward or back.
	farthestStep = 30 * time.Minute
)

// steppedNow is what becomes of time.Now, of which nowBegins is the beginning.
const (
	nowBegins  = "func Now() Time {\n\tsec, nsec, mono := runtimeNow()\n"
	steppedNow = "// ChaosSeconds are added to what the machine's clock says.\nvar ChaosSeconds int64\n\n" + nowBegins + "\tsec += ChaosSeconds\n"
)

// followFile is a file of the program that makes its clock follow the file.
const followFile = `package main

import (
	"os"
	"strconv"
	"strings"
	"time"
)

func init() {
	path := os.Getenv("` + clockEnv + `")
	if path == "" {
		return
	}
	go func() {
		for {
			text, err := os.ReadFile(path)
			if n, wrong := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64); err == nil && wrong == nil {
				time.ChaosSeconds = n
			}
			time.Sleep(20 * time.Millisecond)
		}
	}()
}
`

// errNoClock is why no clock can be stepped here.
var errNoClock = errors.New("this version of Go has another time.Now")

// buildStepped builds the program with a clock that can be stepped, from the module in the folder.
func buildStepped(ctx context.Context, module, dir string) (binary string, err error) {
	root, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
	if err != nil {
		return "", fmt.Errorf("looking for Go's sources: %w", err)
	}
	original := filepath.Join(strings.TrimSpace(string(root)), "src", "time", "time.go")
	source, err := os.ReadFile(original)
	if err != nil {
		return "", err
	}
	patched := strings.Replace(string(source), nowBegins, steppedNow, 1)
	if patched == string(source) {
		return "", errNoClock
	}
	if module, err = filepath.Abs(module); err != nil {
		return "", err
	}
	replaced := map[string]string{}
	for path, text := range map[string]string{original: patched, filepath.Join(module, "cmd", "ostraka", "chaos_clock.go"): followFile} {
		with := filepath.Join(dir, filepath.Base(path)+".txt")
		if err := os.WriteFile(with, []byte(text), 0o600); err != nil {
			return "", err
		}
		replaced[path] = with
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replaced})
	if err != nil {
		return "", err
	}
	list := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(list, overlay, 0o600); err != nil {
		return "", err
	}
	binary = filepath.Join(dir, "ostraka-stepped")
	build := exec.CommandContext(ctx, "go", "build", "-overlay", list, "-o", binary, "./cmd/ostraka")
	build.Dir, build.Env = module, append(os.Environ(), "CGO_ENABLED=0")
	if said, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building the program with a clock that can be stepped: %w: %s", err, said)
	}
	return binary, nil
}

// clock is that of one process, which keeps it when it is started again.
type clock struct{ path string }

func newClock(dir, name string) clock { return clock{filepath.Join(dir, "clock-"+name)} }

// env makes a process follow the clock.
func (c clock) env() string { return clockEnv + "=" + c.path }

// set steps the clock to so far from the machine's. A process never reads half a file.
func (c clock) set(ahead time.Duration) error {
	next := c.path + ".next"
	if err := os.WriteFile(next, []byte(strconv.FormatInt(int64(ahead/time.Second), 10)), 0o600); err != nil {
		return err
	}
	return os.Rename(next, c.path)
}

// stepClock steps the clock of a server or an agent, forward or back, and after a while to where it was.
func stepClock(_ context.Context, w *world, random *rand.Rand) error {
	c := w.clocks[random.IntN(len(w.clocks))]
	ahead := time.Duration(random.Int64N(int64(2*farthestStep))) - farthestStep
	w.say("    %s by %v", filepath.Base(c.path), ahead.Round(time.Second))
	if err := c.set(ahead); err != nil {
		return err
	}
	w.later(random, func() { _ = c.set(0) })
	return nil
}
