//go:build linux

package docker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/docker/docker/client"
	"github.com/google/uuid"

	"github.com/ostraka/ostraka/runtime/bundle"
	"github.com/ostraka/ostraka/runtime/harness"
	"github.com/ostraka/ostraka/runtime/linux"
	"github.com/ostraka/ostraka/runtime/recheck"
)

const (
	// askTime is how long a daemon may take to answer a question.
	askTime = 10 * time.Second
	// gvisorRuntime is what gVisor is called in a daemon's configuration.
	gvisorRuntime = "runsc"
)

// engine is a daemon that has our image and whose containers held a canary.
type engine struct {
	cfg        Config
	client     *client.Client
	owner      owner
	log        *slog.Logger
	version    string
	runtime    string // empty: the daemon's default
	level      bundle.Isolation
	image      string
	processors int
	cgroups    string // version
	remapped   bool   // containers have only the first 65,536 user numbers

	description recheck.Description
	runtimes    runtimeImages
}

// newClient speaks to the daemon that the configuration names.
func newClient(host string) (*client.Client, error) {
	opts := []client.Opt{client.WithAPIVersionNegotiation()}
	if host != "" {
		opts = append(opts, client.WithHost(host))
	} else {
		opts = append(opts, client.FromEnv)
	}
	c, err := client.NewClientWithOpts(opts...)
	if err != nil {
		return nil, fmt.Errorf("naming the Docker daemon: %w", err)
	}
	return c, nil
}

// connect makes an engine: it asks the daemon what it has, sees to the image,
// removes what was left over, and lets a canary loose.
func connect(ctx context.Context, cfg Config, c *client.Client) (*engine, error) {
	e := &engine{cfg: cfg, client: c, owner: thisProcess(), log: cfg.Log, level: bundle.Container}
	e.runtimes.made = map[string]string{}
	hasGVisor, err := e.ask(ctx)
	if err != nil {
		return nil, err
	}
	if err := e.provide(ctx); err != nil {
		return nil, err
	}
	if err := e.findRuntimeImages(ctx); err != nil {
		return nil, err
	}
	removed, err := e.removeLeftovers(ctx)
	if err != nil {
		e.log.Warn("removing containers that were left over", "error", err)
	} else if removed > 0 {
		e.log.Info("removed containers that were left over", "containers", removed)
	}
	if hasGVisor {
		e.level, e.runtime = bundle.GVisor, gvisorRuntime
		if err = e.prove(ctx); err == nil {
			return e, nil
		}
		if cfg.RequireGVisor {
			return nil, fmt.Errorf("proving gVisor: %w", err)
		}
		e.log.Warn("the Docker daemon has gVisor, but it does not serve: rechecks go without it", "error", err)
		e.level, e.runtime = bundle.Container, ""
	} else if cfg.RequireGVisor {
		return nil, &recheck.Error{Class: recheck.Broken, Err: errors.New("gVisor is required and the Docker daemon has no runtime " + gvisorRuntime), Hint: "add it to the daemon's configuration"}
	}
	if err := e.prove(ctx); err != nil {
		return nil, err
	}
	return e, nil
}

// ask learns what the daemon can do, and refuses one that holds no limits.
func (e *engine) ask(ctx context.Context) (hasGVisor bool, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, askTime, errSlow)
	defer cancel()
	info, err := e.client.Info(ctx)
	if err != nil {
		return false, fmt.Errorf("asking the Docker daemon what it has: %w", err)
	}
	missing := ""
	switch {
	case info.OSType != "linux":
		missing = "it runs " + info.OSType + " containers, and Linux's are needed"
	case !info.MemoryLimit:
		missing = "it cannot limit memory"
	case !info.PidsLimit:
		missing = "it cannot limit processes"
	case !info.SwapLimit && info.CgroupVersion == "1":
		missing = "it cannot limit swap"
	}
	if missing != "" {
		return false, &recheck.Error{Class: recheck.Broken, Err: errors.New("the Docker daemon is no good for rechecks: " + missing), Hint: "use another one, or --recheck-sandbox linux"}
	}
	e.version, e.processors, e.cgroups = info.ServerVersion, info.NCPU, info.CgroupVersion
	for _, option := range info.SecurityOptions {
		if strings.Contains(option, "name=userns") || strings.Contains(option, "name=rootless") {
			e.remapped = true
		}
	}
	_, hasGVisor = info.Runtimes[gvisorRuntime]
	return hasGVisor && !e.cfg.withoutGVisor, nil
}

// provide sees to the image.
func (e *engine) provide(ctx context.Context) (err error) {
	if e.cfg.Image != "" {
		e.image, err = pinned(ctx, e.client, e.cfg.Image)
		return err
	}
	all, err := parts(e.cfg.Python, e.cfg.Program)
	if err != nil {
		return fmt.Errorf("making the image: %w", err)
	}
	b, err := build(all)
	if err != nil {
		return err
	}
	if e.image, err = b.provide(ctx, e.client); err != nil {
		return err
	}
	if err := succeed(ctx, e.client, e.image, e.cfg.Installation); err != nil {
		e.log.Warn("removing the image before this one", "error", err)
	}
	return nil
}

// prove lets a canary loose in a container, and learns from it what results are made in.
func (e *engine) prove(ctx context.Context) error {
	canary, err := linux.NewCanary(ctx, e.cfg.Dir, e.cfg.Hidden...)
	if err != nil {
		return fmt.Errorf("laying out bait: %w", err)
	}
	defer canary.Remove()
	box, err := e.start(ctx, shapeOf(canary.Bundle, 0))
	if err != nil {
		return err
	}
	defer func() {
		if err := box.Close(); err != nil {
			e.log.Warn("removing the canary's container", "error", err)
		}
	}()
	input, err := canary.Input(linux.Walls{
		Namespaces: true, BoundedThreads: true, Watched: e.level == bundle.GVisor, Landlock: box.ready.Landlock > 0, Scoped: box.ready.Landlock >= linux.ScopesABI,
		HostName: linux.ContainerHost, Variables: harness.Variables(),
	})
	if err != nil {
		return err
	}
	results, err := box.run(ctx, recheck.Batch{Project: uuid.New(), Job: uuid.New(), Bundle: canary.Bundle, Shards: []recheck.Shard{{Input: input}}})
	if err != nil {
		return fmt.Errorf("letting a canary loose: %w", err)
	}
	escapes, err := canary.Escapes(results[0])
	if err == nil && len(escapes) > 0 {
		err = &linux.CanaryError{Level: e.level, Escapes: escapes}
	}
	if err != nil {
		return &recheck.Error{Class: recheck.Broken, Err: err, Hint: "use another Docker daemon, or --recheck-sandbox linux"}
	}
	e.description = recheck.Description{
		Level: e.level, Image: e.image, Interpreter: results[0].Interpreter, Libc: results[0].Libc, Platform: results[0].Platform,
		Runtime: e.runtimeName() + " (Docker " + e.version + ")",
	}
	return nil
}

func (e *engine) runtimeName() string {
	if e.runtime != "" {
		return e.runtime
	}
	return "runc"
}

// ownProgram is this program as a file that can be read.
func ownProgram() (string, error) {
	if runtime.GOOS != "linux" {
		return "", errors.New("containers are made on Linux only")
	}
	return os.Executable()
}
