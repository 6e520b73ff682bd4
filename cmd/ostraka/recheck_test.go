//go:build linux

package main

import (
	"log/slog"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/runtime/bundle"
	"github.com/ostraka/ostraka/testenv"
)

func TestRecheckFlags(t *testing.T) {
	good := recheckConfig{Sandbox: recheckAuto, Warm: 1, Concurrent: 1}
	require.NoError(t, good.complete(systemTerminal()))
	for name, change := range map[string]func(*recheckConfig){
		"sandbox":         func(c *recheckConfig) { c.Sandbox = "chroot" },
		"image by name":   func(c *recheckConfig) { c.Image = "python:latest" },
		"image cut off":   func(c *recheckConfig) { c.Image = "sha256:00" },
		"too many warm":   func(c *recheckConfig) { c.Warm = 17 },
		"none at a time":  func(c *recheckConfig) { c.Concurrent = 0 },
		"gvisor for auto": func(c *recheckConfig) { c.RequireGVisor = true },
	} {
		bad := good
		change(&bad)
		require.Equal(t, exitUsage, exitCode(bad.complete(systemTerminal())), name)
	}
}

func TestWhoRechecks(t *testing.T) {
	for _, c := range []struct {
		sandbox string
		queues  []string
		want    bool
	}{
		{recheckAuto, nil, true},
		{recheckAuto, []string{"recheck"}, true},
		{recheckAuto, []string{"verify"}, false},
		{recheckAuto, []string{}, false},
		{recheckNone, nil, false},
		{"", nil, false},
	} {
		require.Equal(t, c.want, serverConfig{Queues: c.queues, Recheck: recheckConfig{Sandbox: c.sandbox}}.rechecks(), c)
	}
}

// TestAuto takes containers where a daemon answers, and what the kernel has otherwise.
func TestAuto(t *testing.T) {
	daemon, err := testenv.StartDocker(filepath.Join(t.TempDir(), "docker")) // its own: the shared one is stopped by a TestMain that is not ours
	require.NoError(t, err)
	t.Cleanup(daemon.Stop)
	config := serverConfig{DatabaseURL: "postgres://localhost/auto", CacheDir: filepath.Join(t.TempDir(), "modules"), Log: slog.New(slog.DiscardHandler), Recheck: recheckConfig{
		Sandbox: recheckAuto, DockerHost: daemon.Host, Concurrent: 1,
	}}
	require.NoError(t, config.Recheck.complete(systemTerminal()))
	for _, c := range []struct {
		host  string
		level bundle.Isolation
	}{{config.Recheck.DockerHost, bundle.Container}, {"unix://" + filepath.Join(t.TempDir(), "nobody"), bundle.Linux}} {
		config.Recheck.DockerHost = c.host
		p := &parts{}
		x, err := p.openRechecker(t.Context(), config)
		require.NoError(t, err)
		require.NoError(t, x.Health(t.Context()))
		require.True(t, x.Describe().Level.AtLeast(c.level), x.Describe())
		require.NoError(t, p.close(t.Context()))
	}
	config.Recheck.Sandbox, config.Queues = recheckAuto, []string{"verify"}
	x, err := (&parts{}).openRechecker(t.Context(), config)
	require.NoError(t, err)
	require.Nil(t, x)
}
