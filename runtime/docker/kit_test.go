//go:build linux

package docker

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/filters"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/runtime/bundle"
	"github.com/ostraka/ostraka/runtime/harness"
	"github.com/ostraka/ostraka/runtime/python"
	"github.com/ostraka/ostraka/runtime/recheck"
	"github.com/ostraka/ostraka/testenv"
)

var tree = sync.OnceValues(func() (python.Tree, error) { return python.Open(context.Background(), python.Options{}) })

// config is of an executor on the tests' daemon, in an installation of its own.
func config(t testing.TB) Config {
	t.Helper()
	interpreter, err := tree()
	require.NoError(t, err)
	return Config{
		Host: testenv.DockerDaemon(t).Host, Installation: "test-" + uuid.NewString()[24:], Dir: t.TempDir(), Python: interpreter,
		Concurrent: 2, Log: slog.New(slog.DiscardHandler),
	}
}

// newExecutor makes an executor that is closed with the test.
func newExecutor(t testing.TB, change ...func(*Config)) *Executor {
	t.Helper()
	cfg := config(t)
	for _, c := range change {
		c(&cfg)
	}
	x, err := New(cfg)
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, x.Close())
		require.Empty(t, containersOf(t, cfg.Installation), "containers are left")
	})
	return x
}

// hasGVisor tells whether the tests' daemon was given gVisor: where a program of it that is not too old is on PATH.
func hasGVisor() bool {
	_, err := testenv.FindGVisor()
	return err == nil
}

// levelsHere are those that the tests' daemon has.
func levelsHere() []bundle.Isolation {
	if hasGVisor() {
		return []bundle.Isolation{bundle.Container, bundle.GVisor}
	}
	return []bundle.Isolation{bundle.Container}
}

// at has an executor work at a level.
func at(level bundle.Isolation) func(*Config) {
	return func(c *Config) { c.RequireGVisor, c.withoutGVisor = level == bundle.GVisor, level != bundle.GVisor }
}

// containersOf lists the containers of an installation.
func containersOf(t testing.TB, installation string) []container.Summary {
	t.Helper()
	c, err := newClient(testenv.DockerDaemon(t).Host)
	require.NoError(t, err)
	defer func() { require.NoError(t, c.Close()) }()
	list, err := c.ContainerList(context.Background(), container.ListOptions{All: true, Filters: filters.NewArgs(filters.Arg("label", labelInstallation+"="+installation))})
	require.NoError(t, err)
	return list
}

// pack makes a bundle of a handler and limits.
func pack(t testing.TB, source, limits string) *bundle.Bundle {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "main.py"), []byte(source), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, bundle.ManifestName), []byte("name = \"f\"\n"+limits), 0o600))
	b, err := bundle.Pack(dir)
	require.NoError(t, err)
	return b
}

// batchOf is a batch with these inputs.
func batchOf(b *bundle.Bundle, inputs ...string) recheck.Batch {
	batch := recheck.Batch{Project: uuid.New(), Job: uuid.MustParse("01990000-0000-7000-8000-000000000001"), Bundle: b}
	for i, input := range inputs {
		batch.Shards = append(batch.Shards, recheck.Shard{Number: int64(i), Input: []byte(input)})
	}
	return batch
}

// run executes shards and expects results.
func run(t testing.TB, x recheck.Executor, b *bundle.Bundle, inputs ...string) []harness.Result {
	t.Helper()
	results, err := x.Recheck(t.Context(), batchOf(b, inputs...))
	require.NoError(t, err)
	require.Len(t, results, len(inputs))
	return results
}

// repeated is n inputs that count up.
func repeated(n int) (inputs []string) {
	for i := range n {
		inputs = append(inputs, fmt.Sprint(i))
	}
	return inputs
}
