//go:build linux

package docker

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"testing"

	"github.com/docker/docker/api/types/image"
	"github.com/docker/docker/client"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/runtime/bundle"
	"github.com/ostraka/ostraka/runtime/harness"
	runtimes "github.com/ostraka/ostraka/runtime/tree"
	"github.com/ostraka/ostraka/runtime/tree/treetest"
)

// TestRuntimes has a function with numpy run in an image of its runtime, beside one that runs in the usual image.
func TestRuntimes(t *testing.T) {
	n := treetest.OfNumpy(t)
	cache, err := runtimes.NewCache(t.TempDir(), runtimes.DefaultCacheBytes, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	at, release, err := cache.Get(t.Context(), n.Digest, n.Fetch)
	require.NoError(t, err)
	defer release()
	code, err := bundle.Pack(n.Folder(t, "import numpy\ndef handler(x): return [int(numpy.arange(x).sum()), numpy.__file__]\n", ""))
	require.NoError(t, err)
	var cfg Config
	x := newExecutor(t, func(c *Config) { cfg = *c })
	batch := batchOf(code, "1001")
	batch.Tree = &at
	for range 2 {
		results, err := x.Recheck(t.Context(), batch)
		require.NoError(t, err)
		require.Equal(t, harness.StatusOK, results[0].Status, "%+v", results[0].Exception)
		require.Equal(t, `[500500,"/python/lib/python3.11/site-packages/numpy/__init__.py"]`, results[0].Output)
		require.Contains(t, results[0].Interpreter, "(runtime:"+n.Digest[:16]+")")
	}
	got := run(t, x, pack(t, "def handler(x):\n  try:\n    import numpy\n  except ImportError:\n    return x\n", ""), "7")
	require.Equal(t, "7", got[0].Output, "the usual image has no numpy")

	c, err := newClient(cfg.Host)
	require.NoError(t, err)
	defer func() { require.NoError(t, c.Close()) }()
	p, err := x.ready(t.Context())
	require.NoError(t, err)
	require.Len(t, p.e.runtimes.tags, 1)
	defer func() { _, _ = c.ImageRemove(t.Context(), p.e.runtimeTag(&at), image.RemoveOptions{Force: true}) }()
	later := &engine{cfg: cfg, client: c, log: cfg.Log}
	require.NoError(t, later.findRuntimeImages(t.Context()))
	require.Equal(t, p.e.runtimes.tags, later.runtimes.tags, "another process finds the image, and removes it in its turn")
}

// TestAnExtensionInC has the example run in an image of its runtime.
func TestAnExtensionInC(t *testing.T) {
	wheels := t.TempDir()
	out, err := exec.CommandContext(t.Context(), "../../examples/collatz-c/build.sh", wheels).CombinedOutput()
	require.NoError(t, err, "%s", out)
	n := treetest.OfWheels(t, wheels, "collatz-c\n")
	cache, err := runtimes.NewCache(t.TempDir(), runtimes.DefaultCacheBytes, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	at, release, err := cache.Get(t.Context(), n.Digest, n.Fetch)
	require.NoError(t, err)
	defer release()
	source, err := os.ReadFile("../../examples/collatz-c/main.py")
	require.NoError(t, err)
	code, err := bundle.Pack(n.Folder(t, string(source), ""))
	require.NoError(t, err)
	x := newExecutor(t, func(*Config) {})
	batch := batchOf(code, `{"from":"1","to":"100000"}`)
	batch.Tree = &at
	results, err := x.Recheck(t.Context(), batch)
	require.NoError(t, err)
	require.Equal(t, harness.StatusOK, results[0].Status, "%+v", results[0].Exception)
	require.JSONEq(t, `{"longest":350,"steps":10753712}`, results[0].Output)
	c, err := newClient(x.cfg.Host)
	require.NoError(t, err)
	p, err := x.ready(t.Context())
	require.NoError(t, err)
	_, _ = c.ImageRemove(t.Context(), p.e.runtimeTag(&at), image.RemoveOptions{Force: true}) // only disk suffers
	require.NoError(t, c.Close())
}

// TestRuntimesAndAPinnedImage: an operator who wants one image gets no other.
func TestRuntimesAndAPinnedImage(t *testing.T) {
	e := &engine{cfg: Config{Image: "sha256:1"}}
	batch := batchOf(pack(t, "def handler(x): return x\n", ""), "1")
	got, err := e.imageFor(t.Context(), batch)
	require.NoError(t, err)
	require.Empty(t, got)
	batch.Tree = &treeOfNothing
	_, err = e.imageFor(t.Context(), batch)
	require.ErrorContains(t, err, "leave out --recheck-image")
}

// TestAnImageThatIsGoneIsMadeAgain: what was made is asked for before it is used, since others remove images of a daemon too.
func TestAnImageThatIsGoneIsMadeAgain(t *testing.T) {
	status := http.StatusOK
	daemon := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = w.Write([]byte(`{"Id":"sha256:1","message":"as it is"}`))
	}))
	defer daemon.Close()
	c, err := client.NewClientWithOpts(client.WithHost("tcp://"+daemon.Listener.Addr().String()), client.WithVersion("1.47"))
	require.NoError(t, err)
	defer func() { require.NoError(t, c.Close()) }()
	e := &engine{client: c, runtimes: runtimeImages{made: map[string]string{treeOfNothing.Digest: "sha256:1"}}}
	for _, now := range []struct {
		status int
		id     string
		fails  bool
	}{{http.StatusOK, "sha256:1", false}, {http.StatusInternalServerError, "", true}, {http.StatusOK, "sha256:1", false}, {http.StatusNotFound, "", false}} {
		status = now.status
		id, err := e.madeOf(t.Context(), &treeOfNothing)
		require.Equal(t, now.fails, err != nil, "%d: %v", now.status, err)
		require.Equal(t, now.id, id)
	}
	require.Empty(t, e.runtimes.made)
}

var treeOfNothing = (&runtimes.Manifest{Interpreter: "bin/python3.11", Loader: "bin/ld.so"}).Tree("/nowhere", "00")
