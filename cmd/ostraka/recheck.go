//go:build linux

package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/spf13/pflag"

	"github.com/ostraka/ostraka/functions/tenant"
	"github.com/ostraka/ostraka/queue"
	"github.com/ostraka/ostraka/runtime/docker"
	"github.com/ostraka/ostraka/runtime/python"
	"github.com/ostraka/ostraka/runtime/recheck"
	"github.com/ostraka/ostraka/runtime/tree"
)

// Where a server executes shards again.
const (
	recheckAuto   = "auto"   // containers where a Docker daemon answers, else recheckLinux where it is available, else recheckNone
	recheckDocker = "docker" // containers; a daemon that is away delays rechecks
	recheckLinux  = "linux"  // the agents' strongest level on this machine
	recheckNone   = "none"
)

// recheckAskLimit is how long a server that starts waits for a Docker daemon to say that it is there.
const recheckAskLimit = 5 * time.Second

// recheckConfig says how a server executes shards again.
type recheckConfig struct {
	Sandbox       string // one of the above; empty: recheckNone
	Image         string
	DockerHost    string
	Warm          int
	Concurrent    int
	RequireGVisor bool
	Seconds       int64          // that a project has on one day; 0: any number
	Volumes       []string       // NAME=FOLDER, and the projects that it is for
	Optional      bool           // an unavailable sandbox is no error
	Python        python.Options // of the interpreter
}

func (c *recheckConfig) register(f *pflag.FlagSet, sandbox string) {
	f.StringVar(&c.Sandbox, "recheck-sandbox", sandbox, "where this server executes shards again: docker, linux (the agents' strongest level), none, or auto (docker where a daemon answers, else linux, else none)")
	f.StringVar(&c.Image, "recheck-image", "", "image for rechecks in Docker, by its digest (sha256:…); left out: one that is made from this program")
	f.StringVar(&c.DockerHost, "docker-host", "", "Docker daemon, such as unix:///var/run/docker.sock (or DOCKER_HOST)")
	f.IntVar(&c.Warm, "recheck-warm", 1, fmt.Sprintf("how many containers wait, started: 0 to %d", docker.MaxWarm))
	f.IntVar(&c.Concurrent, "recheck-concurrent", max(1, runtime.NumCPU()/2), fmt.Sprintf("how many batches of rechecks of a project run at a time, and one more of others: 1 to %d; half as many besides, at least one, of functions with a wall limit above 5 minutes", docker.MaxConcurrent))
	f.Int64Var(&c.Seconds, "recheck-seconds", 0, "for how many seconds a day servers execute a project's shards at most, all servers together; 0: for as many as it takes. project set --recheck-seconds says it for one project")
	f.StringArrayVar(&c.Volumes, "recheck-volume", nil, "NAME=FOLDER, a volume that functions find here when this server executes their shards (docs/volumes.md), or NAME=FOLDER,PROJECT,… for some projects only; may be repeated; in Docker the daemon must be on this machine")
	f.BoolVar(&c.RequireGVisor, "recheck-gvisor", false, "execute shards in gVisor or not at all")
}

// imageByDigest is what names one image and never another.
var imageByDigest = regexp.MustCompile(`(^|@)sha256:[0-9a-f]{64}$`)

// complete checks the flags.
func (c *recheckConfig) complete(t *terminal) error {
	switch {
	case !slices.Contains([]string{recheckAuto, recheckDocker, recheckLinux, recheckNone}, c.Sandbox):
		return usageError("--recheck-sandbox %q: choose auto, docker, linux or none", c.Sandbox)
	case c.Image != "" && !imageByDigest.MatchString(c.Image):
		return usageError("--recheck-image %s: a name can come to mean another image, so give its digest: sha256: and 64 hexadecimal digits", c.Image)
	case c.Warm < 0 || c.Warm > docker.MaxWarm:
		return usageError("--recheck-warm is %d: 0 to %d containers can wait", c.Warm, docker.MaxWarm)
	case c.Concurrent < 1 || c.Concurrent > docker.MaxConcurrent:
		return usageError("--recheck-concurrent is %d: 1 to %d are possible", c.Concurrent, docker.MaxConcurrent)
	case c.Seconds < 0 || c.Seconds > tenant.MaxRecheckSeconds:
		return usageError("--recheck-seconds is %d: 1 to %d seconds a day, or 0", c.Seconds, tenant.MaxRecheckSeconds)
	case c.RequireGVisor && c.Sandbox != recheckDocker:
		return usageError("--recheck-gvisor needs --recheck-sandbox docker")
	}
	if _, err := recheckVolumes(c.Volumes); err != nil {
		return err
	}
	if len(c.Volumes) > 0 && c.Sandbox == recheckNone {
		return usageError("--recheck-volume needs a --recheck-sandbox: without one this server executes no shards")
	}
	c.Python.Dir = t.env(pythonDirVariable) // else in the user's cache, where there is one
	return nil
}

// room is how many sandboxes there may be at a time: those of functions that may take long run beside the others, and there is always one
// that no single project can take.
func (c recheckConfig) room() int { return min(recheck.Room(c.Concurrent), docker.MaxConcurrent) }

// rechecks says whether this process works the queue of rechecks.
func (c serverConfig) rechecks() bool {
	return c.Recheck.Sandbox != "" && c.Recheck.Sandbox != recheckNone && (c.Queues == nil || slices.Contains(c.Queues, queue.QueueRecheck))
}

// openRechecker opens the sandbox in which this server executes shards again; nil: in none.
func (p *parts) openRechecker(ctx context.Context, config serverConfig) (recheck.Executor, error) {
	if !config.rechecks() {
		return nil, nil //nolint:nilnil // no sandbox is what was asked for
	}
	dir, err := makeRecheckDir(config)
	if err != nil {
		return nil, fmt.Errorf("making a folder for rechecks: %w", err)
	}
	p.onClose(func(context.Context) error { return dir.remove() })
	x, err := chooseRechecker(ctx, config, dir.path)
	if err != nil && (config.Recheck.Sandbox == recheckAuto || config.Recheck.Optional) && ctx.Err() == nil {
		config.Log.Warn("this server executes no shards itself: there is no sandbox for it", "error", err)
		return nil, nil //nolint:nilnil // as above
	}
	if err != nil {
		return nil, &exitError{code: exitFailed, err: err, hint: "choose another --recheck-sandbox, or none"}
	}
	modules, err := recheck.NewModules(filepath.Join(dir.path, "compiled"), config.Recheck.room(), config.Log)
	if err != nil {
		return nil, errors.Join(err, x.Close())
	}
	trees, err := tree.NewCache(filepath.Join(dir.path, "runtimes"), tree.DefaultCacheBytes, config.Log)
	if err != nil {
		return nil, errors.Join(err, x.Close(), modules.Close())
	}
	both := &recheck.ByRuntime{Executor: x, Modules: modules, Trees: trees}
	p.onClose(func(context.Context) error { return both.Close() })
	return both, nil
}

func chooseRechecker(ctx context.Context, config serverConfig, dir string) (recheck.Executor, error) {
	c := config.Recheck
	tree, err := python.Open(ctx, c.Python)
	if err != nil {
		return nil, err
	}
	hidden := []string{config.CacheDir}
	if config.Objects.Dir != "" {
		hidden = append(hidden, config.Objects.Dir)
	}
	volumes, err := recheckVolumes(c.Volumes)
	if err != nil {
		return nil, err
	}
	if c.Sandbox != recheckLinux {
		x, err := docker.New(docker.Config{
			Host: c.DockerHost, Image: c.Image, Installation: installation(config.DatabaseURL), Dir: dir, Python: tree, Warm: c.Warm, Concurrent: c.room(),
			RequireGVisor: c.RequireGVisor, Hidden: hidden, Volumes: volumes, Log: config.Log,
		})
		if c.Sandbox == recheckDocker {
			return x, err
		}
		if err == nil {
			if err = dockerAnswers(ctx, x); err == nil {
				config.Log.Info("shards are executed again in Docker containers")
				return x, nil
			}
			err = errors.Join(err, x.Close())
		}
		config.Log.Info("shards are not executed again in Docker containers", "reason", err)
	}
	x, err := recheck.NewLocal(ctx, recheck.LocalConfig{Python: tree, Dir: dir, Concurrent: c.room(), Hidden: hidden, Volumes: volumes, Log: config.Log})
	if err != nil {
		return nil, err
	}
	config.Log.Info("shards are executed again in sandboxes of this machine's kernel", "sandbox", x.Describe().String())
	return x, nil
}

// dockerAnswers asks whether there is a daemon. Whether it serves shows in the
// background: a daemon that has to take in an image first needs its time.
func dockerAnswers(ctx context.Context, x *docker.Executor) error {
	ctx, cancel := context.WithTimeout(ctx, recheckAskLimit)
	defer cancel()
	return x.Answers(ctx)
}

// installation tells the containers of this installation from those of others on the same daemon.
func installation(databaseURL string) string {
	name := databaseURL
	if c, err := pgx.ParseConfig(databaseURL); err == nil {
		name = fmt.Sprintf("%s:%d/%s", c.Host, c.Port, c.Database)
	}
	sum := sha256.Sum256([]byte(name))
	return hex.EncodeToString(sum[:6])
}
