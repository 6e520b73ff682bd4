package wasm

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ostraka/ostraka/wasm/precheck"
	"github.com/ostraka/ostraka/wasm/runner"
)

const (
	// DefaultCacheSize bounds the compiled code on disk in bytes. The least
	// recently used module goes first.
	DefaultCacheSize = 1 << 30
	// staleAfter is how old a half-made entry must be before it is taken for
	// the leavings of a server that was killed.
	staleAfter = time.Hour
	compiling  = "compiling-"
)

// ErrNotPrivate says that others could have written to the cache.
var ErrNotPrivate = errors.New("it is not private")

// cache keeps compiled modules on disk, one directory for each. What is in it is
// native code that will be run, guarded by a checksum only: the directory must
// belong to this user and be closed to all others.
type cache struct {
	dir     string
	maxSize int64
	engine  string
	meter   string // version of the meter, or that there is none
	// mu keeps the trimming away from a directory that a runner is loading.
	mu sync.RWMutex
}

func openCache(dir string, maxSize int64, meter string) (*cache, error) {
	engine, err := runner.Engine()
	if err != nil {
		return nil, err
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return nil, fmt.Errorf("opening the module cache: %w", err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("opening the module cache: %w", err)
	}
	if err := checkPrivate(dir); err != nil {
		return nil, err
	}
	c := &cache{dir: dir, maxSize: maxSize, engine: engine, meter: meter}
	return c, c.sweep()
}

// path is where the compiled code of a module lives. All that it depends on is
// in the name.
func (c *cache) path(digest string) string {
	key := strings.Join([]string{digest, Contract, fmt.Sprintf("precheck/%d meter/%s", precheck.Version, c.meter), c.engine}, "\n")
	sum := sha256.Sum256([]byte(key))
	return filepath.Join(c.dir, hex.EncodeToString(sum[:]))
}

// meteredFile is the module with its meter, beside its compiled code.
const meteredFile = "metered.wasm"

// metered is where the module with its meter lies.
func (c *cache) metered(digest string) string { return filepath.Join(c.path(digest), meteredFile) }

// has tells whether a module is compiled, and marks it as used.
func (c *cache) has(digest string) bool {
	now := time.Now()
	return os.Chtimes(c.path(digest), now, now) == nil
}

// fill lets compile write a module's code into a fresh directory and puts that
// in place when it has succeeded.
func (c *cache) fill(digest string, compile func(dir string) error) error {
	dir, err := os.MkdirTemp(c.dir, compiling)
	if err != nil {
		return fmt.Errorf("making room for compiled code: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }() // what stays is swept at the next start
	if err := compile(dir); err != nil {
		return err
	}
	err = os.Rename(dir, c.path(digest))
	if err != nil && !c.has(digest) { // somebody was quicker
		return fmt.Errorf("keeping compiled code: %w", err)
	}
	return c.trim(c.path(digest))
}

// sweep removes what killed servers left half made, and trims.
func (c *cache) sweep() error {
	entries, err := os.ReadDir(c.dir)
	if err != nil {
		return fmt.Errorf("sweeping the module cache: %w", err)
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !strings.HasPrefix(e.Name(), compiling) || time.Since(info.ModTime()) < staleAfter {
			continue
		}
		if err := os.RemoveAll(filepath.Join(c.dir, e.Name())); err != nil {
			return fmt.Errorf("sweeping the module cache: %w", err)
		}
	}
	return c.trim("")
}

type cached struct {
	path string
	size int64
	used time.Time
}

// trim removes the least recently used entries until the cache is within its
// bound. The entry keep stays.
func (c *cache) trim(keep string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	entries, err := os.ReadDir(c.dir)
	if err != nil {
		return fmt.Errorf("trimming the module cache: %w", err)
	}
	var all []cached
	var total int64
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || strings.HasPrefix(e.Name(), compiling) {
			continue
		}
		entry := cached{path: filepath.Join(c.dir, e.Name()), used: info.ModTime()}
		entry.size = sizeOf(entry.path)
		all, total = append(all, entry), total+entry.size
	}
	slices.SortFunc(all, func(a, b cached) int { return cmp.Or(a.used.Compare(b.used), cmp.Compare(a.path, b.path)) })
	for _, entry := range all {
		if total <= c.maxSize {
			break
		}
		if entry.path == keep {
			continue
		}
		if err := os.RemoveAll(entry.path); err != nil {
			return fmt.Errorf("trimming the module cache: %w", err)
		}
		total -= entry.size
	}
	return nil
}

// sizeOf adds up the files below a path; what cannot be read counts nothing.
func sizeOf(path string) (total int64) {
	_ = filepath.WalkDir(path, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			if info, err := d.Info(); err == nil {
				total += info.Size()
			}
		}
		return nil
	})
	return total
}
