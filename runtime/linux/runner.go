//go:build linux

package linux

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/ostraka/ostraka/runtime/bundle"
	"github.com/ostraka/ostraka/runtime/harness"
	"github.com/ostraka/ostraka/runtime/python"
)

// Config says which sandboxes to make, and from what.
type Config struct {
	Python python.Tree      // the interpreter
	Dir    string           // private folder for the bundles of leases; made when missing
	Level  bundle.Isolation // bundle.Linux, bundle.LinuxNoCgroup or bundle.Landlock; inside a container bundle.Container or bundle.GVisor
}

// Runner opens sandboxes of one level.
type Runner struct {
	cfg    Config
	root   bool        // the agent is root: each sandbox gets a user of its own
	binds  []bind      // the interpreter, its libraries and the devices
	python python.Tree // the interpreter as a sandbox sees it
	groups *hierarchy  // nil without a cgroup
	own    *group      // the container's cgroup, which somebody outside limits; nil where there is none to read
	abi    int         // of Landlock; 0: none
	count  *atomic.Uint64
	// processors is how many processors one sandbox gets at most; 0: all.
	processors *atomic.Int64
}

// On is a runner on another interpreter: a runtime, which a function brings along. It stands behind the same walls, which hold whatever runs
// behind them; only level `linux` has none that the interpreter itself puts up.
func (r *Runner) On(tree python.Tree) (*Runner, error) {
	if r.cfg.Level != bundle.Linux {
		return nil, fmt.Errorf("preparing a runtime: at isolation %q the interpreter itself bounds what a function starts, so it runs none that a function brings along; isolation %q does", r.cfg.Level, bundle.Linux)
	}
	other := *r
	other.cfg.Python = tree
	var err error
	if other.binds, other.python, err = visible(tree, r.namespaces()); err != nil {
		return nil, fmt.Errorf("preparing a runtime: %w", err)
	}
	return &other, nil
}

// Levels are those that this package makes, strongest first.
func Levels() []bundle.Isolation {
	return []bundle.Isolation{bundle.Linux, bundle.LinuxNoCgroup, bundle.Landlock}
}

// New prepares a level. It does not prove it: see Prove.
func New(cfg Config) (*Runner, error) {
	r := &Runner{cfg: cfg, root: os.Geteuid() == 0, count: new(atomic.Uint64), processors: new(atomic.Int64)}
	if err := r.prepare(); err != nil {
		return nil, fmt.Errorf("preparing isolation %q: %w", cfg.Level, err)
	}
	return r, nil
}

func (r *Runner) prepare() (err error) {
	switch {
	case !hooked.Load():
		return errNotHooked
	case !slices.Contains(Levels(), r.cfg.Level) && !r.contained():
		return errors.New("there is no such level here")
	}
	if r.contained() {
		return r.prepareContained()
	}
	if r.cfg.Dir, err = filepath.Abs(r.cfg.Dir); err != nil {
		return err
	}
	if err := os.MkdirAll(r.cfg.Dir, 0o700); err != nil {
		return err
	}
	if r.binds, r.python, err = visible(r.cfg.Python, r.namespaces()); err != nil {
		return err
	}
	r.abi, err = landlockABI()
	if r.cfg.Level == bundle.Landlock {
		if err != nil || r.abi < minLandlock {
			return fmt.Errorf("version %d of Landlock or a later one is needed (Linux 6.2), there is %d", minLandlock, r.abi)
		}
		return r.prepareLandlock()
	}
	if r.cfg.Level == bundle.Linux {
		return r.prepareCgroups()
	}
	return nil
}

func (r *Runner) prepareCgroups() error {
	h, err := findHierarchy()
	if err != nil {
		return err
	}
	for _, c := range []string{memoryController, pidsController} {
		if h.folder(c) == "" {
			return fmt.Errorf("there is no cgroup controller %q here", c)
		}
	}
	if err := h.prepare(); err != nil {
		return err
	}
	if err := h.removeLeftovers(); err != nil {
		return err
	}
	r.groups = h
	g, err := h.newGroup(groupName(r.count.Add(1))) // whether it can be made is known only when it has been
	if err != nil {
		return err
	}
	return errors.Join(g.limitPids(1), g.limitMemory(64<<20), g.remove())
}

// LimitProcessors is how many processors one sandbox gets at most, from the next one that is opened on; 0: all. Only a
// cgroup holds sandboxes to it; besides, none leaves the processors that this process was bound to when the sandbox was opened.
func (r *Runner) LimitProcessors(n int) { r.processors.Store(int64(max(0, n))) }

// namespaces says that sandboxes get namespaces, a root and a workspace of their own from us.
func (r *Runner) namespaces() bool { return r.cfg.Level != bundle.Landlock && !r.contained() }

// contained says that a container around this process has them already.
func (r *Runner) contained() bool {
	return r.cfg.Level == bundle.Container || r.cfg.Level == bundle.GVisor
}

// Level is the isolation that sandboxes of this runner have.
func (r *Runner) Level() bundle.Isolation { return r.cfg.Level }

// visible lists what sandboxes show of the host, and gives the interpreter as it
// is in them.
func visible(tree python.Tree, namespaces bool) ([]bind, python.Tree, error) {
	var binds []bind
	inside := tree
	for _, path := range tree.Paths {
		b, err := show(path)
		if err != nil {
			return nil, inside, err
		}
		if tree.Dir != "" && path == tree.Dir && namespaces { // it works wherever it lies, and the host's path is the host's affair
			b.Target = pythonDir
			inside = tree.At(pythonDir)
		}
		binds = append(binds, b)
	}
	for _, path := range tree.Libraries {
		b, err := show(path)
		if err != nil {
			return nil, inside, err
		}
		binds = append(binds, b)
	}
	binds = withoutInner(binds)
	for _, path := range devices {
		binds = append(binds, bind{Source: path, Target: path, Device: true})
	}
	return binds, inside, nil
}

func show(path string) (bind, error) {
	source, err := filepath.EvalSymlinks(path)
	if err != nil {
		return bind{}, fmt.Errorf("finding what the interpreter needs: %w", err)
	}
	info, err := os.Stat(source)
	if err != nil {
		return bind{}, fmt.Errorf("finding what the interpreter needs: %w", err)
	}
	return bind{Source: source, Target: path, Dir: info.IsDir(), Exec: true}, nil
}

// withoutInner leaves out what another one shows already.
func withoutInner(binds []bind) []bind {
	var out []bind
	for i, b := range binds {
		inner := slices.ContainsFunc(binds, func(o bind) bool {
			return o.Dir && strings.HasPrefix(b.Target, strings.TrimSuffix(o.Target, "/")+"/")
		})
		again := slices.ContainsFunc(binds[:i], func(o bind) bool { return o.Target == b.Target })
		if !inner && !again {
			out = append(out, b)
		}
	}
	return out
}

// Open makes a sandbox and imports the function in it. It refuses a function
// that asks for a stronger level. In a container Load and Import do the same in two steps.
func (r *Runner) Open(ctx context.Context, b *bundle.Bundle, settings harness.Settings) (*Sandbox, error) {
	if r.contained() {
		return nil, fmt.Errorf("opening a sandbox for %s: the one of a container is loaded before its function is known", b.Manifest.Name)
	}
	if err := r.suits(b); err != nil {
		return nil, fmt.Errorf("opening a sandbox for %s: %w", b.Manifest.Name, err)
	}
	if err := settings.CheckVolumes(b.Manifest.Volumes); err != nil {
		return nil, fmt.Errorf("opening a sandbox for %s: %w", b.Manifest.Name, err)
	}
	s := &Sandbox{runner: r, manifest: b.Manifest, name: groupName(r.count.Add(1)), files: -1, volumes: settings.Volumes}
	if err := s.open(ctx, b, settings); err != nil {
		return nil, errors.Join(fmt.Errorf("opening a sandbox for %s: %w", b.Manifest.Name, err), s.Close())
	}
	return s, nil
}

// suits tells whether sandboxes of the level are good enough for a function.
func (r *Runner) suits(b *bundle.Bundle) error {
	if !r.Level().AtLeast(b.Manifest.MinIsolation) {
		return fmt.Errorf("it asks for isolation %q, this one is only %q", b.Manifest.MinIsolation, r.Level())
	}
	return nil
}
