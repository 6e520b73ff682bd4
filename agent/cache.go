package agent

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ostraka/ostraka/runtime/bundle"
	"github.com/ostraka/ostraka/runtime/canonical"
)

// DefaultCacheBytes is how much disk the bundles of earlier leases may take: sixty-four of the largest, or thousands of usual ones.
const DefaultCacheBytes = 64 * bundle.MaxArchiveBytes

// errWrongBundle says that a bundle is not what its digest promises.
var errWrongBundle = errors.New("the bundle does not have the digest that the lease names")

// bundleCache keeps bundles by their digest. A file in it is believed no more than the network: its digest is computed whenever
// it is used.
type bundleCache struct {
	dir string
	max int64
	log *slog.Logger
	// owner, where it is not zero, is a lower maximum that the owner has set.
	owner atomic.Int64
	mu    sync.Mutex // one at a time, so that workers that want the same bundle fetch it once
}

// get returns the bundle with the digest, checked, fetching it when it is not there.
func (c *bundleCache) get(ctx context.Context, digest string, fetch func(context.Context) (io.ReadCloser, error)) (*bundle.Bundle, error) {
	archive, err := c.archive(ctx, digest, fetch)
	if err != nil {
		return nil, err
	}
	return bundle.Verify(bytes.NewReader(archive), int64(len(archive)))
}

// archive returns the bytes with the digest.
func (c *bundleCache) archive(ctx context.Context, digest string, fetch func(context.Context) (io.ReadCloser, error)) ([]byte, error) {
	if !canonical.IsDigest(digest) {
		return nil, fmt.Errorf("%w: %q is no digest", errWrongBundle, digest)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	archive, err := c.read(digest)
	if err == nil {
		return archive, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		c.log.Warn("a cached bundle cannot be used and is fetched again", "digest", digest, "error", err)
		_ = os.Remove(c.path(digest)) // writing it replaces it in any case
	}
	archive, err = fetchWhole(ctx, digest, fetch)
	if err != nil {
		return nil, err
	}
	c.write(digest, archive)
	return archive, nil
}

func (c *bundleCache) path(digest string) string { return filepath.Join(c.dir, digest) }

func (c *bundleCache) read(digest string) ([]byte, error) {
	f, err := os.Open(c.path(digest))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	archive, err := readBounded(f)
	if err != nil {
		return nil, err
	}
	if digestOf(archive) != digest {
		return nil, errWrongBundle
	}
	now := time.Now()
	_ = os.Chtimes(c.path(digest), now, now) // only the order of eviction suffers
	return archive, nil
}

func fetchWhole(ctx context.Context, digest string, fetch func(context.Context) (io.ReadCloser, error)) ([]byte, error) {
	body, err := fetch(ctx)
	if err != nil {
		return nil, fmt.Errorf("fetching the bundle: %w", err)
	}
	defer body.Close()
	archive, err := readBounded(body)
	if err != nil {
		return nil, fmt.Errorf("fetching the bundle: %w", err)
	}
	if got := digestOf(archive); got != digest {
		return nil, fmt.Errorf("%w: it is %s, not %s", errWrongBundle, got, digest)
	}
	return archive, nil
}

func readBounded(r io.Reader) ([]byte, error) {
	archive, err := io.ReadAll(io.LimitReader(r, bundle.MaxArchiveBytes+1))
	if err != nil {
		return nil, err
	}
	if len(archive) > bundle.MaxArchiveBytes {
		return nil, fmt.Errorf("%w: it has more than %d bytes, the most that a bundle may have", errWrongBundle, bundle.MaxArchiveBytes)
	}
	return archive, nil
}

// write keeps a bundle. A cache that cannot be written only makes the agent slower, so that is no error.
func (c *bundleCache) write(digest string, archive []byte) {
	err := c.makeRoom(int64(len(archive)))
	if err == nil {
		err = replaceFile(c.path(digest), archive)
	}
	if err != nil {
		c.log.Warn("the bundle cannot be kept and will be fetched again", "digest", digest, "error", err)
	}
}

func replaceFile(path string, content []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".new-*")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(f.Name()) }() // gone already when all went well
	_, err = f.Write(content)
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// makeRoom removes the bundles that were not used for longest until the new one fits.
func (c *bundleCache) makeRoom(size int64) error {
	most := lowerCap(c.max, c.owner.Load())
	entries, err := os.ReadDir(c.dir)
	if err != nil {
		return err
	}
	var files []fs.FileInfo
	total := size
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			continue // removed in between
		}
		files = append(files, info)
		total += info.Size()
	}
	slices.SortFunc(files, func(a, b fs.FileInfo) int { return a.ModTime().Compare(b.ModTime()) })
	for _, f := range files {
		if total <= most {
			break
		}
		if err := os.Remove(filepath.Join(c.dir, f.Name())); err != nil {
			return err
		}
		total -= f.Size()
	}
	if total > most {
		return fmt.Errorf("it has %d bytes and the cache may have %d", size, most)
	}
	return nil
}

func digestOf(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
