package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"
)

const (
	// versionSamples and readySamples are in the middle of what is measured.
	versionSamples, readySamples = 20, 3
	// restAfter is how long a server and an agent are left alone before it is measured what they take, and restWindow for how long.
	restAfter, restWindow = 15 * time.Second, 30 * time.Second
)

// starts measures how soon the program answers, and how large it is.
func (b *bench) starts(ctx context.Context) ([]figure, error) {
	info, err := os.Stat(b.binary)
	if err != nil {
		return nil, err
	}
	version, err := median(versionSamples, func() (time.Duration, error) {
		began := time.Now()
		err := exec.CommandContext(ctx, b.binary, "version").Run()
		return time.Since(began), err
	})
	if err != nil {
		return nil, fmt.Errorf("running ostraka version: %w", err)
	}
	dir := filepath.Join(b.dir, "starts")
	start := func() (time.Duration, error) {
		began := time.Now()
		s, err := b.launch(ctx, dir)
		took := time.Since(began)
		if err != nil {
			return 0, err
		}
		return took, s.end()
	}
	first, err := start()
	if err != nil {
		return nil, err
	}
	ready, err := median(readySamples, start)
	if err = errors.Join(err, os.RemoveAll(dir)); err != nil {
		return nil, err
	}
	say("ostraka version takes %.1f ms; dev is ready after %.2f s, in a new folder after %.2f s", 1000*version, ready, first.Seconds())
	return []figure{{"version_ms", 1000 * version}, {"dev_ready_s", ready}, {"program_mb", float64(info.Size()) / 1e6}}, nil
}

// median is what runs take in the middle, in seconds.
func median(samples int, run func() (time.Duration, error)) (float64, error) {
	took := make([]float64, samples)
	for i := range took {
		one, err := run()
		if err != nil {
			return 0, err
		}
		took[i] = one.Seconds()
	}
	slices.Sort(took)
	return took[samples/2], nil
}

// rest measures what a server and an agent take that have nothing to do.
func (b *bench) rest(ctx context.Context) (_ []figure, err error) {
	s, err := b.startServer(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	agent, err := b.startAgent(ctx, s, 0, largeLease)
	if err != nil {
		return nil, err
	}
	defer endAgents([]*exec.Cmd{agent})
	if err := pause(ctx, restAfter); err != nil {
		return nil, err
	}
	measure := func() (server, agents float64, err error) {
		if server, err = timeOf([]*exec.Cmd{s.cmd}); err != nil {
			return 0, 0, err
		}
		agents, err = timeOf([]*exec.Cmd{agent})
		return server, agents, err
	}
	server, agents, err := measure()
	if err != nil {
		return nil, err
	}
	if err := pause(ctx, restWindow); err != nil {
		return nil, err
	}
	serverAfter, agentsAfter, err := measure()
	if err != nil {
		return nil, err
	}
	percent := func(seconds float64) float64 { return 100 * seconds / restWindow.Seconds() }
	return []figure{{"idle_server_cpu_percent", percent(serverAfter - server)}, {"idle_agent_cpu_percent", percent(agentsAfter - agents)}}, nil
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
