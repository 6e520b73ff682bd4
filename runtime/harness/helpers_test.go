//go:build linux

package harness

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/runtime/bundle"
	"github.com/ostraka/ostraka/runtime/python"
)

// rig is a session over a module written by a test.
type rig struct {
	t    testing.TB
	s    *Session
	dir  string
	next int64
	kept bool // the harness keeps the workspaces within their limits
}

// quick are limits that end bad shards soon.
func quick() bundle.Limits {
	l := bundle.DefaultLimits()
	l.WallSeconds, l.CPUSeconds = 5, 3
	return l
}

// interpreter is the one that agents have.
func interpreter(t testing.TB) string {
	t.Helper()
	tree, err := python.Open(context.Background(), python.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, tree.Release()) })
	return tree.Interpreter
}

func configure(t testing.TB, source string, change func(*Config)) Config {
	t.Helper()
	dir := t.TempDir()
	cfg := Config{
		Interpreter: interpreter(t), BundleDir: filepath.Join(dir, "bundle"), WorkDir: filepath.Join(dir, "work"),
		Manifest:  bundle.Manifest{Entrypoint: "main:handler", Limits: quick()},
		Isolation: bundle.Process,
	}
	require.NoError(t, os.Mkdir(cfg.BundleDir, 0o755))
	require.NoError(t, os.Mkdir(cfg.WorkDir, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(cfg.BundleDir, "main.py"), []byte(source), 0o444))
	if change != nil {
		change(&cfg)
	}
	return cfg
}

func start(t testing.TB, source string, change func(*Config)) *rig {
	t.Helper()
	cfg := configure(t, source, change)
	s, err := Start(context.Background(), cfg)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return &rig{t: t, s: s, dir: filepath.Dir(cfg.WorkDir)}
}

func (r *rig) shard(input string) Shard {
	dir, err := os.MkdirTemp(r.dir, "shard")
	require.NoError(r.t, err)
	sh := Shard{Index: r.next, Input: []byte(input), Home: filepath.Join(dir, "home"), Output: filepath.Join(dir, "output")}
	if r.kept {
		sh.Workspace = dir
	}
	r.next++
	require.NoError(r.t, os.Mkdir(sh.Home, 0o700))
	require.NoError(r.t, os.Mkdir(sh.Output, 0o700))
	return sh
}

func (r *rig) run(input string) Result {
	res, err := r.s.Run(context.Background(), r.shard(input))
	require.NoError(r.t, err)
	return res
}

func failingPreparation(*exec.Cmd) error { return os.ErrPermission }
