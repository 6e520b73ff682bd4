package agent

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/ostraka/ostraka/agent/isolation"
	"github.com/ostraka/ostraka/runtime/bundle"
	"github.com/ostraka/ostraka/runtime/canonical"
	"github.com/ostraka/ostraka/runtime/harness"
	"github.com/ostraka/ostraka/runtime/inputdir"
	"github.com/ostraka/ostraka/runtime/monitor"
)

// fakeSandbox doubles numbers without an interpreter.
type fakeSandbox struct {
	level   bundle.Isolation
	openErr error
	// leaves, where set, is what a shard leaves under $OSTRAKA_OUTPUT, by path, in the folder outputs.
	leaves  map[string]string
	outputs string
	inputs  *inputdir.Dir // nil: shards have no files
	// run, where set, is what executing a shard does.
	run func(ctx context.Context, shard int64) (output string, err error)

	processors atomic.Int64 // it was limited to last
}

func (s *fakeSandbox) LimitProcessors(n int) { s.processors.Store(int64(n)) }

func (s *fakeSandbox) Level() bundle.Isolation {
	if s.level == "" {
		return bundle.Process
	}
	return s.level
}

func (s *fakeSandbox) Describe(context.Context) (string, string, error) {
	return "fake 1.0", "none", nil
}

func (s *fakeSandbox) Open(_ context.Context, b *bundle.Bundle, _ harness.Settings) (isolation.Session, error) {
	if s.openErr != nil {
		return nil, s.openErr
	}
	if b.Manifest.Name != "double" {
		return nil, errors.New("another function")
	}
	return &fakeSession{s}, nil
}

type fakeSession struct{ *fakeSandbox }

func (s *fakeSession) Run(ctx context.Context, shard int64, input []byte) (harness.Result, error) {
	output := fmt.Sprint(2 * shard)
	if s.run != nil {
		var err error
		if output, err = s.run(ctx, shard); err != nil {
			return harness.Result{}, err
		}
	}
	var files []harness.File
	for path, content := range s.leaves {
		if err := os.WriteFile(filepath.Join(s.outputs, path), []byte(content), 0o600); err != nil {
			return harness.Result{}, err
		}
		files = append(files, harness.File{Path: path, Size: int64(len(content)), Digest: canonical.Digest([]byte(content))})
	}
	now := time.Now().UTC().Format(time.RFC3339Nano)
	return harness.Result{
		Shard: shard, Status: harness.StatusOK, Files: files, Output: output, OutputDigest: canonical.Digest([]byte(output)),
		OutputBytes: int64(len(output)), InputBytes: int64(len(input)), StartedAt: now, EndedAt: now, Isolation: string(s.Level()),
	}, nil
}

func (s *fakeSession) Target() monitor.Target { return monitor.Target{} }

func (s *fakeSession) OutputBytes() int64 { return 0 }

func (s *fakeSession) Kill(string) {}

func (s *fakeSession) OutputDir() string { return s.outputs }

func (s *fakeSession) Inputs() *inputdir.Dir { return s.inputs }

func (s *fakeSession) Close() error { return nil }
