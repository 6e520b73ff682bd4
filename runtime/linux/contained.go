//go:build linux

package linux

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/ostraka/ostraka/runtime/bundle"
	"github.com/ostraka/ostraka/runtime/harness"
	"github.com/ostraka/ostraka/runtime/inputdir"
	"github.com/ostraka/ostraka/runtime/volume"
)

// The levels `container` and `gvisor` are made from inside: this process is the
// first one of a container that has namespaces, a read-only root, limits and a
// cgroup already, and adds what a container cannot (Landlock, a filter that says
// ENOSYS, signals that stay within a shard). The container shows the same paths
// as the root of level `linux` does, so that a function cannot tell one from the
// other and the messages of its errors are the same.

// Places beside the workspace that can be written. In the root of level `linux` both lead into the workspace; in a container each is a tmpfs:
// Docker gives /dev one, and gVisor puts one over a /tmp that leads elsewhere. They share the workspace's limits: the harness adds them up.
const (
	shmDir = "/dev/shm" // where the C library keeps named semaphores
	tmpDir = "/tmp"
)

var besideDirs = []string{shmDir, tmpDir}

// oomScore makes the kernel end the function rather than what watches over it.
const oomScore = 1000

// ContainerTasks are the processes and threads of a container that are not the
// function's: those of this process and of a launcher, and the interpreter's own.
const ContainerTasks = 64

// Mounts of a container that the level needs, beside a root that is read-only:
// each a tmpfs; all but the first of the container's user with mode 0700.
type Mounts struct {
	Bundle    string // the bundle, of another user, who writes it once, before there is any user code
	Inputs    string // the files of a shard
	Workspace string
	Beside    []string // /dev/shm and /tmp
	Limits    Quota    // of the last ones, each
}

// Quota is the size of a tmpfs.
type Quota struct{ Bytes, Inodes int64 }

// ContainerMounts are those for a function.
func ContainerMounts(m bundle.Manifest) Mounts {
	s := Sandbox{manifest: m}
	q := s.quota()
	return Mounts{Bundle: bundleDir, Inputs: inputsDir, Workspace: workDir, Beside: besideDirs, Limits: Quota(q)}
}

// ContainerMemory is what the cgroup of a container must hold for a function,
// its mounts and the interpreter included, and this program not.
func ContainerMemory(m bundle.Manifest) int64 {
	q := ContainerMounts(m).Limits
	return interpreterBytes + m.Limits.MemoryBytes + int64(1+len(besideDirs))*q.Bytes + marginBytes
}

// Paths of a container's image, the same as in the root of level `linux`.
const (
	ContainerPython = pythonDir
	ContainerHost   = hostName
)

func (r *Runner) prepareContained() (err error) {
	r.root = false
	if r.binds, r.python, err = visible(r.cfg.Python, true); err != nil {
		return err
	}
	if r.abi, err = landlockABI(); err != nil {
		r.abi = 0 // the container's own walls stand
	}
	h, err := findHierarchy()
	if err == nil {
		r.own = &group{h: h}
		_, err = r.own.Account()
	}
	if err == nil {
		return nil
	}
	r.own = nil
	if r.cfg.Level == bundle.GVisor {
		return nil // its kernel counts by itself, and shows nothing
	}
	return fmt.Errorf("the container's limits cannot be seen, so perhaps there are none: %w", err)
}

// Landlock is the version of the kernel's ABI that sandboxes are under; 0: none.
func (r *Runner) Landlock() int { return r.abi }

// Load makes the sandbox of a container before anybody knows its function: the walls stand, and the interpreter waits. It has the usual
// settings; Import starts another one where a function is to have others.
func (r *Runner) Load(ctx context.Context) (*Sandbox, error) {
	if !r.contained() {
		return nil, fmt.Errorf("loading a sandbox: level %q makes them with their function", r.Level())
	}
	s := &Sandbox{runner: r, name: groupName(r.count.Add(1)), files: -1, inputs: inputdir.At(inputsDir)}
	if err := s.load(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("loading a sandbox: %w", err), s.Close())
	}
	return s, nil
}

func (s *Sandbox) load(ctx context.Context) (err error) {
	entries, err := os.ReadDir(bundleDir)
	if err != nil {
		return err
	}
	if len(entries) > 0 {
		return errors.New("this container has served a function already")
	}
	if err := s.inputs.Empty(); err != nil {
		return err
	}
	if s.loaded, err = harness.Load(ctx, s.config("", harness.Settings{})); err != nil {
		return errors.Join(s.complaint(), err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.listen()
}

// Import gives a sandbox that was loaded its function, once. The bundle lies in the container already, where another user has put it.
func (s *Sandbox) Import(ctx context.Context, b *bundle.Bundle, settings harness.Settings) error {
	if err := s.importBundle(ctx, b, settings); err != nil {
		return fmt.Errorf("importing %s: %w", b.Manifest.Name, err)
	}
	return nil
}

func (s *Sandbox) importBundle(ctx context.Context, b *bundle.Bundle, settings harness.Settings) error {
	if s.loaded == nil {
		return errors.New("this sandbox has a function already")
	}
	if err := s.runner.suits(b); err != nil {
		return err
	}
	if err := settings.CheckVolumes(b.Manifest.Volumes); err != nil {
		return err
	}
	if err := unix.Access(bundleDir, unix.W_OK); err == nil {
		return errors.New("the function could change its own code: " + bundleDir + " belongs to its user")
	}
	loaded := s.loaded
	s.loaded, s.manifest = nil, b.Manifest
	session, err := loaded.Start(ctx, s.config(b.Digest, settings))
	if err != nil {
		return errors.Join(s.complaint(), err)
	}
	s.session = session
	return s.settle()
}

// unsettleContained makes room for a launcher, and an empty workspace.
func (s *Sandbox) unsettleContained() error {
	s.ballast.drop()
	s.workspace.Store(workDir)
	for _, dir := range append([]string{workDir}, besideDirs...) {
		if err := unix.Chmod(dir, 0o700); err != nil {
			return fmt.Errorf("opening the workspace: %w", err)
		}
		if err := volume.Scrub(dir); err != nil {
			return err
		}
	}
	return s.refreshContained()
}

// settleContained takes up the room that the function must not have: the
// container's limit of processes counts those of this program as well.
func (s *Sandbox) settleContained() error {
	if s.runner.own == nil {
		return nil
	}
	// Once and again before every shard: Go starts a thread when it likes.
	most, err := readNumber(s.runner.own.file(pidsController, "pids.max"))
	if err != nil {
		return fmt.Errorf("reading the container's limit of processes: %w", err)
	}
	return s.ballast.fill(most - s.manifest.Limits.Pids - ownProcesses)
}

// refreshContained empties the container's mounts.
func (s *Sandbox) refreshContained() error {
	if len(s.ballast.threads) > 0 { // a function is there already
		if err := s.settleContained(); err != nil {
			return err
		}
	}
	if err := unix.Chmod(workDir, 0o700); err != nil {
		return fmt.Errorf("opening the workspace: %w", err)
	}
	work, err := os.OpenRoot(workDir)
	if err != nil {
		return fmt.Errorf("opening the workspace: %w", err)
	}
	defer work.Close()
	if err := wipe(work); err != nil {
		return fmt.Errorf("%w: %w", errTangled, err)
	}
	for _, dir := range besideDirs {
		if err := empty(dir); err != nil {
			return err
		}
	}
	return nil
}

// empty removes all that lies in a folder, whatever its mode is now.
func empty(dir string) error {
	if err := unix.Chmod(dir, 0o700); err != nil {
		return fmt.Errorf("opening the workspace: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("opening the workspace: %w", err)
	}
	defer root.Close()
	entries, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return fmt.Errorf("%w: %w", errTangled, err)
	}
	for _, e := range entries {
		if err := removeTree(root, e.Name(), 0); err != nil {
			return fmt.Errorf("%w: %w", errTangled, err)
		}
	}
	return nil
}

// expendable makes this process and all below it the first to go when the
// container is out of memory.
func (l *launcher) expendable() error {
	if !l.order.Contained {
		return nil
	}
	if err := os.WriteFile("/proc/self/oom_score_adj", []byte(strconv.Itoa(oomScore)), 0); err != nil {
		return fmt.Errorf("putting the function before its supervisor: %w", err)
	}
	return nil
}
