package recheck_test

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/runtime/bundle"
	"github.com/ostraka/ostraka/runtime/python"
	"github.com/ostraka/ostraka/runtime/recheck"
	"github.com/ostraka/ostraka/runtime/volume"
)

// TestVolumesOfAServer: a function of a project that a folder is for reads it, that of another does not, and a folder that cannot be one keeps the
// executor from starting.
func TestVolumesOfAServer(t *testing.T) {
	dir, data := t.TempDir(), t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(data, "a.txt"), []byte("one"), 0o644))
	source := "import os\nTEXT = open(os.environ['OSTRAKA_VOLUMES'] + '/ref/a.txt').read()\ndef handler(x): return TEXT\n"
	require.NoError(t, os.WriteFile(filepath.Join(dir, "main.py"), []byte(source), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, bundle.ManifestName), []byte("name = \"f\"\n[[volumes]]\nname = \"ref\"\n"), 0o600))
	code, err := bundle.Pack(dir)
	require.NoError(t, err)
	tree, err := python.Open(t.Context(), python.Options{})
	require.NoError(t, err)
	project := uuid.New()
	config := recheck.LocalConfig{
		Python: tree, Dir: t.TempDir(), Concurrent: 1, Log: slog.New(slog.DiscardHandler),
		Volumes: []volume.Mapping{{Name: "ref", Path: data, Mode: volume.ReadOnly, Projects: []uuid.UUID{project}}},
	}
	x, err := recheck.NewLocal(t.Context(), config)
	require.NoError(t, err)
	ask := func(project uuid.UUID) (string, error) {
		results, err := x.Recheck(t.Context(), recheck.Batch{Project: project, Job: uuid.New(), Bundle: code, Shards: []recheck.Shard{{Input: []byte("1")}}})
		if err != nil {
			return "", err
		}
		return results[0].Output, nil
	}
	for range 2 {
		got, err := ask(project)
		require.NoError(t, err)
		require.Equal(t, `"one"`, got)
	}
	_, err = ask(uuid.New())
	require.ErrorContains(t, err, "this server has no volume ref for the project")
	require.NoError(t, x.Close())

	config.Volumes[0].Path = "/etc"
	_, err = recheck.NewLocal(t.Context(), config)
	require.ErrorContains(t, err, "nothing in /etc may be shown to functions")
}
