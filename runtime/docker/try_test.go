//go:build linux

package docker

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/runtime/bundle"
	"github.com/ostraka/ostraka/runtime/python"
	"github.com/ostraka/ostraka/runtime/recheck"
)

func TestTry(t *testing.T) {
	tree, err := python.Open(t.Context(), python.Options{})
	require.NoError(t, err)
	x, err := New(Config{Host: "unix:///tmp/dk/sock", Installation: "try", Dir: t.TempDir(), Python: tree, Warm: 1, Concurrent: 1, Log: slog.New(slog.NewTextHandler(os.Stderr, nil))})
	require.NoError(t, err)
	defer func() { require.NoError(t, x.Close()) }()
	l, err := recheck.NewLocal(t.Context(), recheck.LocalConfig{Python: tree, Dir: t.TempDir(), Concurrent: 1, Log: slog.Default()})
	require.NoError(t, err)
	begin := time.Now()
	require.NoError(t, x.Health(t.Context()))
	fmt.Println("health", time.Since(begin), x.Describe())
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "f.py"), []byte("def handler(x):\n    return x*2\n"), 0o644))
	b, err := bundle.Pack(filepath.Join(dir, "f.py"))
	require.NoError(t, err)
	batch := recheck.Batch{Project: uuid.New(), Job: uuid.New(), Bundle: b}
	for i := range 1000 {
		batch.Shards = append(batch.Shards, recheck.Shard{Number: int64(i), Input: fmt.Append(nil, i)})
	}
	for range 3 {
		begin = time.Now()
		_, err := l.Recheck(t.Context(), batch)
		require.NoError(t, err)
		fmt.Println("local", time.Since(begin))
		begin = time.Now()
		results, err := x.Recheck(t.Context(), batch)
		require.NoError(t, err)
		fmt.Println("batch", time.Since(begin), len(results), results[7].Output, results[7].WallMicros, results[500].WallMicros, results[500].CPUMicros)
	}
}
