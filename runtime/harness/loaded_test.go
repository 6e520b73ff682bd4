//go:build linux

package harness

import (
	"context"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

const tellsHash = "import os\ndef handler(x):\n    print('x' * x)\n    return [os.environ['PYTHONHASHSEED'], hash('a'), os.environ['TZ']]\n"

// ahead loads what a session with this configuration would be given: all but its function.
func ahead(t *testing.T, cfg Config) *Loaded {
	t.Helper()
	l, err := Load(t.Context(), Config{Interpreter: cfg.Interpreter, WorkDir: cfg.WorkDir})
	require.NoError(t, err)
	return l
}

// An interpreter that was loaded ahead serves its session as any other does, limits of the function included.
func TestLoadedAhead(t *testing.T) {
	plain := start(t, tellsHash, nil)
	want := plain.run("1")
	cfg := configure(t, tellsHash, func(c *Config) { c.Settings.Job = "a job is no matter of the interpreter" })
	cfg.Manifest.Limits.StdoutBytes = 100
	l := ahead(t, cfg)
	waited := l.z.cmd.Process.Pid
	s, err := l.Start(t.Context(), cfg)
	require.NoError(t, err)
	defer func() { require.NoError(t, s.Close()) }()
	require.Equal(t, waited, s.PID())
	r := &rig{t: t, s: s, dir: filepath.Dir(cfg.WorkDir)}
	got := r.run("1")
	require.Equal(t, want.Output, got.Output)
	require.Equal(t, want.Interpreter+want.Platform+want.Libc, got.Interpreter+got.Platform+got.Libc)
	require.NotEmpty(t, got.Libc)
	require.Equal(t, StatusLogLimit, r.run("100").Status, "the limit of stdout is the function's")
	require.Equal(t, StatusOK, r.run("1").Status)
}

// What an interpreter is started with cannot be changed any more: another hash seed or time zone gets another interpreter.
func TestLoadedForSomethingElse(t *testing.T) {
	for name, change := range map[string]func(*Config){
		"hash seed": func(c *Config) { c.Settings.HashSeed = 7 },
		"time zone": func(c *Config) { c.Settings.TimeZone = "EST5EDT" },
	} {
		t.Run(name, func(t *testing.T) {
			want := start(t, tellsHash, change).run("1")
			cfg := configure(t, tellsHash, change)
			l := ahead(t, cfg)
			s, err := l.Start(t.Context(), cfg)
			require.NoError(t, err)
			defer func() { require.NoError(t, s.Close()) }()
			require.NotEqual(t, l.z.cmd.Process.Pid, s.PID())
			<-l.z.exited
			require.Equal(t, want.Output, (&rig{t: t, s: s, dir: filepath.Dir(cfg.WorkDir)}).run("1").Output)
		})
	}
}

// Whatever goes wrong before a function is there, nothing is left running.
func TestLoadedForNothing(t *testing.T) {
	cfg := configure(t, tellsHash, nil)
	unused := ahead(t, cfg)
	require.NoError(t, unused.Close())
	<-unused.z.exited

	refused := ahead(t, cfg)
	_, err := refused.Start(t.Context(), Config{})
	require.ErrorContains(t, err, "no interpreter is named")
	<-refused.z.exited

	killed := ahead(t, cfg)
	require.NoError(t, syscall.Kill(killed.z.cmd.Process.Pid, syscall.SIGKILL))
	<-killed.z.exited
	_, err = killed.Start(t.Context(), cfg)
	require.ErrorContains(t, err, "starting a session")

	_, err = Load(t.Context(), Config{Interpreter: "/bin/false", WorkDir: cfg.WorkDir})
	require.ErrorContains(t, err, "does not start")

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = Load(ctx, Config{Interpreter: cfg.Interpreter, WorkDir: cfg.WorkDir})
	require.ErrorIs(t, err, context.Canceled)
}
