//go:build linux

package linux

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/runtime/bundle"
	"github.com/ostraka/ostraka/runtime/harness"
	"github.com/ostraka/ostraka/runtime/inputdir/inputdirtest"
)

const readsInputs = `import os

def attempt(what):
    try:
        what()
        return True
    except OSError:
        return False

def handler(x, context):
    folder = os.environ["OSTRAKA_INPUT"]
    found = sorted(os.path.relpath(os.path.join(d, f), folder) for d, _, files in os.walk(folder) for f in files)
    allowed = []
    for name, what in (
        ("create", lambda: open(folder + "/new", "w")),
        ("mkdir", lambda: os.mkdir(folder + "/dir")),
        ("write", lambda: open(context.input_path(x[0]), "r+")),
        ("truncate", lambda: os.truncate(context.input_path(x[0]), 0)),
        ("remove", lambda: os.remove(context.input_path(x[0]))),
        ("rename", lambda: os.rename(context.input_path(x[0]), folder + "/other")),
        ("link", lambda: os.link(context.input_path(x[0]), "linked")),
    ):
        if attempt(what):
            allowed.append(name)
    return [found, [open(context.input_path(p)).read() for p in x], allowed]
`

// At every level a shard finds exactly its files, and cannot change them.
func TestInputFiles(t *testing.T) {
	for _, level := range levelsHere() {
		t.Run(string(level), func(t *testing.T) {
			dir := t.TempDir()
			require.NoError(t, os.WriteFile(filepath.Join(dir, "main.py"), []byte(readsInputs), 0o600))
			require.NoError(t, os.WriteFile(filepath.Join(dir, bundle.ManifestName), []byte("name = \"f\"\n"), 0o600))
			b, err := bundle.Pack(dir)
			require.NoError(t, err)
			s, err := newRunner(t, level).Open(t.Context(), b, harness.Settings{})
			require.NoError(t, err)
			defer func() { require.NoError(t, s.Close()) }()
			for _, c := range []struct {
				contents    map[string]string
				input, want string
			}{
				{map[string]string{"a/b.txt": "one", "c": "two"}, `["a/b.txt","c"]`, `[["a/b.txt","c"],["one","two"],[]]`},
				{map[string]string{"c": "three"}, `["c"]`, `[["c"],["three"],[]]`},
			} {
				require.NoError(t, s.Inputs().Replace(t.Context(), inputdirtest.Files(c.contents), inputdirtest.Open(c.contents)))
				got, err := s.Run(t.Context(), 0, []byte(c.input))
				require.NoError(t, err)
				require.Equal(t, harness.StatusOK, got.Status, "%+v", got.Exception)
				require.JSONEq(t, c.want, got.Output)
			}
		})
	}
}
