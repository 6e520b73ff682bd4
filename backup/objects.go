package backup

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"sync"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"github.com/ostraka/ostraka/blob"
)

const (
	// copiers is how many objects are copied at a time: most are small, and each waits for a disk or a network.
	copiers = 8
	// maxMissing bounds how many missing objects are named; all are counted.
	maxMissing = 100
)

// copier copies objects from one store to another and counts them.
type copier struct {
	from, to *blob.Store
	total    int64
	progress Progress
	read     bool // what is there is read before it is taken for what its name says

	mu      sync.Mutex
	done    int64
	count   int64
	bytes   int64
	lost    int64
	mended  int64 // objects that were there and spoilt
	missing []string
	list    *bufio.Writer // of what was copied; may be nil
}

// copyObjects copies all objects that are referred to, and says which of them are missing.
func copyObjects(ctx context.Context, from *blob.Store, f *folder, refer *references, m *Manifest, progress Progress) ([]string, error) {
	to, err := blob.OpenDir(f.path(objectsName))
	if err != nil {
		return nil, err
	}
	file, err := os.OpenFile(f.path(listName), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("listing the objects: %w", err), to.Close())
	}
	c := &copier{from: from, to: to, total: refer.count, progress: progress, list: bufio.NewWriter(file)}
	err = c.all(ctx, refer.each)
	err = errors.Join(err, c.list.Flush(), file.Sync(), file.Close(), to.Close())
	if err == nil {
		err = os.Remove(refer.path)
	}
	if err != nil {
		return nil, err
	}
	m.Objects = Objects{Count: c.count, Bytes: c.bytes, Missing: c.lost}
	m.Objects.List, err = pieceOf(f.dir, listName)
	return c.missing, err
}

// all copies what each hands on, some at a time, and stops at the first error.
func (c *copier) all(ctx context.Context, each func(func(reference) error) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(copiers)
	err := each(func(o reference) error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		group.Go(func() error { return c.one(ctx, o) })
		return nil
	})
	// What a copy has failed with says more than that the rest was stopped.
	if failed := group.Wait(); failed != nil {
		return failed
	}
	return err
}

func (c *copier) one(ctx context.Context, o reference) error {
	size, err := c.copy(ctx, o.project, o.digest)
	gone, spoilt := errors.Is(err, blob.ErrNotFound), errors.Is(err, blob.ErrCorrupt)
	if err != nil && !gone && !spoilt {
		return fmt.Errorf("copying object %s of project %s: %w", o.digest, o.project, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.done++
	c.progress(StepObjects, c.done, c.total)
	switch {
	case err == nil:
		c.count, c.bytes = c.count+1, c.bytes+size
		if c.list != nil {
			_, err = fmt.Fprintf(c.list, "%s %s\n", o.project, o.digest)
		}
		return err
	case spoilt:
		c.lose(o, "its bytes are others")
	case o.must:
		c.lose(o, "it is not there")
	}
	return nil
}

func (c *copier) lose(o reference, why string) {
	if c.lost++; len(c.missing) < maxMissing {
		c.missing = append(c.missing, fmt.Sprintf("object %s of project %s: %s", o.digest, o.project, why))
	}
}

// copy copies one object, unless it is there already.
func (c *copier) copy(ctx context.Context, project uuid.UUID, digest string) (int64, error) {
	size, err := c.there(ctx, project, digest)
	spoilt := errors.Is(err, blob.ErrCorrupt)
	if err == nil || !spoilt && !errors.Is(err, blob.ErrNotFound) {
		return size, err
	}
	size, err = c.put(ctx, project, digest)
	if err == nil && spoilt {
		c.mu.Lock()
		c.mended++
		c.mu.Unlock()
	}
	return size, err
}

// there is the size of an object that is there. We never leave half of one under its name; a store that was not lost may have lost some.
func (c *copier) there(ctx context.Context, project uuid.UUID, digest string) (int64, error) {
	size, err := c.to.Stat(ctx, project, digest)
	if err == nil && c.read {
		err = readObject(ctx, c.to, reference{project, digest, true})
	}
	return size, err
}

func (c *copier) put(ctx context.Context, project uuid.UUID, digest string) (int64, error) {
	body, _, err := c.from.Open(ctx, project, digest)
	if err != nil {
		return 0, err
	}
	defer body.Close()
	return c.to.PutDigest(ctx, project, digest, body, blob.MaxObject)
}
