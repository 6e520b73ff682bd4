package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/ostraka/ostraka/bench/rig"
	"github.com/ostraka/ostraka/runtime/python"
	"github.com/ostraka/ostraka/testenv"
)

const (
	serverCount, agentCount = 2, 4
	// leaseTTL is short: what a killed agent held is to be lent again while the job runs.
	leaseTTL = "3s"
	// diskBytes is how large the small disk is that agents and servers share.
	diskBytes = "size=256m"
	// supervise is how soon an agent that has ended is started again, as an owner's service manager would.
	supervise = time.Second
)

// function is exact: each shard holds 10 numbers; it returns how many there are and their sum.
const function = `def handler(x):
    a, b = int(x["from"]), int(x["to"])
    return {"n": b - a, "sum": sum(range(a, b))}
`

// world is what is broken.
type world struct {
	options
	rig     *rig.Rig
	built   string // folder of the program whose clock can be stepped; empty: there is none
	disk    string // where servers keep objects and agents what they need; a small one where we may mount it
	mounted bool
	docker  *testenv.Docker // nil: no containers
	servers []*rig.Server
	agents  []*agent
	tenant  *rig.Tenant
	clocks  []clock        // of servers and agents; none: they cannot be stepped
	mended  sync.WaitGroup // faults that end by themselves
	cancel  context.CancelFunc
	watched sync.WaitGroup
}

// agent is a real one, which is started again when it ends.
type agent struct {
	name    string
	network *rig.Proxy
	env     []string
	args    []string

	mu       sync.Mutex
	process  *rig.Process
	restarts int
}

func (o options) open(ctx context.Context) (_ *world, err error) {
	w := &world{options: o}
	if o.module != "" {
		if w.built, err = os.MkdirTemp("", "ostraka-chaos-"); err != nil {
			return nil, err
		}
		if w.binary, err = buildStepped(ctx, o.module, w.built); err != nil {
			return nil, errors.Join(err, os.RemoveAll(w.built))
		}
	}
	if w.rig, err = rig.Open(ctx, w.binary); err != nil {
		return nil, errors.Join(err, os.RemoveAll(w.built))
	}
	ctx, w.cancel = context.WithCancel(ctx)
	if err := w.fill(ctx); err != nil {
		return nil, errors.Join(err, w.close())
	}
	return w, nil
}

func (w *world) fill(ctx context.Context) (err error) {
	w.disk = filepath.Join(w.rig.Dir, "disk")
	if err := os.Mkdir(w.disk, 0o700); err != nil {
		return err
	}
	w.mounted = syscall.Mount("tmpfs", w.disk, "tmpfs", 0, diskBytes) == nil
	flags := []string{"--lease-ttl", leaseTTL, "--blob-dir", filepath.Join(w.disk, "objects")}
	if w.containers {
		if w.docker, err = testenv.StartDocker(filepath.Join(w.rig.Dir, "docker")); err != nil {
			return err
		}
		flags = append(flags, "--recheck-sandbox", "docker", "--docker-host", w.docker.Host)
	} else {
		flags = append(flags, "--recheck-sandbox", "linux")
	}
	for i := range serverCount {
		s, err := w.rig.ServeWith(ctx, w.rig.DB.URL(), w.addClock("server-"+strconv.Itoa(i)), flags...)
		if err != nil {
			return err
		}
		w.servers = append(w.servers, s)
	}
	if w.tenant, err = w.servers[0].Tenant(ctx, "chaos"); err != nil {
		return err
	}
	if err := w.tenant.Push(ctx, "sums", function); err != nil {
		return err
	}
	for i := range agentCount {
		if err := w.addAgent(ctx, i); err != nil {
			return err
		}
	}
	return nil
}

// addClock gives a process a clock of its own, where one can be stepped.
func (w *world) addClock(name string) (env []string) {
	if w.module == "" {
		return nil
	}
	c := newClock(w.rig.Dir, name)
	w.clocks = append(w.clocks, c)
	return []string{c.env()}
}

// addAgent starts an agent of an owner of its own; each server has half of them, behind a network of their own.
func (w *world) addAgent(ctx context.Context, i int) error {
	a := &agent{name: "agent-" + strconv.Itoa(i)}
	token, err := w.tenant.Token(ctx, a.name)
	if err != nil {
		return err
	}
	if a.network, err = rig.NewProxy(ctx, w.servers[i%serverCount].Address); err != nil {
		return err
	}
	interpreter, err := python.DefaultDir() // unpacked once for all agents
	if err != nil {
		return err
	}
	a.env = []string{"OSTRAKA_TOKEN=" + token, "OSTRAKA_PYTHON_DIR=" + interpreter, "PATH=" + os.Getenv("PATH")}
	a.env = append(a.env, w.addClock(a.name)...)
	a.args = []string{"agent", "start", "--url", a.network.URL, "--data", filepath.Join(w.disk, a.name), "--name", a.name, "--allow-unsigned", "--accept-eula", "2026-11"}
	if a.process, err = w.rig.Start(a.env, a.args...); err != nil {
		return err
	}
	w.agents = append(w.agents, a)
	w.watched.Go(func() { w.supervise(ctx, a) })
	return nil
}

// supervise starts the agent again whenever it has ended.
func (w *world) supervise(ctx context.Context, a *agent) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-a.running().Done():
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(supervise):
		}
		p, err := w.rig.Start(a.env, a.args...)
		if err != nil {
			w.say("starting %s again: %v", a.name, err)
			continue
		}
		a.mu.Lock()
		a.process, a.restarts = p, a.restarts+1
		a.mu.Unlock()
	}
}

func (a *agent) running() *rig.Process {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.process
}

func (w *world) restarts() (n int) {
	for _, a := range w.agents {
		a.mu.Lock()
		n += a.restarts
		a.mu.Unlock()
	}
	return n
}

// close ends everything. What was stopped is let go first: nothing of it may stay.
func (w *world) close() error {
	w.mended.Wait()
	w.cancel()
	w.watched.Wait()
	for _, a := range w.agents {
		a.running().Kill()
		_ = a.network.Close()
	}
	for _, s := range w.servers {
		s.Kill()
	}
	if w.docker != nil {
		w.docker.Stop()
	}
	var err error
	if w.mounted {
		err = syscall.Unmount(w.disk, syscall.MNT_DETACH)
	}
	return errors.Join(err, w.rig.Close(), os.RemoveAll(w.built))
}

// said is the end of what all processes have said.
func (w *world) said() string {
	var text strings.Builder
	for i, s := range w.servers {
		fmt.Fprintf(&text, "server %d: %s\n", i, s.Said())
	}
	for _, a := range w.agents {
		fmt.Fprintf(&text, "%s: %s\n", a.name, a.running().Said())
	}
	return text.String()
}
