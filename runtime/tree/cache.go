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
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ostraka/ostraka/runtime/canonical"
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

	mu      sync.Mutex // of the maps alone: whatever takes long is done without it
	used    map[string]*held
	flights map[string]*flight
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
	c := &Cache{dir: dir, log: log, used: map[string]*held{}, flights: map[string]*flight{}}
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
	if !canonical.IsDigest(digest) {
		return t, nil, fmt.Errorf("preparing a runtime: %.80q is no digest", digest)
	}
	h, err := c.take(ctx, digest, fetch)
	if err != nil {
		return t, nil, fmt.Errorf("preparing runtime %.12s…: %w", digest, err)
	}
	now := time.Now()
	_ = os.Chtimes(filepath.Join(c.dir, digest), now, now) // only the order of eviction suffers
	return h.tree, sync.OnceFunc(func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		h.users--
	}), nil
}

// provide makes sure of a whole tree, in a flight of its digest.
func (c *Cache) provide(ctx context.Context, digest string, fetch Fetch, f *flight) (*held, error) {
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
	if m, err = c.unpack(ctx, digest, fetch, f); err != nil {
		return nil, err
	}
	return c.hold(&m, digest), nil
}

func (c *Cache) hold(m *Manifest, digest string) *held {
	return &held{tree: m.Tree(filepath.Join(c.dir, digest, treeName), digest), bytes: m.diskBytes()}
}

// compare reads a tree that an earlier process has unpacked: a program of the same user may have changed it meanwhile.
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

// unpack makes a whole tree beside its place and moves it there, so that a tree in its place was whole once.
func (c *Cache) unpack(ctx context.Context, digest string, fetch Fetch, f *flight) (m Manifest, err error) {
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
	if err := c.makeRoom(f, m.diskBytes()); err != nil {
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
