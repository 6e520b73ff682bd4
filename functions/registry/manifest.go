package registry

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"github.com/ostraka/ostraka/blob"
	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/partition"
	"github.com/ostraka/ostraka/functions/registry/sql"
	"github.com/ostraka/ostraka/functions/store"
)

const (
	// MaxLooseObjects is how many objects a manifest may name by digests that no file of the project has: each is looked up in the
	// object store while the request waits.
	MaxLooseObjects = 100_000
	// manifestBatch is how many entries of a manifest are looked up at a time.
	manifestBatch = 1000
	// looseLookups is how many objects are looked up in the object store at a time.
	looseLookups = 16
)

// objectRow is what a job's manifest says of a file.
type objectRow struct {
	Name   string
	Digest string
	Size   int64
}

// FixObjects makes the manifest that a job keeps: names, digests and sizes as they are now. What becomes of the names afterwards is
// nothing to the job.
func (s *Service) FixObjects(ctx context.Context, project uuid.UUID, want partition.Objects) (partition.Spec, error) {
	var lines func(ctx context.Context, put func(objectRow) error) error
	if want.Manifest == "" {
		lines = func(ctx context.Context, put func(objectRow) error) error {
			return s.filesUnder(ctx, project, want.Prefix, put)
		}
	} else {
		lines = func(ctx context.Context, put func(objectRow) error) error {
			return s.filesOf(ctx, project, want.Manifest, put)
		}
	}
	object, err := s.putManifest(ctx, project, lines)
	if err != nil {
		return partition.Spec{}, err
	}
	return partition.Spec{Kind: partition.KindObjects, Objects: partition.Objects{Manifest: object.Digest, PerShard: want.PerShard}}, nil
}

// putManifest stores rows as they come, so that a million of them are never in memory.
func (s *Service) putManifest(ctx context.Context, project uuid.UUID, lines func(context.Context, func(objectRow) error) error) (o functions.Object, err error) {
	in, out := io.Pipe()
	var work errgroup.Group
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var refused error
	work.Go(func() error {
		to := bufio.NewWriterSize(out, 64<<10)
		var line []byte
		refused = lines(ctx, func(row objectRow) (err error) {
			if line, err = partition.AppendEntry(line[:0], row.Name, row.Digest, row.Size); err == nil {
				_, err = to.Write(line)
			}
			return err
		})
		if refused == nil {
			refused = to.Flush()
		}
		return out.CloseWithError(refused)
	})
	o, err = s.putObject(ctx, project, "", in, MaxObjectBytes)
	_ = in.CloseWithError(io.ErrClosedPipe) // the writer stops where the store has
	cancel(nil)
	_ = work.Wait() // closing a pipe never fails
	var ours *functions.Error
	var bad *partition.Error
	if errors.As(refused, &ours) || errors.As(refused, &bad) {
		return o, functions.BadPartition(refused)
	}
	return o, err
}

// filesUnder puts the files under a prefix: as one statement sees them, so that no change comes in between.
func (s *Service) filesUnder(ctx context.Context, project uuid.UUID, prefix string, put func(objectRow) error) error {
	count := 0
	err := s.env.Project(ctx, project, func(tx *store.Tx) error {
		if count > 0 {
			return errors.New("the list of files broke off") // what was put cannot be taken back
		}
		return store.Each(ctx, tx, sql.StreamFiles, func(row objectRow) error {
			count++
			return put(row)
		}, prefix)
	})
	if err == nil && count == 0 {
		return &partition.Error{Code: partition.CodeNoItems, Field: "prefix", Detail: fmt.Sprintf("no file has a name that begins with %.80q", prefix), Hint: "ostraka file list shows what there is; names begin without a slash"}
	}
	return err
}

// filesOf puts the files that a manifest of the user's lists.
func (s *Service) filesOf(ctx context.Context, project uuid.UUID, manifest string, put func(objectRow) error) error {
	object, _, err := s.OpenObject(ctx, project, manifest)
	if err != nil {
		return err
	}
	defer func() { _ = object.Close() }()
	entries := partition.NewEntries(object)
	loose := 0
	for line := int64(1); ; line += manifestBatch {
		batch, last, err := readBatch(entries)
		if err != nil {
			return err
		}
		if err := s.resolve(ctx, project, batch, line, &loose); err != nil {
			return err
		}
		for _, e := range batch {
			if err := put(objectRow{Name: e.Name, Digest: e.Digest, Size: *e.Size}); err != nil {
				return err
			}
		}
		if last {
			return nil
		}
	}
}

func readBatch(entries *partition.Entries) (batch []partition.Entry, last bool, err error) {
	for len(batch) < manifestBatch {
		e, err := entries.Next()
		if errors.Is(err, io.EOF) {
			return batch, true, nil
		}
		if err != nil {
			return nil, false, err
		}
		e.Size = nil // only what is stored says how large it is
		batch = append(batch, e)
	}
	return batch, false, nil
}

// resolve finds the digests of names and the sizes of objects. first is the number of the first entry, counted from 1.
func (s *Service) resolve(ctx context.Context, project uuid.UUID, batch []partition.Entry, first int64, loose *int) error {
	var names, digests []string
	for _, e := range batch {
		if e.Digest == "" {
			names = append(names, e.Name)
		} else {
			digests = append(digests, e.Digest)
		}
	}
	byName, sizes := map[string]objectRow{}, map[string]int64{}
	err := s.env.Project(ctx, project, func(tx *store.Tx) error {
		rows, err := store.Many[objectRow](ctx, tx, sql.FilesByName, names)
		for _, row := range rows {
			byName[row.Name] = row
		}
		if err != nil {
			return err
		}
		type sized struct {
			Digest string
			Size   int64
		}
		known, err := store.Many[sized](ctx, tx, sql.FilesByDigest, digests)
		for _, row := range known {
			sizes[row.Digest] = row.Size
		}
		return err
	})
	if err != nil {
		return err
	}
	if err := s.findLoose(ctx, project, digests, sizes, loose); err != nil {
		return err
	}
	for i := range batch {
		e := &batch[i]
		if row, found := byName[e.Name]; e.Digest == "" && found {
			e.Digest, e.Size = row.Digest, &row.Size
		} else if size, found := sizes[e.Digest]; e.Digest != "" && found {
			e.Size = &size
		}
		if e.Size == nil {
			return &partition.Error{Code: partition.CodeNoFile, Detail: fmt.Sprintf("entry %d of the manifest: there is no %s", first+int64(i), missing(*e)), Hint: "store it with ostraka file put, or take it out of the manifest"}
		}
	}
	return nil
}

// missing says what an entry names that is not there.
func missing(e partition.Entry) string {
	if e.Digest != "" {
		return "object " + e.Digest
	}
	return fmt.Sprintf("file %q", e.Name)
}

// findLoose finds the sizes of objects that no file names.
func (s *Service) findLoose(ctx context.Context, project uuid.UUID, digests []string, sizes map[string]int64, loose *int) error {
	var unknown []string
	asked := map[string]bool{}
	for _, d := range digests {
		if _, known := sizes[d]; !known && !asked[d] {
			asked[d] = true
			unknown = append(unknown, d)
		}
	}
	if *loose += len(unknown); *loose > MaxLooseObjects {
		return &partition.Error{Code: partition.CodeNoFile, Detail: fmt.Sprintf("the manifest names more than %d objects that are no files of the project", MaxLooseObjects), Hint: "name them with ostraka file put, which keeps their sizes, or split the manifest over several jobs"}
	}
	found := make([]int64, len(unknown))
	lookups, ctx := errgroup.WithContext(ctx)
	lookups.SetLimit(looseLookups)
	for i, digest := range unknown {
		lookups.Go(func() (err error) {
			found[i], err = s.env.Blobs.Stat(ctx, project, digest)
			if errors.Is(err, blob.ErrNotFound) {
				found[i], err = -1, nil
			}
			return err
		})
	}
	if err := lookups.Wait(); err != nil {
		return fmt.Errorf("looking for the objects of a manifest: %w", err)
	}
	for i, digest := range unknown {
		if found[i] >= 0 {
			sizes[digest] = found[i]
		}
	}
	return nil
}
