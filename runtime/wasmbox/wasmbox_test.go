package wasmbox_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/runtime/bundle"
	"github.com/ostraka/ostraka/runtime/harness"
	"github.com/ostraka/ostraka/runtime/wasmbox"
	"github.com/ostraka/ostraka/wasm"
	"github.com/ostraka/ostraka/wasm/runner"
)

// guest is the program of testdata, built for WASI, and compiled where it was compiled once for all tests.
var (
	guest    []byte
	compiled string
)

// TestMain: the process of a sandbox is this binary, started once more.
func TestMain(m *testing.M) {
	runner.MaybeRun()
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "wasmbox-")
		if err != nil {
			panic(err)
		}
		defer func() { _ = os.RemoveAll(dir) }() // in the folder for what may be lost
		compiled = filepath.Join(dir, "compiled")
		cmd := exec.Command("go", "build", "-o", filepath.Join(dir, "guest.wasm"), "./testdata/guest")
		cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "GOFLAGS=")
		if text, err := cmd.CombinedOutput(); err != nil {
			panic(fmt.Sprintf("building the guest: %v: %s", err, text))
		}
		if guest, err = os.ReadFile(filepath.Join(dir, "guest.wasm")); err != nil {
			panic(err)
		}
		return m.Run()
	}())
}

// pack makes a bundle of a module.
func pack(t *testing.T, module []byte, limits string) *bundle.Bundle {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "function.wasm"), module, 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "function.toml"), []byte("name = \"guest\"\nruntime = \"wasm\"\n[limits]\n"+limits), 0o600))
	b, err := bundle.Pack(dir)
	require.NoError(t, err)
	return b
}

func newRunner(t *testing.T) *wasmbox.Runner {
	t.Helper()
	r, err := wasmbox.New(wasmbox.Config{Dir: compiled, Log: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, r.Close()) })
	return r
}

func open(t *testing.T, r *wasmbox.Runner, b *bundle.Bundle, job string) *wasmbox.Sandbox {
	t.Helper()
	s, err := r.Open(t.Context(), b, harness.Settings{Job: job})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

const tight = "fuel = 3_000_000_000\nmemory_bytes = \"32Mi\"\noutput_bytes = \"4Ki\"\nwall_seconds = 100\n"

// TestEveryEnd has a function end in every way that there is; the sandbox goes on with the next shard after each.
func TestEveryEnd(t *testing.T) {
	s := open(t, newRunner(t), pack(t, guest, tight), "job")
	for i, c := range []struct {
		input, status, kind, message, output string
	}{
		{`{"do":"print","n":3}`, "ok", "", "", `{"a":"é","b":1.5}`},
		{`{"do":"print","n":6}`, "ok", "", "", `null`},
		{`{"do":"loop"}`, "cpu_limit", harness.ExceptionLimit, fmt.Sprintf("it used up limits.fuel = 3000000000 (meter %d)", wasm.Meter), ""},
		{`{"do":"grow"}`, "memory", harness.ExceptionLimit, "it failed after it was refused more than limits.memory_bytes = 33554432", ""},
		{`{"do":"flood"}`, "output_limit", harness.ExceptionLimit, "it printed more than limits.output_bytes = 4096", ""},
		{`{"do":"print","n":7}`, "output_limit", harness.ExceptionLimit, "its result has 11403 bytes in canonical form, more than limits.output_bytes = 4096", ""},
		{`{"do":"panic"}`, "error", wasmbox.ExceptionExit, "it ended with exit code 2: its standard error says more", ""},
		{`{"do":"exit","n":7}`, "error", wasmbox.ExceptionExit, "it ended with exit code 7: its standard error says more", ""},
		{`{"do":"print","n":0}`, "error", harness.ExceptionNoResult, "it printed nothing: the result is one JSON value on standard output", ""},
		{`{"do":"print","n":1}`, "error", harness.ExceptionOutput, "what it printed is not one JSON value: ", ""},
		{`{"do":"print","n":2}`, "error", harness.ExceptionOutput, "what it printed is not one JSON value: ", ""},
		{`{"do":"print","n":4}`, "error", harness.ExceptionOutput, "what it printed is not one JSON value: ", ""},
		{`{"do":"print","n":5}`, "error", harness.ExceptionOutput, "what it printed is not one JSON value: ", ""},
		{`"no object"`, "error", wasmbox.ExceptionExit, "it ended with exit code 65: its standard error says more", ""},
		{`{"do":"recurse","n":1000}`, "ok", "", "", `1000`},
	} {
		r, err := s.Run(t.Context(), int64(i), []byte(c.input))
		require.NoError(t, err, c.input)
		require.Equal(t, c.status, string(r.Status), "%s: %+v", c.input, r.Exception)
		require.Equal(t, c.output, r.Output, c.input)
		require.Positive(t, r.Fuel, c.input)
		require.Equal(t, wasm.Meter, r.Meter)
		require.Equal(t, "wasm", r.Isolation)
		if c.kind == "" {
			require.Nil(t, r.Exception, c.input)
			continue
		}
		require.Equal(t, c.kind, r.Exception.Type, c.input)
		require.Contains(t, r.Exception.Message, c.message, c.input)
	}
}

// command is a module with this code.
func command(body string) []byte {
	return []byte("\x00asm\x01\x00\x00\x00\x01\x04\x01\x60\x00\x00\x03\x02\x01\x00\x05\x03\x01\x00\x01" +
		"\x07\x13\x02\x06memory\x02\x00\x06_start\x00\x00\x0a" + string(rune(len(body)+3)) + "\x01" + string(rune(len(body)+1)) + "\x00" + body)
}

// TestAFullStackIsNoAnswer: how deep a recursion may go is the processor's business, so that agents of two kinds may differ in it.
func TestAFullStackIsNoAnswer(t *testing.T) {
	s := open(t, newRunner(t), pack(t, command("\x10\x00\x0b"), ""), "")
	r, err := s.Run(t.Context(), 0, []byte(`1`))
	require.NoError(t, err)
	require.Equal(t, harness.StatusMemory, r.Status)
	require.Equal(t, harness.ExceptionLimit, r.Exception.Type)
	require.Equal(t, "its recursion is deeper than the stack of this machine", r.Exception.Message)
}

// TestTraps has code that fails.
func TestTraps(t *testing.T) {
	for body, want := range map[string]string{
		"\x00\x0b":                         "unreachable",
		"\x41\x01\x41\x00\x6d\x1a\x0b":     "integer divide by zero",
		"\x41\x7f\x28\x02\x00\x1a\x0b":     "out of bounds memory access",
		"\x41\x00\x41\x00\x36\x02\x00\x0b": "",
	} {
		s := open(t, newRunner(t), pack(t, command(body), ""), "")
		r, err := s.Run(t.Context(), 0, []byte(`1`))
		require.NoError(t, err)
		require.Equal(t, harness.StatusError, r.Status)
		if want == "" {
			require.Equal(t, harness.ExceptionNoResult, r.Exception.Type)
			continue
		}
		require.Equal(t, wasmbox.ExceptionTrap, r.Exception.Type, "%+v", r.Exception)
		require.Equal(t, want, r.Exception.Message)
	}
}

// TestAShardSeesNothingButItsInput asks for all that a machine has, and gets the same everywhere: random numbers follow from bundle, job and
// shard.
func TestAShardSeesNothingButItsInput(t *testing.T) {
	t.Setenv("OSTRAKA_SECRET", "do not tell")
	r, b := newRunner(t), pack(t, guest, "")
	see := func(s *wasmbox.Sandbox, shard int64) string {
		got, err := s.Run(t.Context(), shard, []byte(`{"do":"sees"}`))
		require.NoError(t, err)
		require.Equal(t, harness.StatusOK, got.Status, got.StderrTail)
		return got.Output
	}
	one, two := open(t, r, b, "job"), open(t, newRunner(t), b, "job")
	first := see(one, 1)
	require.Equal(t, first, see(one, 1))
	require.Equal(t, first, see(two, 1), "on another machine")
	require.NotEqual(t, first, see(one, 2), "another shard")
	require.NoError(t, two.Wake("another job"))
	require.NotEqual(t, first, see(two, 1), "another job")
	require.Contains(t, first, `"arguments":["module"],"dial":true,"environment":0,"now":"2026-01-01T00","open":true,`)
	require.Contains(t, first, `"slept":true`)
}

// TestFuelIsTheSameInEveryRun counts in two processes.
func TestFuelIsTheSameInEveryRun(t *testing.T) {
	b := pack(t, guest, "")
	var fuel []int64
	for range 2 {
		s := open(t, newRunner(t), b, "")
		for range 2 {
			r, err := s.Run(t.Context(), 0, []byte(`{"do":"recurse","n":40}`))
			require.NoError(t, err)
			fuel = append(fuel, r.Fuel)
		}
	}
	require.Equal(t, []int64{fuel[0], fuel[0], fuel[0], fuel[0]}, fuel)
}

// TestAnOrderEndsAShard kills what runs, and the next shard runs.
func TestAnOrderEndsAShard(t *testing.T) {
	s := open(t, newRunner(t), pack(t, guest, "fuel = 4_000_000_000_000\n"), "")
	s.Kill("nothing runs yet")
	ended := make(chan harness.Result, 1)
	go func() {
		r, err := s.Run(context.Background(), 0, []byte(`{"do":"loop"}`))
		if err == nil {
			ended <- r
		}
		close(ended)
	}()
	for tick := time.NewTicker(time.Millisecond); ; <-tick.C {
		s.Kill("the owner said so")
		select {
		case r := <-ended:
			require.Equal(t, harness.StatusKilled, r.Status)
			require.Equal(t, &harness.Exception{Type: harness.ExceptionKilled, Message: "the owner said so"}, r.Exception)
			next, err := s.Run(t.Context(), 1, []byte(`{"do":"print","n":6}`))
			require.NoError(t, err)
			require.Equal(t, harness.StatusOK, next.Status)
			require.NotZero(t, s.Target().PID)
			return
		default:
		}
	}
}

// TestAContextEndsAShard leaves no process behind.
func TestAContextEndsAShard(t *testing.T) {
	s := open(t, newRunner(t), pack(t, guest, "fuel = 4_000_000_000_000\n"), "")
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := s.Run(ctx, 0, []byte(`{"do":"loop"}`))
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.Zero(t, s.Target().PID)
	_, err = s.Run(t.Context(), 0, []byte(`[1, `))
	require.ErrorIs(t, err, harness.ErrInput)
}

// TestTheClockEndsAShard has one that stays within its fuel.
func TestTheClockEndsAShard(t *testing.T) {
	s := open(t, newRunner(t), pack(t, guest, "fuel = 4_000_000_000_000\nwall_seconds = 1\n"), "")
	r, err := s.Run(t.Context(), 0, []byte(`{"do":"loop"}`))
	require.NoError(t, err)
	require.Equal(t, harness.StatusTimeout, r.Status)
	require.Equal(t, "it took longer than limits.wall_seconds = 1", r.Exception.Message)
}

// TestWhatOthersCouldHaveChangedIsCompiledAgain finds a folder that a restored backup has left open.
func TestWhatOthersCouldHaveChangedIsCompiledAgain(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "compiled")
	require.NoError(t, os.Mkdir(dir, 0o700))
	require.NoError(t, os.Chmod(dir, 0o755))
	planted := filepath.Join(dir, "planted")
	require.NoError(t, os.WriteFile(planted, nil, 0o600))
	r, err := wasmbox.New(wasmbox.Config{Dir: dir})
	require.NoError(t, err)
	require.NoError(t, r.Close())
	require.NoFileExists(t, planted)
	info, err := os.Stat(dir)
	require.NoError(t, err)
	require.Equal(t, os.ModeDir|0o700, info.Mode())
}
