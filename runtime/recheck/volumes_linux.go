package recheck

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"time"

	"github.com/ostraka/ostraka/runtime/harness"
	"github.com/ostraka/ostraka/runtime/linux"
	"github.com/ostraka/ostraka/runtime/volume"
)

// lookAtVolumes is how often it is looked whether volumes are as they were.
const lookAtVolumes = 10 * time.Minute

// Shelf are the volumes that an executor shows functions.
type Shelf struct {
	list    []volume.Mapping
	book    *volume.Book
	written *volume.Writable
	dir     string // for empty volumes
	stop    context.CancelFunc
	done    chan struct{}
}

// OpenShelf refuses a volume that cannot be shown, and looks at the others from then on. dir is the executor's private folder; neither that nor what is
// hidden can be a volume.
func OpenShelf(list []volume.Mapping, dir string, hidden []string, log *slog.Logger) (*Shelf, error) {
	blocked := volume.NewBlocklist(append(slices.Clone(hidden), dir)...)
	for _, m := range list {
		folder, err := volume.Open(m.Name, m.Path, blocked)
		if err != nil {
			return nil, err
		}
		_ = folder.Close() // nothing was read from it
	}
	ctx, stop := context.WithCancel(context.Background())
	s := &Shelf{list: list, written: volume.NewWritable(log), dir: dir, book: volume.NewBook(filepath.Join(dir, "volumes"), blocked, log), stop: stop, done: make(chan struct{})}
	go s.look(ctx)
	return s, nil
}

func (s *Shelf) look(ctx context.Context) {
	defer close(s.done)
	tick := time.NewTicker(lookAtVolumes)
	defer tick.Stop()
	for {
		s.book.Look(ctx, s.list, func() {}) // who wants to know asks
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// Close stops looking at them.
func (s *Shelf) Close() {
	s.stop()
	<-s.done
}

// Offers are those that functions may have.
func (s *Shelf) Offers() []volume.Offer { return s.book.Offers() }

// WrittenBytes is how much a function may write to one volume when a server executes it: such a volume is empty there for each batch, so it is a cache that
// has to be filled, and not one for a month.
const WrittenBytes = 256 << 20

// Lend opens the folders that a batch's function wants. The caller closes them.
func (s *Shelf) Lend(ctx context.Context, batch Batch) (folders []*volume.Folder, err error) {
	for _, wanted := range batch.Bundle.Manifest.Volumes {
		if wanted.Mode == volume.ReadWrite {
			folder, err := s.written.OpenFresh(wanted.Name, s.dir, WrittenBytes)
			if err != nil {
				return nil, errors.Join(err, volume.CloseAll(folders))
			}
			folders = append(folders, folder)
			continue
		}
		var folder *volume.Folder
		err := fmt.Errorf("this server has no volume %s for the project", wanted.Name)
		for _, m := range s.list {
			if m.Name == wanted.Name && m.IsFor(batch.Project) {
				folder, err = s.book.Lend(ctx, m, volume.Borrower{Project: batch.Project, Function: batch.Bundle.Manifest.Name}, wanted.Mode, wanted.Fingerprint)
			}
		}
		if err != nil {
			return nil, errors.Join(err, volume.CloseAll(folders))
		}
		folders = append(folders, folder)
	}
	return folders, nil
}

// Volumes are those that functions may have here.
func (l *Local) Volumes() []volume.Offer { return l.shelf.Offers() }

// executeWithVolumes executes a batch in a sandbox of its own, which ends with it: the next batch may see other folders.
func (l *Local) executeWithVolumes(ctx context.Context, batch Batch) (results []harness.Result, err error) {
	l.kept.BeginNew()
	defer l.kept.End()
	settings := batch.Settings()
	if settings.Volumes, err = l.shelf.Lend(ctx, batch); err != nil {
		return nil, err
	}
	guarded, stop := volume.Guard(ctx, settings.Volumes) // functions write while they are imported as well
	var s *linux.Sandbox
	if s, err = l.open(guarded, batch, settings); err == nil {
		results, err = runIn(guarded, s, batch)
		err = errors.Join(err, s.Close())
	}
	if over := stop(); over != nil {
		results, err = nil, errors.Join(&Error{
			Class: Full, Err: fmt.Errorf("a function writes to its volumes: %w", over), Hint: "have the function keep less in them: a server gives each 256 MiB",
		}, err)
	}
	return results, errors.Join(err, volume.CloseAll(settings.Volumes))
}
