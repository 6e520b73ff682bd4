package tree

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ostraka/ostraka/runtime/python"
)

// DefaultCacheBytes is how much disk unpacked runtimes may take.
const DefaultCacheBytes = 4 * MaxTreeBytes

// Names in the folder of a cache. A tree lies at <digest>/tree, and its manifest beside it.
const (
	treeName     = "tree"
	manifestName = "manifest.json"
	tmpPrefix    = "tmp-"
)

// ErrNoRoom says that a runtime does not fit into what it may take.
var ErrNoRoom = errors.New("the runtime does not fit")

// Fetch opens an object of a runtime, its manifest or a piece, by its digest.
type Fetch func(ctx context.Context, digest string) (io.ReadCloser, error)

// Cache keeps unpacked runtimes by their digests, each once for all functions. One process uses its folder at a time.
type Cache struct {
	dir string
	log *slog.Logger
	max atomic.Int64

	mu   sync.Mutex // one at a time, so that a runtime that several want is fetched once
	used map[string]*held
}

// held is a runtime that was compared with its pieces, and how many use it.
type held struct {
	tree  python.Tree
	bytes int64
	users int
}

// NewCache keeps runtimes below dir, which is made where it is missing, and of at most so many bytes together.
func NewCache(dir string, most int64, log *slog.Logger) (*Cache, error) {
	if err := os.MkdirAll(dir, 0o711); err != nil { // as package python does: a sandbox passes through as another user
		return nil, fmt.Errorf("making a folder for runtimes: %w", err)
	}
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, fmt.Errorf("making a folder for runtimes: %w", err)
	}
	c := &Cache{dir: dir, log: log, used: map[string]*held{}}
	c.max.Store(most)
	return c, c.sweep()
}

// Limit is how many bytes the runtimes may have together from now on.
func (c *Cache) Limit(most int64) { c.max.Store(most) }

// sweep removes what was being unpacked when an earlier process ended.
func (c *Cache) sweep() error {
	entries, err := os.ReadDir(c.dir)
	if err != nil {
		return fmt.Errorf("looking for old runtimes: %w", err)
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), tmpPrefix) {
			err = errors.Join(err, os.RemoveAll(filepath.Join(c.dir, e.Name())))
		}
	}
	return err
}

// Get gives the runtime with the digest, which stays until release is called. It is fetched where it is not there.
func (c *Cache) Get(ctx context.Context, digest string, fetch Fetch) (t python.Tree, release func(), err error) {
	if !digestPattern.MatchString(digest) {
		return t, nil, fmt.Errorf("preparing a runtime: %.80q is no digest", digest)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	h, known := c.used[digest]
	if !known {
		if h, err = c.provide(ctx, digest, fetch); err != nil {
			return t, nil, fmt.Errorf("preparing runtime %.12s…: %w", digest, err)
		}
		c.used[digest] = h
	}
	h.users++
	now := time.Now()
	_ = os.Chtimes(filepath.Join(c.dir, digest), now, now) // only the order of eviction suffers
	return h.tree, sync.OnceFunc(func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		h.users--
	}), nil
}

// provide makes sure of a whole tree.
func (c *Cache) provide(ctx context.Context, digest string, fetch Fetch) (*held, error) {
	m, err := c.compare(ctx, digest)
	if err == nil {
		return c.hold(&m, digest), nil
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		c.log.Warn("an unpacked runtime is not as it should be and is fetched again: did somebody change it?", "runtime", digest, "error", err)
	}
	if err := os.RemoveAll(filepath.Join(c.dir, digest)); err != nil {
		return nil, err
	}
	if m, err = c.unpack(ctx, digest, fetch); err != nil {
		return nil, err
	}
	return c.hold(&m, digest), nil
}

func (c *Cache) hold(m *Manifest, digest string) *held {
	return &held{tree: m.Tree(filepath.Join(c.dir, digest, treeName), digest), bytes: m.diskBytes()}
}

// compare reads a tree that an earlier process has unpacked: whoever ran as its user meanwhile may have changed it.
func (c *Cache) compare(ctx context.Context, digest string) (m Manifest, err error) {
	data, err := os.ReadFile(filepath.Join(c.dir, digest, manifestName))
	if err != nil {
		return m, err
	}
	if DigestOf(data) != digest {
		return m, errors.New("its manifest was changed")
	}
	if m, err = Parse(data); err != nil {
		return m, err
	}
	return m, Compare(ctx, &m, filepath.Join(c.dir, digest, treeName))
}

// unpack makes a whole tree beside its place and moves it there, so that what lies in its place was whole once.
func (c *Cache) unpack(ctx context.Context, digest string, fetch Fetch) (m Manifest, err error) {
	data, err := fetchManifest(ctx, digest, fetch)
	if err != nil {
		return m, err
	}
	if m, err = Parse(data); err != nil {
		return m, err
	}
	if m.Platform != Runs() {
		return m, fmt.Errorf("it is for %s on processors with AVX2 and FMA, which this machine is not", m.Platform)
	}
	if err := c.makeRoom(m.diskBytes()); err != nil {
		return m, err
	}
	stage, err := os.MkdirTemp(c.dir, tmpPrefix)
	if err != nil {
		return m, err
	}
	defer os.RemoveAll(stage) //nolint:errcheck // gone where all went well, swept later where not
	into := filepath.Join(stage, treeName)
	if err := os.Mkdir(into, 0o755); err != nil {
		return m, err
	}
	if err := os.Chmod(into, 0o755); err != nil { //nolint:gosec // the user of a sandbox reads it, whatever the umask is
		return m, err
	}
	open := func(ctx context.Context, p Piece) (io.ReadCloser, error) { return fetch(ctx, p.Digest) }
	if err := Unpack(ctx, &m, into, open); err != nil {
		return m, err
	}
	if err := os.WriteFile(filepath.Join(stage, manifestName), data, 0o600); err != nil {
		return m, err
	}
	if err := os.Chmod(stage, 0o711); err != nil { //nolint:gosec // a sandbox without a root of its own passes through as another user
		return m, err
	}
	c.log.Info("unpacked a runtime", "runtime", digest, "python", m.Python, "bytes", m.Bytes(), "files", len(m.Entries))
	return m, os.Rename(stage, filepath.Join(c.dir, digest))
}

func fetchManifest(ctx context.Context, digest string, fetch Fetch) ([]byte, error) {
	r, err := fetch(ctx, digest)
	if err != nil {
		return nil, fmt.Errorf("fetching its manifest: %w", err)
	}
	defer r.Close()
	data, err := io.ReadAll(io.LimitReader(r, MaxManifestBytes+1))
	if err != nil {
		return nil, fmt.Errorf("fetching its manifest: %w", err)
	}
	if DigestOf(data) != digest {
		return nil, fmt.Errorf("%w: the manifest", errPiece)
	}
	return data, nil
}

// makeRoom removes runtimes that nobody uses, those that were not used for longest first, until a new one fits.
func (c *Cache) makeRoom(size int64) error {
	entries, err := os.ReadDir(c.dir)
	if err != nil {
		return err
	}
	var there []fs.FileInfo
	total, sizes := size, map[string]int64{}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !e.IsDir() || !digestPattern.MatchString(e.Name()) {
			continue // removed in between, or being made
		}
		there = append(there, info)
		sizes[e.Name()] = c.bytesOf(e.Name())
		total += sizes[e.Name()]
	}
	slices.SortFunc(there, func(a, b fs.FileInfo) int { return a.ModTime().Compare(b.ModTime()) })
	for _, t := range there {
		if total <= c.max.Load() {
			break
		}
		if h := c.used[t.Name()]; h != nil && h.users > 0 {
			continue
		}
		delete(c.used, t.Name())
		if err := os.RemoveAll(filepath.Join(c.dir, t.Name())); err != nil {
			return err
		}
		total -= sizes[t.Name()]
	}
	if most := c.max.Load(); total > most {
		return fmt.Errorf("%w: with those in use there would be %d bytes, and %d are allowed", ErrNoRoom, total, most)
	}
	return nil
}

// bytesOf is the size of a runtime that lies in the cache.
func (c *Cache) bytesOf(digest string) (n int64) {
	if h := c.used[digest]; h != nil {
		return h.bytes
	}
	root := filepath.Join(c.dir, digest, treeName)
	_ = filepath.WalkDir(root, func(at string, d fs.DirEntry, err error) error { // what cannot be seen counts nothing
		if err != nil || at == root {
			return err
		}
		n += blockBytes // as Manifest.diskBytes counts
		if info, err := d.Info(); err == nil && d.Type().IsRegular() {
			n += info.Size()
		}
		return nil
	})
	return n
}
