package tree

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/ostraka/ostraka/runtime/canonical"
)

// makeRoom removes unused runtimes, the least recently used first, until the tree that a flight unpacks fits.
func (c *Cache) makeRoom(f *flight, size int64) error {
	sizes, err := c.measure()
	if err != nil {
		return err
	}
	gone, err := c.reserve(f, size, sizes)
	for _, dir := range gone {
		err = errors.Join(err, os.RemoveAll(dir))
	}
	return err
}

// reserve counts on a flight's bytes from now on, if they fit beside what is in use or on its way. What it moves out of its place for that, no other
// call finds any more, and it is to be removed.
func (c *Cache) reserve(f *flight, size int64, sizes map[string]int64) (gone []string, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	there, err := c.trees()
	if err != nil {
		return nil, err
	}
	total := size
	for _, other := range c.flights {
		total += other.bytes
	}
	for _, t := range there {
		total += c.counted(t.Name(), sizes)
	}
	slices.SortFunc(there, func(a, b fs.FileInfo) int { return a.ModTime().Compare(b.ModTime()) })
	for _, t := range there {
		if total <= c.max.Load() || c.inUse(t.Name()) {
			continue
		}
		total -= c.counted(t.Name(), sizes)
		dir, err := c.moveAway(t.Name())
		if gone = append(gone, dir); err != nil {
			return gone, err
		}
	}
	if most := c.max.Load(); total > most {
		return gone, fmt.Errorf("%w: with those in use there would be %d bytes, and %d are allowed", ErrNoRoom, total, most)
	}
	f.bytes = size
	return gone, nil
}

// counted is what a tree in its place counts: nothing where its flight has it counted already.
func (c *Cache) counted(digest string, sizes map[string]int64) int64 {
	if h := c.used[digest]; h != nil {
		return h.bytes
	}
	if f := c.flights[digest]; f != nil && f.bytes > 0 {
		return 0
	}
	return sizes[digest]
}

func (c *Cache) inUse(digest string) bool {
	h := c.used[digest]
	return c.flights[digest] != nil || h != nil && h.users > 0
}

// moveAway takes a tree out of its place at once, into a folder that the next process removes where this one does not.
func (c *Cache) moveAway(digest string) (into string, err error) {
	if into, err = os.MkdirTemp(c.dir, tmpPrefix); err != nil {
		return "", err
	}
	delete(c.used, digest)
	return into, os.Rename(filepath.Join(c.dir, digest), filepath.Join(into, treeName))
}

// trees are those that lie in their places.
func (c *Cache) trees() (list []fs.FileInfo, err error) {
	entries, err := os.ReadDir(c.dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !e.IsDir() || !canonical.IsDigest(e.Name()) {
			continue // removed in between, or being made
		}
		list = append(list, info)
	}
	return list, nil
}

// measure gives the sizes of the trees that lie in their places and that this process has not held yet: all others are known.
func (c *Cache) measure() (map[string]int64, error) {
	there, err := c.trees()
	sizes := map[string]int64{}
	for _, t := range there {
		c.mu.Lock()
		_, known := c.used[t.Name()]
		c.mu.Unlock()
		if !known {
			sizes[t.Name()] = c.bytesOf(t.Name())
		}
	}
	return sizes, err
}

// bytesOf is the size of a runtime that lies in the cache.
func (c *Cache) bytesOf(digest string) (n int64) {
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
