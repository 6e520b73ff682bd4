package agent

import (
	"context"
	"log/slog"

	"github.com/ostraka/ostraka/agent/isolation"
	"github.com/ostraka/ostraka/runtime/bundle"
	"github.com/ostraka/ostraka/runtime/harness"
	"github.com/ostraka/ostraka/runtime/wasmbox"
)

// WasmSandbox is the level `wasm`, of functions in WebAssembly. Every system has it.
type WasmSandbox struct{ *wasmbox.Runner }

// NewWasmSandbox gives the sandbox of functions in WebAssembly. It keeps compiled modules in dir, which nobody else may write to. The program
// must call runner.MaybeRun first thing in main.
func NewWasmSandbox(dir string, log *slog.Logger) (*WasmSandbox, error) {
	r, err := wasmbox.New(wasmbox.Config{Dir: dir, Log: log})
	if err != nil {
		return nil, err
	}
	return &WasmSandbox{r}, nil
}

// Open implements Sandbox.
func (s *WasmSandbox) Open(ctx context.Context, b *bundle.Bundle, settings harness.Settings) (isolation.Session, error) {
	return s.Runner.Open(ctx, b, settings)
}

// Describe implements Sandbox.
func (s *WasmSandbox) Describe(context.Context) (interpreter, libc string, err error) {
	return s.Interpreter(), "none", nil
}

// LimitProcessors does nothing: an instance has one thread.
func (*WasmSandbox) LimitProcessors(int) {}

// sandboxFor is where a function runs.
func (a *agent) sandboxFor(m *bundle.Manifest) isolation.Sandbox {
	if m.IsWasm() {
		return a.modules
	}
	return a.sandbox
}
