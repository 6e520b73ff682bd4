//go:build linux

package docker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/docker/docker/client"

	"github.com/ostraka/ostraka/runtime/harness"
	"github.com/ostraka/ostraka/runtime/python"
	"github.com/ostraka/ostraka/runtime/recheck"
	"github.com/ostraka/ostraka/runtime/volume"
)

const (
	// MaxWarm is how many containers may wait at most: each holds some 50 MB.
	MaxWarm = 16
	// MaxConcurrent is how many batches may be under way at a time.
	MaxConcurrent = 64
	// retryAfter is how long nothing is asked of a daemon that was no good.
	retryAfter = 5 * time.Second
)

// Config says which daemon to use, and how.
type Config struct {
	Host          string      // of the daemon, such as unix:///var/run/docker.sock; empty: what DOCKER_HOST says
	Image         string      // a pinned image instead of one made here, such as sha256:…
	Installation  string      // tells our containers and images from those of other installations; letters, digits and dashes
	Dir           string      // private folder
	Python        python.Tree // the embedded interpreter
	Program       string      // the program of the supervisor; empty: this one
	Warm          int         // how many containers wait, started
	Concurrent    int         // how many batches are under way at a time; what rests between two of one function counts too
	RequireGVisor bool        // nothing less will do
	withoutGVisor bool        // for tests of what it is not
	Hidden        []string    // files and folders that no function may see, for the canary
	Volumes       []volume.Mapping
	Log           *slog.Logger
}

func (c *Config) check() error {
	switch {
	case c.Installation == "":
		return errors.New("the installation has no name")
	case c.Python.Dir == "" && c.Image == "":
		return errors.New("the image is made of the interpreter that this program carries: another one has too many parts")
	case c.Warm < 0 || c.Warm > MaxWarm:
		return fmt.Errorf("%d containers that wait: 0 to %d are possible", c.Warm, MaxWarm)
	case c.Concurrent < 1 || c.Concurrent > MaxConcurrent:
		return fmt.Errorf("%d batches at a time: 1 to %d are possible", c.Concurrent, MaxConcurrent)
	}
	return nil
}

// Executor executes batches in containers. It implements recheck.Executor. The
// daemon need not be there when it is made: it is asked when it is needed.
type Executor struct {
	cfg    Config
	client *client.Client
	slots  chan struct{} // one for each batch that may be under way
	shelf  *recheck.Shelf

	life context.Context //nolint:containedctx // ends with the executor: a daemon is made sure of for all callers, not for one
	end  context.CancelFunc
	work sync.WaitGroup // in the background

	mu     sync.Mutex
	pool   *pool         // nil until the daemon has been proven
	coming chan struct{} // closed when a daemon that is being made sure of is ready, or not; nil: none is
	failed error         // why it is no good
	until  time.Time     // nothing is asked again before
	closed bool
}

var errClosed = errors.New("the executor is closed")

var _ recheck.Executor = (*Executor)(nil)

// New makes an executor. Nothing is asked of the daemon yet.
func New(cfg Config) (*Executor, error) {
	if err := cfg.check(); err != nil {
		return nil, fmt.Errorf("preparing rechecks in containers: %w", err)
	}
	var err error
	if cfg.Program == "" {
		if cfg.Program, err = ownProgram(); err != nil {
			return nil, fmt.Errorf("preparing rechecks in containers: %w", err)
		}
	}
	if err := os.MkdirAll(cfg.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("preparing rechecks in containers: %w", err)
	}
	c, err := newClient(cfg.Host)
	if err != nil {
		return nil, fmt.Errorf("preparing rechecks in containers: %w", err)
	}
	shelf, err := recheck.OpenShelf(cfg.Volumes, cfg.Dir, cfg.Hidden, cfg.Log)
	if err != nil {
		return nil, fmt.Errorf("preparing rechecks in containers: %w", errors.Join(err, c.Close()))
	}
	x := &Executor{cfg: cfg, client: c, slots: make(chan struct{}, cfg.Concurrent), shelf: shelf}
	x.life, x.end = context.WithCancel(context.Background())
	return x, nil
}

// ready gives the pool of a daemon that was proven. Making sure of one takes some
// seconds, and longer when the daemon has to take in an image first: it continues
// in the background when the caller has no time to wait for it.
func (x *Executor) ready(ctx context.Context) (*pool, error) {
	x.mu.Lock()
	switch {
	case x.closed:
		x.mu.Unlock()
		return nil, errClosed
	case x.pool != nil:
		defer x.mu.Unlock()
		return x.pool, nil
	case x.coming == nil && time.Now().Before(x.until):
		defer x.mu.Unlock()
		return nil, x.failed
	case x.coming == nil:
		x.coming = make(chan struct{})
		x.work.Go(x.connect)
	}
	coming := x.coming
	x.mu.Unlock()
	select {
	case <-coming:
	case <-ctx.Done():
		return nil, &recheck.Error{Class: recheck.Slow, Err: fmt.Errorf("the Docker daemon and its image are being made ready: %w", context.Cause(ctx))}
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.pool == nil {
		return nil, x.failed
	}
	return x.pool, nil
}

// connect makes sure of a daemon.
func (x *Executor) connect() {
	e, err := connect(x.life, x.cfg, x.client)
	x.mu.Lock()
	defer x.mu.Unlock()
	close(x.coming)
	x.coming = nil
	switch {
	case x.closed:
		x.failed = errClosed
	case err != nil:
		x.failed, x.until = classify(err), time.Now().Add(retryAfter)
	default:
		x.failed, x.pool = nil, newPool(e, x.cfg)
		x.cfg.Log.Info("rechecks run in containers", "sandbox", e.description.String())
	}
}

// Describe implements recheck.Executor. It is empty until a daemon was proven, which Health does.
func (x *Executor) Describe() recheck.Description {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.pool == nil {
		return recheck.Description{}
	}
	return x.pool.e.description
}

// Recheck implements recheck.Executor.
func (x *Executor) Recheck(ctx context.Context, batch recheck.Batch) ([]harness.Result, error) {
	if err := batch.Check(); err != nil {
		return nil, err
	}
	select {
	case x.slots <- struct{}{}:
		defer func() { <-x.slots }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	limited, cancel := context.WithTimeoutCause(ctx, batch.Limit(), &recheck.Error{Class: recheck.Slow, Err: errSlow})
	defer cancel()
	results, err := x.execute(limited, batch)
	if err == nil {
		return results, nil
	}
	if ctx.Err() != nil {
		return results, context.Cause(ctx)
	}
	err = classify(err)
	x.note(err)
	return results, err
}

func (x *Executor) execute(ctx context.Context, batch recheck.Batch) (results []harness.Result, err error) {
	p, err := x.ready(ctx)
	if err != nil {
		return nil, err
	}
	if err := p.e.holds(batch.Bundle); err != nil {
		return nil, err
	}
	image, err := p.e.imageFor(ctx, batch)
	if err != nil {
		return nil, err
	}
	folders, err := x.lend(ctx, batch)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, volume.CloseAll(folders)) }()
	return aroundCulprits(batch, p.e.describe(batch), func(some recheck.Batch, alone bool) ([]harness.Result, error) {
		if len(folders) > 0 {
			return p.withVolumes(ctx, image, some, folders)
		}
		return executeIn(ctx, p, image, some, alone)
	})
}

// executeIn runs a batch in one container, which has run nothing else where it is to be alone. One that waits or rests may have died
// meanwhile, with its daemon: where it says nothing a new one has the last word. Going on to the next that waits would have a shard that
// ends each container use them up for as long as more are started.
func executeIn(ctx context.Context, p *pool, image string, batch recheck.Batch, alone bool) ([]harness.Result, error) {
	s := shapeOf(batch.Bundle, inputsOf(batch))
	s.image = image
	b, waited, err := p.take(ctx, s, batch, alone)
	if err != nil {
		return nil, err
	}
	results, err := p.serve(ctx, b, batch)
	if err == nil || !waited || len(results) > 0 || ctx.Err() != nil {
		return results, err
	}
	if b, err = p.begin(ctx, s); err != nil {
		return nil, err
	}
	return p.serve(ctx, b, batch)
}

// note has the daemon looked at again when it may not be the one that was proven.
func (x *Executor) note(err error) {
	var classified *recheck.Error
	if !errors.As(err, &classified) || classified.Class != recheck.Unavailable && classified.Class != recheck.Image {
		return
	}
	x.mu.Lock()
	p := x.pool
	x.pool = nil
	x.mu.Unlock()
	if p != nil {
		x.work.Go(func() {
			if err := p.close(); err != nil {
				x.cfg.Log.Warn("removing containers that waited", "error", err)
			}
		})
	}
}

// Health implements recheck.Executor: it asks the daemon, and proves it where that was not done yet.
func (x *Executor) Health(ctx context.Context) error {
	p, err := x.ready(ctx)
	if err != nil {
		return err
	}
	ask, cancel := context.WithTimeoutCause(ctx, askTime, errSlow)
	defer cancel()
	if _, err = p.e.client.Ping(ask); err == nil {
		_, err = p.e.client.ImageInspect(ask, p.e.image)
	}
	if err != nil {
		err = classify(fmt.Errorf("asking the Docker daemon: %w", err))
		x.note(err)
	}
	return err
}

// Close implements recheck.Executor. It waits for what is under way: the contexts of batches are the callers'.
func (x *Executor) Close() error {
	for range cap(x.slots) {
		x.slots <- struct{}{}
	}
	x.mu.Lock()
	p := x.pool
	x.pool, x.closed = nil, true
	x.mu.Unlock()
	x.end()
	x.work.Wait()
	x.shelf.Close()
	var err error
	if p != nil {
		err = p.close()
	}
	return errors.Join(err, x.client.Close())
}

// Answers asks whether there is a daemon at all, and nothing more of it.
func (x *Executor) Answers(ctx context.Context) error {
	_, err := x.client.Ping(ctx)
	if err != nil {
		return classify(fmt.Errorf("asking for a Docker daemon: %w", err))
	}
	return nil
}
