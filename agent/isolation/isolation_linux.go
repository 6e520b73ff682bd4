package isolation

import (
	"context"

	"github.com/ostraka/ostraka/runtime/bundle"
	"github.com/ostraka/ostraka/runtime/harness"
	"github.com/ostraka/ostraka/runtime/linux"
	"github.com/ostraka/ostraka/runtime/python"
)

// isolationLevels are those that this platform has beside `process`, strongest first.
func isolationLevels() []bundle.Isolation { return linux.Levels() }

// layers are the walls that the kernel lets this program build.
func layers(ctx context.Context) []linux.Layer { return linux.Probe(ctx).Layers }

// linuxSandbox is one of the levels of runtime/linux.
type linuxSandbox struct {
	*linux.Runner
	python python.Tree
}

// prove prepares a level and lets a canary loose in it. Hidden is what no function may read.
func prove(ctx context.Context, level bundle.Isolation, tree python.Tree, work string, hidden ...string) (Sandbox, error) {
	runner, err := linux.New(linux.Config{Python: tree, Dir: work, Level: level})
	if err != nil {
		return nil, err
	}
	if err := runner.Prove(ctx, hidden...); err != nil {
		return nil, err
	}
	return &linuxSandbox{Runner: runner, python: tree}, nil
}

// On implements onTree.
func (s *linuxSandbox) On(t python.Tree) (Sandbox, error) {
	runner, err := s.Runner.On(t)
	if err != nil {
		return nil, err
	}
	return &linuxSandbox{Runner: runner, python: t}, nil
}

// Open implements Sandbox.
func (s *linuxSandbox) Open(ctx context.Context, b *bundle.Bundle, settings harness.Settings) (Session, error) {
	return s.Runner.Open(ctx, b, settings)
}

// Describe implements Sandbox.
func (s *linuxSandbox) Describe(ctx context.Context) (interpreter, libc string, err error) {
	return describe(ctx, s.python)
}
