package agent

import (
	"cmp"
	"context"
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

	"github.com/ostraka/ostraka/runtime/canonical"
	"github.com/ostraka/ostraka/runtime/inputdir"
	"github.com/ostraka/ostraka/runtime/inputfile"
)

// DefaultInputsBytes is how much disk the input files of earlier shards may take: one of the largest size that a shard may have.
const DefaultInputsBytes = inputfile.MaxBytes

// newInput is how files begin that are on their way into the cache.
const newInput = ".new-"

// inputCache keeps input files by their digest; the least recently used go first. A file in it is trusted no more than the
// network: its reader checks its digest.
type inputCache struct {
	dir string
	max int64
	log *slog.Logger
	// owner, where it is not zero, is the maximum that the owner has set instead.
	owner atomic.Int64

	mu   sync.Mutex
	busy map[string]*sync.Mutex // one worker at a time fetches a file, the others find it
	used map[string]int         // how many read a file now: it stays
}

func newInputCache(dir string, most int64, log *slog.Logger) *inputCache {
	return &inputCache{dir: dir, max: most, log: log, busy: map[string]*sync.Mutex{}, used: map[string]int{}}
}

// clear removes what an agent that was killed had on its way.
func (c *inputCache) clear() error {
	left, err := filepath.Glob(filepath.Join(c.dir, newInput+"*"))
	for _, path := range left {
		err = errors.Join(err, os.Remove(path))
	}
	if err != nil {
		return fmt.Errorf("clearing the cache of input files: %w", err)
	}
	return nil
}

// open opens a file, fetching it where it is not there. fetch writes its checked bytes.
func (c *inputCache) open(ctx context.Context, f inputfile.File, fetch func(ctx context.Context, to *os.File) error) (io.ReadCloser, error) {
	c.hold(f.Digest)
	done := c.alone(f.Digest)
	defer done()
	if in, err := c.kept(f); err == nil {
		return &heldInput{File: in, leave: func() error { c.release(f.Digest); return nil }}, nil
	} else if !errors.Is(err, fs.ErrNotExist) {
		c.log.Warn("a kept input file cannot be used and is fetched again", "digest", f.Digest, "error", err)
	}
	in, err := c.bring(ctx, f, fetch)
	if err != nil {
		c.release(f.Digest)
		return nil, err
	}
	return in, nil
}

// alone waits until no other caller opens the file.
func (c *inputCache) alone(digest string) (done func()) {
	c.mu.Lock()
	one, found := c.busy[digest]
	if !found {
		one = &sync.Mutex{}
		c.busy[digest] = one
	}
	c.mu.Unlock()
	one.Lock()
	return one.Unlock
}

func (c *inputCache) hold(digest string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.used[digest]++
}

func (c *inputCache) release(digest string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.used[digest]--; c.used[digest] == 0 {
		delete(c.used, digest)
		delete(c.busy, digest) // no caller waits for it: one that does holds the file
	}
}

func (c *inputCache) path(digest string) string { return filepath.Join(c.dir, digest) }

func (c *inputCache) kept(f inputfile.File) (*os.File, error) {
	in, err := os.Open(c.path(f.Digest))
	if err != nil {
		return nil, err
	}
	info, err := in.Stat()
	if err == nil && info.Size() != f.Size {
		err = fmt.Errorf("it has %d bytes instead of %d", info.Size(), f.Size)
	}
	if err != nil {
		in.Close()
		return nil, err
	}
	now := time.Now()
	_ = os.Chtimes(c.path(f.Digest), now, now) // only the order of eviction suffers
	return in, nil
}

// drop forgets a file whose bytes are not what they should be.
func (c *inputCache) drop(digest string) {
	if err := os.Remove(c.path(digest)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		c.log.Warn("a damaged input file cannot be removed", "digest", digest, "error", err)
	}
}

// bring fetches a file and keeps it where it fits; where not, it is gone when it was read.
func (c *inputCache) bring(ctx context.Context, f inputfile.File, fetch func(ctx context.Context, to *os.File) error) (io.ReadCloser, error) {
	part, err := os.CreateTemp(c.dir, newInput+"*")
	if err != nil {
		return nil, fmt.Errorf("keeping an input file: %w", err)
	}
	if err := fetch(ctx, part); err != nil {
		return nil, errors.Join(err, part.Close(), os.Remove(part.Name()))
	}
	path := part.Name()
	if err := part.Close(); err != nil {
		return nil, errors.Join(fmt.Errorf("keeping an input file: %w", err), os.Remove(path))
	}
	leave := func() error { c.release(f.Digest); return os.Remove(path) }
	if err := c.keep(path, f); err != nil {
		c.log.Warn("an input file cannot be kept and will be fetched again", "digest", f.Digest, "error", err)
	} else {
		path = c.path(f.Digest)
		leave = func() error { c.release(f.Digest); return nil }
	}
	in, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("reading an input file: %w", err)
	}
	return &heldInput{File: in, leave: leave}, nil
}

func (c *inputCache) keep(path string, f inputfile.File) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.makeRoom(f.Size); err != nil {
		return err
	}
	return os.Rename(path, c.path(f.Digest))
}

// capacity is how much the cache may hold now.
func (c *inputCache) capacity() int64 { return cmp.Or(c.owner.Load(), c.max) }

// makeRoom removes the files that were not used for longest until the new one fits; c is locked.
func (c *inputCache) makeRoom(size int64) error {
	entries, err := os.ReadDir(c.dir)
	if err != nil {
		return err
	}
	var files []fs.FileInfo
	total := size
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !canonical.IsDigest(e.Name()) {
			continue // removed in between, or on its way
		}
		total += info.Size()
		if c.used[e.Name()] == 0 {
			files = append(files, info)
		}
	}
	most := c.capacity()
	if size > most {
		return fmt.Errorf("it has %d bytes and the cache may have %d", size, most)
	}
	slices.SortFunc(files, func(a, b fs.FileInfo) int { return a.ModTime().Compare(b.ModTime()) })
	for _, f := range files {
		if total <= most {
			return nil
		}
		if err := os.Remove(filepath.Join(c.dir, f.Name())); err != nil {
			return err
		}
		total -= f.Size()
	}
	if total > most {
		return fmt.Errorf("the cache may have %d bytes, and all that is in it is in use", most)
	}
	return nil
}

// heldInput is an input file that stays in the cache until it is closed.
type heldInput struct {
	*os.File
	leave func() error
}

// Close implements io.Closer.
func (h *heldInput) Close() error { return errors.Join(h.File.Close(), h.leave()) }

// layInputs makes the files of a shard all that lies in the sandbox's folder of input files. An error says why the shard cannot run
// here: it says nothing about the function.
func (w *work) layInputs(ctx context.Context, shard int64, input string) error {
	if !w.lease.Files {
		return nil
	}
	if w.session.Inputs() == nil {
		return refused(refusedInput, "a function in WebAssembly reads no files, and the shards of its job are files")
	}
	files, err := inputfile.Parse([]byte(input))
	if err != nil {
		return refused(refusedInput, fmt.Sprintf("the files of shard %d cannot be laid down: %v", shard, err))
	}
	fetch := func(ctx context.Context, f inputfile.File) (io.ReadCloser, error) {
		return w.inputs.open(ctx, f, func(ctx context.Context, to *os.File) error { return w.fetchInput(ctx, shard, f, to) })
	}
	err = w.session.Inputs().Replace(ctx, files, fetch)
	if errors.Is(err, inputdir.ErrMismatch) { // a kept file was damaged on this disk: what is fetched again is checked
		for _, f := range files {
			w.inputs.drop(f.Digest)
		}
		err = w.session.Inputs().Replace(ctx, files, fetch)
	}
	if errors.Is(err, inputdir.ErrMismatch) {
		return refused(refusedInput, fmt.Sprintf("the files of shard %d do not have the digests that the lease names", shard))
	}
	return err
}

// fetchInput writes the bytes of a file, checked. A server that breaks off again and again may have a damaged copy.
func (w *work) fetchInput(ctx context.Context, shard int64, f inputfile.File, to *os.File) error {
	broken := 0
	return w.persist(ctx, "fetching an input file", func(ctx context.Context) error {
		err := w.fetchInputOnce(ctx, shard, f, to)
		switch {
		case err == nil || ctx.Err() != nil:
			return err
		case isLost(err):
			return refused(refusedInput, fmt.Sprintf("the server has lost the file %.60q of shard %d", f.Name, shard))
		case errors.Is(err, inputdir.ErrMismatch):
			return refused(refusedInput, fmt.Sprintf("the server sends other bytes for the file %.60q of shard %d than its digest promises", f.Name, shard))
		case brokeOff(err):
			if broken++; broken == maxBrokenBundles {
				return refused(refusedInput, fmt.Sprintf("the file %.60q of shard %d broke off %d times on its way: the server's copy may be damaged", f.Name, shard, broken))
			}
		}
		return err
	})
}

func (w *work) fetchInputOnce(ctx context.Context, shard int64, f inputfile.File, to *os.File) error {
	if err := to.Truncate(0); err != nil {
		return fmt.Errorf("keeping an input file: %w", err)
	}
	if _, err := to.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf("keeping an input file: %w", err)
	}
	body, err := w.server.input(ctx, w.lease.ID, shard, f)
	if err != nil {
		return err
	}
	defer body.Close()
	return inputdir.Copy(ctx, to, body, f)
}

// inputBytes is how much disk the input files of a lease take at a time at most: those of one shard, and one that is on its way.
func inputBytes(lease *heldLease) (most int64) {
	if !lease.Files {
		return 0
	}
	for _, shard := range lease.Shards {
		files, err := inputfile.Parse([]byte(shard.Input))
		if err != nil {
			continue // it says so itself when its turn comes
		}
		var total, largest int64
		for _, f := range files {
			total, largest = total+f.Size, max(largest, f.Size)
		}
		most = max(most, total+largest)
	}
	return most
}
