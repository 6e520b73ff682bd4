package bundle

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// sieve is the module of an example.
func sieve(t *testing.T) []byte {
	t.Helper()
	module, err := os.ReadFile("../../examples/sieve/function.wasm")
	require.NoError(t, err)
	return module
}

func packModule(t *testing.T, module []byte, manifest string) (*Bundle, error) {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, DefaultEntry), module, 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, ManifestName), []byte("name = \"count\"\nruntime = \"wasm\"\n"+manifest), 0o600))
	return Pack(dir)
}

func TestAModuleIsAFunction(t *testing.T) {
	module := sieve(t)
	b, err := packModule(t, module, "")
	require.NoError(t, err)
	require.Equal(t, module, b.Module())
	require.Equal(t, DefaultEntry, b.Manifest.Entry)
	require.Empty(t, b.Manifest.Entrypoint)
	want := WasmDefaultLimits()
	want.CPUSeconds = want.WallSeconds
	require.Equal(t, want, b.Manifest.Limits)
}

func TestWhatNoRunnerTakesIsRefused(t *testing.T) {
	module := sieve(t)
	for name, c := range map[string]struct {
		module         []byte
		manifest, want string
	}{
		"no module":         {[]byte("#!/bin/sh"), "", "function.wasm: this is not a WebAssembly module"},
		"cut off":           {module[:len(module)/2], "", "function.wasm: "},
		"little memory":     {module, "[limits]\nmemory_bytes = \"64Ki\"\n", "memory"},
		"part of a page":    {module, "[limits]\nmemory_bytes = 100000\n", "a module's memory is a multiple of 64Ki"},
		"a handler":         {module, "entrypoint = \"main:handler\"\n", "entrypoint and script are for Python"},
		"a script":          {module, "script = \"main.py\"\n", "entrypoint and script are for Python"},
		"no file of it":     {module, "entry = \"other.wasm\"\n", "the bundle holds no other.wasm"},
		"another file":      {module, "entry = \"function.toml\"\n", "name a .wasm file"},
		"climbing":          {module, "entry = \"../x.wasm\"\n", "entry: "},
		"processor seconds": {module, "[limits]\ncpu_seconds = 1\n", "what it may compute is limits.fuel"},
		"files":             {module, "[limits]\ndisk_bytes = 1\n", "it has no files and no processes"},
		"no fuel":           {module, "[limits]\nfuel = 0\n", "limits.fuel = 0: from 1 to 4000000000000 are allowed"},
		"too much fuel":     {module, "[limits]\nfuel = 4_000_000_000_001\n", "limits.fuel"},
	} {
		_, err := packModule(t, c.module, c.manifest)
		require.ErrorContains(t, err, c.want, name)
	}
	_, err := ParseManifest([]byte("name = \"a\"\n[limits]\nfuel = 1\n"))
	require.ErrorContains(t, err, "what it may compute is limits.cpu_seconds")
	_, err = ParseManifest([]byte("name = \"a\"\nentry = \"function.wasm\"\n"))
	require.ErrorContains(t, err, `that is for runtime = "wasm"`)
	_, err = ParseManifest([]byte("name = \"a\"\nruntime = \"lisp\"\n"))
	require.ErrorContains(t, err, "which tree of that name?")
}

func TestModuleLimitsAtTheirBounds(t *testing.T) {
	for _, c := range []struct {
		manifest string
		ok       bool
	}{
		{"fuel = 4_000_000_000_000", true},
		{"fuel = 1", true},
		{"memory_bytes = \"1Gi\"", true},
		{"memory_bytes = \"1048640Ki\"", false},
		{"wall_seconds = 7200", true},
		{"wall_seconds = 7201", false},
		{"output_bytes = \"16Mi\"", true},
		{"output_bytes = 16777217", false},
	} {
		_, err := packModule(t, sieve(t), "[limits]\n"+c.manifest+"\n")
		require.Equal(t, c.ok, err == nil, "%s: %v", c.manifest, err)
	}
}

// handWritten is a module: a body as its _start, and a page of memory.
func handWritten(imports, body []byte) []byte {
	section := func(id byte, content ...byte) []byte {
		return append(append([]byte{id}, leb(len(content))...), content...)
	}
	b := []byte("\x00asm\x01\x00\x00\x00")
	b = append(b, section(1, 1, 0x60, 0, 0)...)
	if imports != nil {
		b = append(b, section(2, imports...)...)
	}
	b = append(b, section(3, 1, 0)...)
	b = append(b, section(5, 1, 0, 1)...)
	start := byte(0)
	if imports != nil {
		start = 1
	}
	b = append(b, section(7, append([]byte("\x02\x06memory\x02\x00\x06_start\x00"), start)...)...)
	return append(b, section(10, append(append([]byte{1}, leb(len(body))...), body...)...)...)
}

func leb(n int) (b []byte) {
	for ; n >= 0x80; n >>= 7 {
		b = append(b, byte(n)|0x80)
	}
	return append(b, byte(n))
}

// TestHostileModulesAreRefused has what would take a compiler minutes, and what no host offers.
func TestHostileModulesAreRefused(t *testing.T) {
	loops := append([]byte{1, 0xe8, 7, 0x7f}, bytes.Repeat([]byte{0x03, 0x40}, 100)...) // 1,000 locals and 100 loops in each other
	for name, c := range map[string]struct {
		module []byte
		want   string
	}{
		"a compile bomb":       {handWritten(nil, append(loops, bytes.Repeat([]byte{0x0b}, 101)...)), "loop"},
		"locals without end":   {handWritten(nil, []byte{1, 0xff, 0xff, 0xff, 0xff, 0x0f, 0x7f, 0x0b}), "locals"},
		"a host of its own":    {handWritten([]byte("\x01\x03env\x05shell\x00\x00"), []byte{0, 0x0b}), "import 0 (env.shell): the host does not offer this"},
		"a socket":             {handWritten([]byte("\x01\x16wasi_snapshot_preview1\x09sock_send\x00\x00"), []byte{0, 0x0b}), "sock_send"},
		"the meter's own call": {handWritten([]byte("\x01\x07ostraka\x04tick\x00\x00"), []byte{0, 0x0b}), "the host does not offer this"},
	} {
		_, err := packModule(t, c.module, "")
		require.ErrorContains(t, err, c.want, name)
	}
	_, err := packModule(t, handWritten(nil, []byte{0, 0x00, 0x0b}), "")
	require.NoError(t, err, "a trap is its own affair")
}
