//go:build linux

package linux

import (
	"context"
	"crypto/rand"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ostraka/ostraka/runtime/bundle"
	"github.com/ostraka/ostraka/runtime/harness"
)

//go:embed canary/function.toml canary/main.py
var canaryFiles embed.FS

// canaryTime is how long a canary may take, its sandbox's start included. It
// takes well under a second on an idle machine.
const canaryTime = 2 * time.Minute

// Escape is something that a canary reached and must not reach.
type Escape struct {
	Attempt string `json:"attempt"`
	Reached string `json:"reached"`
}

// CanaryError says that a level does not hold.
type CanaryError struct {
	Level   bundle.Isolation
	Escapes []Escape
}

// Error implements error.
func (e *CanaryError) Error() string {
	var what []string
	for _, x := range e.Escapes {
		what = append(what, x.Attempt+": "+x.Reached)
	}
	return fmt.Sprintf("isolation %q does not hold on this machine: %s", e.Level, strings.Join(what, "; "))
}

// Prove runs a canary in a sandbox of the runner's level that tries to get out.
// It returns a CanaryError when it could, and another error when it could not
// be run. Hidden are files and folders that no function may read, beside bait
// of its own: the agent's key, its data folder.
func (r *Runner) Prove(ctx context.Context, hidden ...string) error {
	ctx, cancel := context.WithTimeout(ctx, canaryTime)
	defer cancel()
	c, err := NewCanary(ctx, r.cfg.Dir, hidden...)
	if err != nil {
		return fmt.Errorf("proving isolation %q: %w", r.Level(), err)
	}
	defer c.Remove()
	escapes, err := r.release(ctx, c)
	switch {
	case err != nil:
		return fmt.Errorf("proving isolation %q: %w", r.Level(), err)
	case len(escapes) > 0:
		return &CanaryError{Level: r.Level(), Escapes: escapes}
	}
	return nil
}

// Canary is a function that tries to get out of the sandbox that it runs in,
// and the bait that is laid out for it on this machine.
type Canary struct {
	Bundle *bundle.Bundle
	bait   *bait
	dir    string // the sandboxes' own, which it must not see either
	hidden []string
}

// Walls are what a canary is told to hold its sandbox to.
type Walls struct {
	Namespaces     bool     `json:"namespaces"`      // of its own, and a file system of its own to write to
	Alone          bool     `json:"alone"`           // no process may be started
	BoundedThreads bool     `json:"bounded_threads"` // nor threads without end
	Landlock       bool     `json:"landlock"`        // what its root shows is not all that it may open
	Watched        bool     `json:"watched"`         // too many processes or files, or too much memory, end a shard by the watchdog; the kernel refuses none of it
	Scoped         bool     `json:"scoped"`          // signals do not leave the shard
	HostName       string   `json:"host_name"`
	Variables      []string `json:"variables"` // those that may be seen
}

// NewCanary packs a canary, in dir, and lays out bait. Remove takes it away.
func NewCanary(ctx context.Context, dir string, hidden ...string) (*Canary, error) {
	b, err := canaryBundle(dir)
	if err != nil {
		return nil, err
	}
	bait, err := layBait(ctx)
	if err != nil {
		return nil, err
	}
	return &Canary{Bundle: b, bait: bait, dir: dir, hidden: hidden}, nil
}

// Remove takes the bait away.
func (c *Canary) Remove() { c.bait.remove() }

// Input is what the canary is told.
func (c *Canary) Input(w Walls) ([]byte, error) {
	secrets, folders := []string{c.bait.secret}, []string{c.bait.dir, c.dir}
	for _, path := range c.hidden {
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			folders = append(folders, path)
		} else {
			secrets = append(secrets, path)
		}
	}
	if w.Variables == nil {
		w.Variables = []string{}
	}
	return json.Marshal(struct {
		Walls
		Secrets  []string `json:"secrets"`
		Folders  []string `json:"folders"`
		Marker   string   `json:"marker"`
		TCP      []any    `json:"tcp"`
		Unix     string   `json:"unix"`
		Abstract string   `json:"abstract"`
		PIDs     []int    `json:"pids"`
	}{w, secrets, folders, c.bait.marker, c.bait.tcp(), filepath.Join(c.bait.dir, "socket"), c.bait.marker, []int{os.Getpid(), os.Getppid()}})
}

// Escapes reads what the canary says that it reached, and looks for the traces
// that it left, whatever it says.
func (c *Canary) Escapes(got harness.Result) (escapes []Escape, err error) {
	if got.Status != harness.StatusOK {
		return nil, fmt.Errorf("the canary ended with %s: %+v %s", got.Status, got.Exception, got.StderrTail)
	}
	var attempts []struct {
		Attempt string  `json:"attempt"`
		Escaped *string `json:"escaped"`
	}
	if err := json.Unmarshal([]byte(got.Output), &attempts); err != nil {
		return nil, fmt.Errorf("reading what the canary says: %w", err)
	}
	for _, a := range attempts {
		if a.Escaped != nil {
			escapes = append(escapes, Escape{a.Attempt, *a.Escaped})
		}
	}
	if n := c.bait.reached.Load(); n > 0 {
		escapes = append(escapes, Escape{"connecting", fmt.Sprintf("%d connections have come in", n)})
	}
	for _, dir := range []string{c.bait.dir, c.dir, "/", "/tmp", "/var/tmp", "/etc", "/root", "/dev", "/dev/shm"} {
		if _, err := os.Lstat(filepath.Join(dir, c.bait.marker)); err == nil {
			escapes = append(escapes, Escape{"writing outside", "a file was made in " + dir})
		}
	}
	return escapes, nil
}

// canaryBundle packs the canary as any function is packed.
func canaryBundle(dir string) (*bundle.Bundle, error) {
	tmp, err := os.MkdirTemp(dir, "canary-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(tmp) }() // the agent clears its folder at the next start
	files, err := fs.Sub(canaryFiles, "canary")
	if err != nil {
		return nil, err
	}
	if err := os.CopyFS(filepath.Join(tmp, "canary"), files); err != nil {
		return nil, err
	}
	return bundle.Pack(filepath.Join(tmp, "canary"))
}

// bait is what a canary tries to reach.
type bait struct {
	dir       string
	secret    string
	marker    string
	listeners []net.Listener
	reached   atomic.Int64
}

const (
	baitName = "ostraka-bait-"
	// baitTTL is the age of bait that is no longer in use: a canary is out for seconds.
	baitTTL = time.Hour
)

// sweepBait takes away what agents have left that were killed while a canary was out.
func sweepBait() {
	left, _ := filepath.Glob(filepath.Join(os.TempDir(), baitName+"*"))
	for _, dir := range left {
		if info, err := os.Lstat(dir); err == nil && info.IsDir() && time.Since(info.ModTime()) > baitTTL {
			_ = os.RemoveAll(dir) // another user's stays: theirs to sweep
		}
	}
}

// maxSocketPath is the longest path that the kernel gives a socket, in bytes:
// sun_path without its closing zero.
const maxSocketPath = 107

// layBait makes a secret file, and listens where nothing may connect.
func layBait(ctx context.Context) (*bait, error) {
	sweepBait()
	// Another folder than the system's would make a socket's path too long.
	dir, err := os.MkdirTemp("", baitName)
	if err != nil {
		return nil, err
	}
	b := &bait{marker: "ostraka-canary-" + rand.Text(), dir: dir, secret: filepath.Join(dir, "secret")}
	if err := b.lay(ctx); err != nil {
		b.remove()
		return nil, err
	}
	return b, nil
}

func (b *bait) lay(ctx context.Context) error {
	// Readable by all: only the walls may be the reason that nobody reads it.
	if err := os.Chmod(b.dir, 0o755); err != nil { //nolint:gosec // that is the point
		return err
	}
	if err := os.WriteFile(b.secret, []byte(rand.Text()), 0o644); err != nil {
		return err
	}
	socket := filepath.Join(b.dir, "socket")
	if len(socket) > maxSocketPath {
		return fmt.Errorf("%q is too long a path for a socket, which may have %d bytes: set TMPDIR to a folder with a shorter name", socket, maxSocketPath)
	}
	var config net.ListenConfig
	for network, address := range map[string][]string{"tcp": {"127.0.0.1:0"}, "unix": {socket, "@" + b.marker}} {
		for _, a := range address {
			l, err := config.Listen(ctx, network, a)
			if err != nil {
				return err
			}
			b.listeners = append(b.listeners, l)
			go b.accept(l)
		}
	}
	return os.Chmod(socket, 0o777) //nolint:gosec // that is the point
}

func (b *bait) accept(l net.Listener) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		b.reached.Add(1)
		c.Close()
	}
}

func (b *bait) remove() {
	for _, l := range b.listeners {
		l.Close()
	}
	_ = os.RemoveAll(b.dir)
}

func (b *bait) tcp() []any {
	for _, l := range b.listeners {
		if a, ok := l.Addr().(*net.TCPAddr); ok {
			return []any{a.IP.String(), a.Port}
		}
	}
	return nil
}

// release runs the canary and looks for itself as well.
func (r *Runner) release(ctx context.Context, c *Canary) (escapes []Escape, err error) {
	s, err := r.Open(ctx, c.Bundle, harness.Settings{})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	facts, err := c.Input(Walls{
		Namespaces: r.namespaces(), Alone: r.groups == nil, BoundedThreads: r.namespaces() || r.root,
		Landlock: r.namespaces() || r.abi > 0, Scoped: true, HostName: hostName, Variables: s.variables,
	})
	if err != nil {
		return nil, err
	}
	got, err := s.Run(ctx, 0, facts)
	if err != nil {
		return nil, err
	}
	if escapes, err = c.Escapes(got); err != nil {
		return nil, err
	}
	return append(escapes, r.shared(s)...), nil
}

// shared are namespaces that the sandbox has in common with this process.
func (r *Runner) shared(s *Sandbox) (escapes []Escape) {
	pid := s.Target().PID
	if !r.namespaces() || pid == 0 {
		return nil
	}
	for _, ns := range []string{"user", "mnt", "pid", "net", "ipc", "uts", "cgroup"} {
		var ours, theirs unix.Stat_t
		if unix.Stat("/proc/self/ns/"+ns, &ours) != nil || unix.Stat(fmt.Sprintf("/proc/%d/ns/%s", pid, ns), &theirs) != nil {
			continue // an ordinary user may not look at a process that hides
		}
		if ours.Ino == theirs.Ino {
			escapes = append(escapes, Escape{"namespaces", "the " + ns + " namespace is the agent's"})
		}
	}
	return escapes
}
