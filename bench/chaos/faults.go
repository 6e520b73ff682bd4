package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ostraka/ostraka/bench/rig"
)

// fault is one way in which an installation breaks.
type fault struct {
	name   string
	happen func(context.Context, *world, *rand.Rand) error
	// possible says whether it can happen here; nil: everywhere.
	possible func(*world) bool
}

func faults() []fault {
	return []fault{
		{name: "server_killed", happen: killServer},
		{name: "agent_killed", happen: killAgent},
		{name: "postgres_killed", happen: killPostgres},
		{name: "backends_terminated", happen: terminateBackends},
		{name: "server_paused", happen: pauseServer},
		{name: "agent_paused", happen: pauseAgent},
		{name: "network_cut", happen: cutNetwork},
		{name: "sandbox_killed", happen: killSandbox},
		{name: "runner_killed", happen: killRunner},
		{name: "clock_stepped", happen: stepClock, possible: func(w *world) bool { return len(w.clocks) > 0 }},
		{name: "disk_full", happen: fillDisk, possible: func(w *world) bool { return w.mounted }},
		{name: "container_killed", happen: killContainer, possible: func(w *world) bool { return w.docker != nil }},
	}
}

// possible are the faults that can happen here; what cannot is said.
func (o options) possible(w *world) (all []fault, err error) {
	for _, f := range faults() {
		switch {
		case !strings.Contains(f.name, o.only):
		case f.possible != nil && !f.possible(w):
			o.say("%s cannot happen here", f.name)
		default:
			all = append(all, f)
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("nothing that can happen here has %q in its name", o.only)
	}
	return all, nil
}

func killServer(ctx context.Context, w *world, random *rand.Rand) error {
	s := w.servers[random.IntN(len(w.servers))]
	s.Kill()
	var err error
	rig.Until(ctx, endLimit, func() bool { // as an operator's service manager does: what else is broken may keep it from starting
		err = s.Restart(ctx)
		return err == nil
	})
	return err
}

// killAgent kills an agent; what supervises it starts it again.
func killAgent(_ context.Context, w *world, random *rand.Rand) error {
	w.agents[random.IntN(len(w.agents))].running().Kill()
	return nil
}

func killPostgres(ctx context.Context, w *world, _ *rand.Rand) error {
	if err := syscall.Kill(w.rig.DB.PID(), syscall.SIGKILL); err != nil {
		return err
	}
	<-w.rig.DB.Done()
	return w.rig.DB.Restart(ctx)
}

// terminateBackends ends all connections to the database, as an operator or a failing pooler does.
func terminateBackends(ctx context.Context, w *world, _ *rand.Rand) (err error) {
	conn, err := pgx.Connect(ctx, w.rig.DB.URL())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close(ctx)) }()
	_, err = conn.Exec(ctx, "select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and backend_type = 'client backend'")
	return err
}

// longestPause is above the time to live of leases and below the time after which a server counts as dead; a second of it is past both
// ends of what a stalled virtual machine does.
const longestPause = 5 * time.Second

func pauseServer(_ context.Context, w *world, random *rand.Rand) error {
	return w.pause(w.servers[random.IntN(len(w.servers))].Process, random)
}

func pauseAgent(_ context.Context, w *world, random *rand.Rand) error {
	return w.pause(w.agents[random.IntN(len(w.agents))].running(), random)
}

// pause stops a process for a while; meanwhile other things may happen, to it as well.
func (w *world) pause(p *rig.Process, random *rand.Rand) error {
	if err := p.Signal(syscall.SIGSTOP); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	w.later(random, func() { _ = p.Signal(syscall.SIGCONT) })
	return nil
}

// later ends a fault after a random while.
func (w *world) later(random *rand.Rand, end func()) {
	wait := time.NewTimer(time.Duration(random.Int64N(int64(longestPause))))
	w.mended.Go(func() {
		<-wait.C
		end()
	})
}

// cutNetwork cuts an agent off from its server.
func cutNetwork(_ context.Context, w *world, random *rand.Rand) error {
	n := w.agents[random.IntN(len(w.agents))].network
	n.Cut()
	w.later(random, n.Mend)
	return nil
}

// killSandbox kills a process below an agent: a launcher, an interpreter or a shard.
func killSandbox(_ context.Context, w *world, random *rand.Rand) error {
	return killBelow(w.agents[random.IntN(len(w.agents))].running(), random)
}

// killRunner kills a process below a server: a runner of modules, or what executes shards again.
func killRunner(_ context.Context, w *world, random *rand.Rand) error {
	return killBelow(w.servers[random.IntN(len(w.servers))].Process, random)
}

func killBelow(p *rig.Process, random *rand.Rand) error {
	below, err := p.Descendants()
	if err != nil || len(below) == 0 {
		return err // it has none at this moment
	}
	err = syscall.Kill(below[random.IntN(len(below))], syscall.SIGKILL)
	if errors.Is(err, syscall.ESRCH) {
		return nil
	}
	return err
}

// fillDisk writes until nothing more fits where servers keep objects and agents what they need.
func fillDisk(_ context.Context, w *world, random *rand.Rand) error {
	path := filepath.Join(w.disk, "full")
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, endless{})
	if !errors.Is(err, syscall.ENOSPC) {
		return errors.Join(fmt.Errorf("filling the disk: %w", err), file.Close())
	}
	w.later(random, func() { _ = os.Remove(path) })
	return file.Close()
}

// endless is a file that does not end.
type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

// killContainer kills the containers in which servers execute shards.
func killContainer(ctx context.Context, w *world, _ *rand.Rand) error {
	docker := func(args ...string) ([]byte, error) {
		return exec.CommandContext(ctx, "docker", append([]string{"--host", w.docker.Host}, args...)...).Output()
	}
	ids, err := docker("ps", "--quiet")
	if err != nil || len(ids) == 0 {
		return err
	}
	_, _ = docker(append([]string{"kill"}, strings.Fields(string(ids))...)...) // one of them may have ended
	return nil
}
