package agent

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/runtime/inputdir"
	"github.com/ostraka/ostraka/runtime/inputdir/inputdirtest"
	"github.com/ostraka/ostraka/runtime/inputfile"
)

func inputOf(path, content string) inputfile.File {
	return inputdirtest.Files(map[string]string{path: content})[0]
}

// fetches writes the content, and counts.
func fetches(content string, n *int) func(context.Context, *os.File) error {
	return func(_ context.Context, to *os.File) error {
		*n++
		_, err := io.WriteString(to, content)
		return err
	}
}

func (c *inputCache) read(t *testing.T, content string, n *int) {
	t.Helper()
	in, err := c.open(t.Context(), inputOf("f", content), fetches(content, n))
	require.NoError(t, err)
	got, err := io.ReadAll(in)
	require.NoError(t, err)
	require.Equal(t, content, string(got))
	require.NoError(t, in.Close())
}

func keptInputs(t *testing.T, c *inputCache) int {
	t.Helper()
	entries, err := os.ReadDir(c.dir)
	require.NoError(t, err)
	return len(entries)
}

func TestInputsAreKeptWhileThereIsRoom(t *testing.T) {
	c := newInputCache(t.TempDir(), 10, slog.New(slog.DiscardHandler))
	n := 0
	c.read(t, "aaaa", &n)
	c.read(t, "aaaa", &n)
	require.Equal(t, 1, n, "it was kept")
	old := time.Now().Add(-time.Hour)
	c.read(t, "bbbb", &n)
	require.NoError(t, os.Chtimes(c.path(inputOf("f", "aaaa").Digest), old, old))
	c.read(t, "cccc", &n) // aaaa, which was not used for longest, goes
	require.Equal(t, 3, n)
	c.read(t, "bbbb", &n)
	require.Equal(t, 3, n)
	c.read(t, "aaaa", &n)
	require.Equal(t, 4, n)

	c.read(t, strings.Repeat("x", 11), &n) // too large to be kept: read all the same
	c.read(t, strings.Repeat("x", 11), &n)
	require.Equal(t, 6, n)
	require.Equal(t, 2, keptInputs(t, c))
	c.owner.Store(3)
	c.read(t, "ddd", &n)
	require.Equal(t, 1, keptInputs(t, c), "the owner's limit holds")
	require.Empty(t, c.used)
	require.Empty(t, c.busy)
}

func TestInputsInUseStay(t *testing.T) {
	c := newInputCache(t.TempDir(), 6, slog.New(slog.DiscardHandler))
	n := 0
	held, err := c.open(t.Context(), inputOf("f", "aaaa"), fetches("aaaa", &n))
	require.NoError(t, err)
	c.read(t, "bbbb", &n)
	require.FileExists(t, c.path(inputOf("f", "aaaa").Digest))
	require.NoFileExists(t, c.path(inputOf("f", "bbbb").Digest), "there was no room for it")
	require.NoError(t, held.Close())
	c.read(t, "bbbb", &n)
	require.NoFileExists(t, c.path(inputOf("f", "aaaa").Digest))
}

func TestInputsAreFetchedOnceByManyWorkers(t *testing.T) {
	c := newInputCache(t.TempDir(), 100, slog.New(slog.DiscardHandler))
	n := 0 // only one fetches at a time
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() { c.read(t, "content", &n) })
	}
	all.Wait()
	require.Equal(t, 1, n)
}

func TestAFailedFetchLeavesNothing(t *testing.T) {
	c := newInputCache(t.TempDir(), 100, slog.New(slog.DiscardHandler))
	failure := errors.New("no")
	_, err := c.open(t.Context(), inputOf("f", "x"), func(context.Context, *os.File) error { return failure })
	require.ErrorIs(t, err, failure)
	require.Zero(t, keptInputs(t, c))
	require.Empty(t, c.used)
	require.NoError(t, os.WriteFile(filepath.Join(c.dir, newInput+"1"), nil, 0o600))
	require.NoError(t, c.clear())
	require.Zero(t, keptInputs(t, c))
}

// filesJob is a fake server whose shards have a file each; what a shard found is its output.
func filesJob(t *testing.T, contents ...string) (*fakeServer, Options, func() map[string]string) {
	t.Helper()
	f, s := newFakeServer(t, len(contents))
	f.files = map[string]string{}
	for i, content := range contents {
		file := inputOf("dir/"+strconv.Itoa(i), content)
		input, err := file.Append(nil)
		require.NoError(t, err)
		f.files[file.Digest] = content
		f.shards[i].Input = string(input)
	}
	o := testOptions(t, s)
	inputs, err := inputdir.Make(filepath.Join(t.TempDir(), "input"))
	require.NoError(t, err)
	o.Sandbox = &fakeSandbox{inputs: inputs, run: func(_ context.Context, shard int64) (string, error) {
		text, err := os.ReadFile(filepath.Join(inputs.Path(), "dir", strconv.FormatInt(shard, 10)))
		return strconv.Quote(string(text)), err
	}}
	return f, o, func() map[string]string {
		f.mu.Lock()
		defer f.mu.Unlock()
		found := map[string]string{}
		for shard, r := range f.results {
			found[strconv.FormatInt(shard, 10)] = r.Output
		}
		return found
	}
}

func TestShardsFindTheirFiles(t *testing.T) {
	f, o, results := filesJob(t, "one", "two", "one", "")
	stop := start(t, o)
	f.untilResults(4)
	require.NoError(t, stop())
	require.Equal(t, map[string]string{"0": `"one"`, "1": `"two"`, "2": `"one"`, "3": `""`}, results())
	require.Len(t, f.fetched, 3, "what is the same is fetched once")
}

// What a server sends is believed as far as its digest goes; the lease is given back, and no result is made of it.
func TestInputsThatCannotBeHad(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(f *fakeServer)
		says   string
	}{
		"others":  {func(f *fakeServer) { f.files[inputOf("", "good").Digest] = "evil" }, "other bytes"},
		"longer":  {func(f *fakeServer) { f.files[inputOf("", "good").Digest] = "good+" }, "other bytes"},
		"lost":    {func(f *fakeServer) { delete(f.files, inputOf("", "good").Digest) }, "has lost the file"},
		"no list": {func(f *fakeServer) { f.shards[0].Input = `{"n":1}` }, "cannot be laid down"},
		"traversal": {func(f *fakeServer) {
			f.shards[0].Input = strings.Replace(f.shards[0].Input, `"path":"dir/0"`, `"path":"../0"`, 1)
		}, "cannot be laid down"},
		"breaks off": {func(f *fakeServer) { f.intercept = cutOffFiles }, "broke off 4 times"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, o, results := filesJob(t, "good")
			c.change(f)
			var why client.Refusal
			f.onReturn = func(r client.Refusal) { why = r }
			stop := start(t, o)
			f.until("the lease is given back", func() bool { return len(f.returned) == 1 })
			require.NoError(t, stop())
			require.Empty(t, results())
			require.Equal(t, refusedInput, why.Code)
			require.Contains(t, why.Text, c.says)
			require.True(t, why.Refuses)
		})
	}
}

// cutOffFiles promises more than it sends.
func cutOffFiles(w http.ResponseWriter, r *http.Request) bool {
	if !slices.Contains(strings.Split(r.URL.Path, "/"), "files") {
		return false
	}
	w.Header().Set("Content-Length", "4")
	_, _ = io.WriteString(w, "go")
	return true
}

// A kept file that was damaged on the disk is fetched again.
func TestADamagedInputIsFetchedAgain(t *testing.T) {
	f, o, results := filesJob(t, "good")
	o.DataDir = t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(o.DataDir, "inputs"), 0o700))
	require.NoError(t, os.Chmod(o.DataDir, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(o.DataDir, "inputs", inputOf("", "good").Digest), []byte("evil"), 0o600))
	stop := start(t, o)
	f.untilResults(1)
	require.NoError(t, stop())
	require.Equal(t, map[string]string{"0": `"good"`}, results())
}
