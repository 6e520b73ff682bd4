package agent

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/runtime/bundle"
)

// shelf is where the cache under test fetches from.
type shelf struct {
	content []byte
	err     error
	fetched int
}

func (s *shelf) fetch(context.Context) (io.ReadCloser, error) {
	s.fetched++
	return io.NopCloser(bytes.NewReader(s.content)), s.err
}

func newCache(t *testing.T, max int64) *bundleCache {
	t.Helper()
	return &bundleCache{dir: t.TempDir(), max: max, log: slog.New(slog.DiscardHandler)}
}

func TestCacheFetchesOnce(t *testing.T) {
	c, s := newCache(t, 1<<20), &shelf{content: []byte("bundle")}
	for range 2 {
		got, err := c.archive(t.Context(), digestOf(s.content), s.fetch)
		require.NoError(t, err)
		require.Equal(t, s.content, got)
	}
	require.Equal(t, 1, s.fetched)
}

func TestCacheBelievesNoFile(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(path string) error{
		"changed":   func(path string) error { return os.WriteFile(path, []byte("bundlE"), 0o600) },
		"cut short": func(path string) error { return os.Truncate(path, 3) },
		"too large": func(path string) error { return os.Truncate(path, bundle.MaxArchiveBytes+1) },
	} {
		t.Run(name, func(t *testing.T) {
			c, s := newCache(t, 1<<20), &shelf{content: []byte("bundle")}
			digest := digestOf(s.content)
			_, err := c.archive(t.Context(), digest, s.fetch)
			require.NoError(t, err)
			require.NoError(t, spoil(c.path(digest)))
			got, err := c.archive(t.Context(), digest, s.fetch)
			require.NoError(t, err)
			require.Equal(t, s.content, got)
			require.Equal(t, 2, s.fetched)
			_, err = c.archive(t.Context(), digest, s.fetch)
			require.NoError(t, err)
			require.Equal(t, 2, s.fetched, "the file is mended")
		})
	}
}

func TestCacheRefusesWhatTheServerGot(t *testing.T) {
	t.Parallel()
	digest := digestOf([]byte("bundle"))
	for name, test := range map[string]struct {
		digest string
		from   shelf
		wrong  bool
	}{
		"other content":   {digest, shelf{content: []byte("other")}, true},
		"too large":       {digest, shelf{content: make([]byte, bundle.MaxArchiveBytes+1)}, true},
		"not a digest":    {"../../etc/passwd", shelf{content: []byte("bundle")}, true},
		"upper-case":      {"A" + digest[1:], shelf{content: []byte("bundle")}, true},
		"no way to fetch": {digest, shelf{err: errors.New("away")}, false},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCache(t, 1<<30)
			_, err := c.archive(t.Context(), test.digest, test.from.fetch)
			require.Error(t, err)
			require.Equal(t, test.wrong, errors.Is(err, errWrongBundle), err)
			entries, err := os.ReadDir(c.dir)
			require.NoError(t, err)
			require.Empty(t, entries)
		})
	}
}

func TestCacheForgetsWhatWasNotUsedForLongest(t *testing.T) {
	c := newCache(t, 20)
	shelves := []*shelf{{content: []byte("aaaaaaaa")}, {content: []byte("bbbbbbbb")}, {content: []byte("cccccccc")}}
	for i, s := range shelves {
		_, err := c.archive(t.Context(), digestOf(s.content), s.fetch)
		require.NoError(t, err)
		if i < 2 { // b was used last year, a the year before: times of files are coarse
			at := time.Now().AddDate(i-2, 0, 0)
			require.NoError(t, os.Chtimes(c.path(digestOf(s.content)), at, at))
		}
	}
	require.NoFileExists(t, c.path(digestOf(shelves[0].content)))
	require.FileExists(t, c.path(digestOf(shelves[1].content)))
	require.FileExists(t, c.path(digestOf(shelves[2].content)))
}

func TestCacheThatCannotKeepStillServes(t *testing.T) {
	c, s := newCache(t, 3), &shelf{content: []byte("bundle")}
	got, err := c.archive(t.Context(), digestOf(s.content), s.fetch)
	require.NoError(t, err)
	require.Equal(t, s.content, got)
	c.dir = filepath.Join(c.dir, "gone")
	_, err = c.archive(t.Context(), digestOf(s.content), s.fetch)
	require.NoError(t, err)
}
