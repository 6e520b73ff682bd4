package recheck_test

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/runtime/bundle"
	"github.com/ostraka/ostraka/runtime/harness"
	"github.com/ostraka/ostraka/runtime/python"
	"github.com/ostraka/ostraka/runtime/recheck"
	"github.com/ostraka/ostraka/runtime/tree"
	"github.com/ostraka/ostraka/runtime/tree/treetest"
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
	own, err := python.Open(t.Context(), python.Options{})
	require.NoError(t, err)
	project := uuid.New()
	config := recheck.LocalConfig{
		Python: own, Dir: t.TempDir(), Concurrent: 1, Log: slog.New(slog.DiscardHandler),
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

// TestVolumesInARuntime: a function that wants both a folder and a runtime reads the one and runs in the other.
func TestVolumesInARuntime(t *testing.T) {
	n, data := treetest.OfNumpy(t), t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(data, "a.txt"), []byte("one"), 0o644))
	source := "import os, numpy\nTEXT = open(os.environ['OSTRAKA_VOLUMES'] + '/ref/a.txt').read()\ndef handler(x): return [TEXT, int(numpy.arange(x).sum())]\n"
	code, err := bundle.Pack(n.Folder(t, source, "[[volumes]]\nname = \"ref\"\n"))
	require.NoError(t, err)
	log := slog.New(slog.DiscardHandler)
	cache, err := tree.NewCache(t.TempDir(), tree.DefaultCacheBytes, log)
	require.NoError(t, err)
	at, release, err := cache.Get(t.Context(), n.Digest, n.Fetch)
	require.NoError(t, err)
	defer release()
	own, err := python.Open(t.Context(), python.Options{})
	require.NoError(t, err)
	project := uuid.New()
	x, err := recheck.NewLocal(t.Context(), recheck.LocalConfig{
		Python: own, Dir: t.TempDir(), Concurrent: 1, Log: log,
		Volumes: []volume.Mapping{{Name: "ref", Path: data, Mode: volume.ReadOnly, Projects: []uuid.UUID{project}}},
	})
	require.NoError(t, err)
	defer func() { require.NoError(t, x.Close()) }()
	results, err := x.Recheck(t.Context(), recheck.Batch{
		Project: project, Job: uuid.New(), Bundle: code, Tree: &at, Shards: []recheck.Shard{{Input: []byte("4")}},
	})
	require.NoError(t, err)
	require.Equal(t, harness.StatusOK, results[0].Status, "%+v", results[0].Exception)
	require.Equal(t, `["one",6]`, results[0].Output)
	require.Contains(t, results[0].Interpreter, "(runtime:"+n.Digest[:16]+")")
}

// TestVolumeThatIsWritten: a server gives functions an empty folder for each batch, which goes with the batch; a function that keeps too much there is a
// matter of the server's and no result.
func TestVolumeThatIsWritten(t *testing.T) {
	dir, work := t.TempDir(), t.TempDir()
	source := `import os
CACHE = os.environ["OSTRAKA_VOLUMES"] + "/cache"
def handler(x):
    before = os.listdir(CACHE)
    with open(CACHE + "/a", "wb") as f:
        f.truncate(x)
    return len(before)
`
	require.NoError(t, os.WriteFile(filepath.Join(dir, "main.py"), []byte(source), 0o600))
	manifest := "name = \"f\"\n[limits]\ndisk_bytes = \"1Gi\"\n[[volumes]]\nname = \"cache\"\nmode = \"rw\"\n"
	require.NoError(t, os.WriteFile(filepath.Join(dir, bundle.ManifestName), []byte(manifest), 0o600))
	code, err := bundle.Pack(dir)
	require.NoError(t, err)
	own, err := python.Open(t.Context(), python.Options{})
	require.NoError(t, err)
	x, err := recheck.NewLocal(t.Context(), recheck.LocalConfig{Python: own, Dir: work, Concurrent: 1, Log: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	ask := func(size string) ([]harness.Result, error) {
		return x.Recheck(t.Context(), recheck.Batch{
			Project: uuid.New(), Job: uuid.New(), Bundle: code, Shards: []recheck.Shard{{Input: []byte(size)}, {Number: 1, Input: []byte(size)}},
		})
	}
	for range 2 {
		results, err := ask("268435456")
		require.NoError(t, err)
		require.Equal(t, "0", results[0].Output, "%+v", results[0].Exception)
		require.Equal(t, "1", results[1].Output)
	}
	_, err = ask("268435457")
	var full *recheck.Error
	require.ErrorAs(t, err, &full)
	require.Equal(t, recheck.Full, full.Class)
	require.NoError(t, x.Close())
	left, err := filepath.Glob(filepath.Join(work, "volume-*"))
	require.NoError(t, err)
	require.Empty(t, left)
}
