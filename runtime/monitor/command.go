package monitor

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

const (
	// CommandLimit is how long a command may take for one alert; then it is killed with everything that it started.
	CommandLimit = 10 * time.Second
	// commandWords is how much of what a command complains about is logged, in bytes.
	commandWords = 1 << 10
	// commandDrain is how long a command's pipes may stay open after it was killed.
	commandDrain = time.Second
)

// Command runs a program for every alert, with the event as JSON on its standard input. There is no shell.
type Command struct {
	path string
	args []string
	time time.Duration
}

// NewCommand makes a handler of a program: an absolute path to a file that can be executed, and arguments that are given as they are.
func NewCommand(path string, args ...string) (*Command, error) {
	if !filepath.IsAbs(path) {
		return nil, fmt.Errorf("the alert command %q: give an absolute path", path)
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("the alert command: %w", err)
	}
	if !info.Mode().IsRegular() || info.Mode().Perm()&0o111 == 0 {
		return nil, fmt.Errorf("the alert command %s is not a program that may be executed: chmod +x", path)
	}
	return &Command{path: path, args: args, time: CommandLimit}, nil
}

// Name implements Handler.
func (c *Command) Name() string { return "command " + c.path }

// Handle implements Handler.
func (c *Command) Handle(ctx context.Context, e Event) error {
	text, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("encoding an alert: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, c.time)
	defer cancel()
	cmd := exec.CommandContext(ctx, c.path, c.args...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME")} // nothing of the agent's own: its token, for one
	cmd.Dir = "/"
	cmd.Stdin = bytes.NewReader(append(text, '\n'))
	words := &firstBytes{max: commandWords}
	cmd.Stderr = words
	cmd.WaitDelay = commandDrain
	ownGroup(cmd)
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return fmt.Errorf("running %s: it was killed after %v", c.path, c.time)
		}
		return fmt.Errorf("running %s: %w: %q", c.path, err, words.text)
	}
	return nil
}

// firstBytes keeps the start of what is written to it.
type firstBytes struct {
	text []byte
	max  int
}

// Write implements io.Writer.
func (f *firstBytes) Write(p []byte) (int, error) {
	f.text = append(f.text, p[:min(len(p), f.max-len(f.text))]...)
	return len(p), nil
}
