//go:build linux

package linux

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/runtime/bundle"
	"github.com/ostraka/ostraka/runtime/harness"
	"github.com/ostraka/ostraka/runtime/linux/corpustest"
)

// TestCorpusOfImports runs code that is hostile when it is imported, where it owns the template.
func TestCorpusOfImports(t *testing.T) {
	const handler = "\ndef handler(x): return 1\n"
	imports := map[string]struct {
		source   string
		statuses string
	}{
		"leaves children behind": {"import os, time\nfor _ in range(3):\n  try:\n    if os.fork() == 0:\n      os.setsid(); time.sleep(1000)\n  except OSError: pass" + handler, "ok"},
		"fork bomb":              {"import os\ntry:\n  while True: os.fork()\nexcept OSError: pass\nimport time; time.sleep(1000)" + handler, "timeout process_limit killed error"},
		"eats memory":            {"x = bytearray(10**9)" + handler, "memory"},
		"hangs":                  {"import time; time.sleep(1000)" + handler, "timeout"},
		"spins":                  {"while True: pass" + handler, "timeout cpu_limit"},
		"kills the zygote":       {"import os\nos.kill(os.getppid(), 9)\nimport time; time.sleep(0.2)" + handler, "ok killed"},
		"stops the zygote":       {"import os\nos.kill(os.getppid(), 19)\nimport time; time.sleep(0.2)" + handler, "ok killed timeout error"},
		"fills the workspace":    {"open('/work/import/x' if __import__('os').path.exists('/work') else 'x', 'wb').write(bytes(64 << 20))" + handler, "error disk_limit memory"},
		"leaves without a word":  {"import os; os._exit(0)" + handler, "error"},
		"reads the host":         {"open('/etc/passwd').read()" + handler, "error denied"},
		"opens a socket":         {"import socket; socket.socket()" + handler, "error denied"},
		"forges frames":          {"import os\nfor fd in range(3, 100):\n  try: os.write(fd, b'{}')\n  except OSError: pass" + handler, "killed error"},
	}
	for _, level := range levelsHere() {
		r := newRunner(t, level)
		for name, test := range imports {
			t.Run(string(level)+"/"+name, func(t *testing.T) {
				got := runImport(t, r, test.source)
				require.Contains(t, strings.Fields(test.statuses), string(got.Status), "%+v", got.Exception)
			})
		}
	}
}

// TestForkBombOnImport: every copy of the template fails and says so in its place, which must not hide what it was.
func TestForkBombOnImport(t *testing.T) {
	for _, level := range levelsHere() {
		t.Run(string(level), func(t *testing.T) {
			got := runImport(t, newRunner(t, level), "import os\nwhile True: os.fork()\ndef handler(x): return 1\n")
			want := []harness.Status{harness.StatusProcessLimit}
			if level != bundle.Linux {
				// Nothing counts the refusals, and the copies may be too large together before they are too many.
				want = append(want, harness.StatusKilled, harness.StatusError, harness.StatusMemory)
			}
			require.Contains(t, want, got.Status, "%+v", got.Exception)
		})
	}
}

func runImport(t *testing.T, r *Runner, source string) harness.Result {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "main.py"), []byte(source), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, bundle.ManifestName), []byte(corpustest.Manifest(3, 2)), 0o600))
	b, err := bundle.Pack(dir)
	require.NoError(t, err)
	s, err := r.Open(t.Context(), b, harness.Settings{})
	require.NoError(t, err)
	got, err := s.Run(t.Context(), 0, []byte("1"))
	require.NoError(t, s.Close())
	require.NoError(t, err)
	require.Empty(t, interpreters(t, r), "processes of the function are left")
	return got
}

// interpreters are the processes that run the runner's Python where there is no namespace. Not even their owner may read the environment of those that code of an
// import started.
func interpreters(t *testing.T, r *Runner) (found []string) {
	t.Helper()
	if r.namespaces() { // the kernel leaves none, and others' sandboxes call theirs the same
		return nil
	}
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	require.NoError(t, err)
	for _, file := range files {
		if text, err := os.ReadFile(file); err == nil && strings.HasPrefix(string(text), r.python.Interpreter) {
			found = append(found, file)
		}
	}
	return found
}
