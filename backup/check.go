package backup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"sync"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"golang.org/x/sync/errgroup"

	"github.com/ostraka/ostraka/blob"
	"github.com/ostraka/ostraka/books"
	"github.com/ostraka/ostraka/devdb"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/migrations"
)

// StepBooks is the step of a check that counts jobs.
const StepBooks = "jobs"

// Checked is what a check has found.
type Checked struct {
	Manifest
	Digest  string   `json:"digest"`
	Jobs    int64    `json:"jobs"`    // whose books were looked into
	Wrong   []string `json:"wrong"`   // what cannot be restored, or would be wrong; the first of them
	Wrongs  int64    `json:"wrongs"`  // how much that is
	Behind  bool     `json:"behind"`  // a server migrates it when it starts
	Missing []string `json:"missing"` // objects that were not there when the backup was made
}

// checker collects what is wrong.
type checker struct {
	mu sync.Mutex
	Checked
	scratch  string
	progress Progress
}

// maxWrong bounds how much of what is wrong is named; all is counted.
const maxWrong = 100

func (c *checker) wrong(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.Wrongs++; len(c.Wrong) < maxWrong {
		c.Wrong = append(c.Wrong, fmt.Sprintf(format, args...))
	}
}

// Check restores a backup into a Postgres of its own, which is gone afterwards, and says what is wrong. It needs no installation, and touches
// none. scratch is a folder with room for the database; digest is what the manifest must have, or empty.
func Check(ctx context.Context, dir, scratch, digest string, progress Progress) (Checked, error) {
	c := &checker{scratch: scratch, progress: progress}
	var err error
	if c.Manifest, c.Digest, err = readWhole(dir, digest); err != nil {
		return c.Checked, err
	}
	objects, err := blob.OpenDir(filepath.Join(dir, objectsName))
	if err != nil {
		return c.Checked, err
	}
	err = c.readObjects(ctx, dir, objects)
	if err == nil {
		err = c.tryDatabase(ctx, dir, objects)
	}
	return c.Checked, errors.Join(err, objects.Close())
}

// readObjects reads every object that the backup says it has.
func (c *checker) readObjects(ctx context.Context, dir string, objects *blob.Store) error {
	var done int64
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(copiers)
	err := listed(dir)(func(o reference) error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		done++
		c.progress(StepObjects, done, c.Objects.Count)
		group.Go(func() error {
			err := readObject(ctx, objects, o)
			if errors.Is(err, blob.ErrNotFound) || errors.Is(err, blob.ErrCorrupt) {
				c.wrong("object %s of project %s: %v", o.digest, o.project, err)
				return nil
			}
			return err
		})
		return nil
	})
	if failed := group.Wait(); failed != nil {
		return failed
	}
	if err == nil && done != c.Objects.Count {
		c.wrong("the list of objects has %d lines, and the manifest says %d", done, c.Objects.Count)
	}
	return err
}

func readObject(ctx context.Context, objects *blob.Store, o reference) error {
	body, _, err := objects.Open(ctx, o.project, o.digest)
	if err != nil {
		return err
	}
	defer body.Close()
	_, err = io.Copy(io.Discard, body)
	return err
}

// tryDatabase restores the database where nobody needs it, and looks into it.
func (c *checker) tryDatabase(ctx context.Context, dir string, objects *blob.Store) (err error) {
	program, err := findProgram(ctx, "pg_restore", c.PgDump)
	if err != nil {
		return err
	}
	scratch, err := os.MkdirTemp(c.scratch, "ostraka-restore-check-")
	if err != nil {
		return fmt.Errorf("making a folder for a database to try: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(scratch)) }()
	server, err := devdb.Start(ctx, devdb.Options{Dir: scratch, Log: slog.New(slog.DiscardHandler), Disposable: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Stop(context.WithoutCancel(ctx))) }()
	db, err := connect(ctx, server.URL())
	if err != nil {
		return err
	}
	defer db.Close()
	if err := restoreDatabase(ctx, db, dir, server.URL(), program, c.Manifest, c.progress); err != nil {
		return fmt.Errorf("restoring the database to try it: %w", err)
	}
	return c.look(ctx, db, objects)
}

func (c *checker) look(ctx context.Context, db *pgxpool.Pool, objects *blob.Store) error {
	schemas, err := migrations.Status(ctx, db)
	if err != nil {
		return fmt.Errorf("looking at the schemas: %w", err)
	}
	c.Behind = migrations.Pending(schemas)
	ids, err := store.Values[uuid.UUID](ctx, db, projectIDs)
	if err != nil {
		return err
	}
	if len(ids) != len(c.Projects) {
		c.wrong("the database has %d projects, and the manifest says %d", len(ids), len(c.Projects))
	}
	for _, project := range ids {
		if err := c.lookAtProject(ctx, db, objects, project); err != nil {
			return fmt.Errorf("looking at project %s: %w", project, err)
		}
	}
	return nil
}

// lookAtProject compares a project with its objects, and looks into its books where they are as this program keeps them.
func (c *checker) lookAtProject(ctx context.Context, db *pgxpool.Pool, objects *blob.Store, project uuid.UUID) error {
	return pgx.BeginTxFunc(ctx, db, pgx.TxOptions{AccessMode: pgx.ReadOnly}, func(tx pgx.Tx) error {
		err := eachReference(ctx, tx, project, func(o reference) error {
			_, err := objects.Stat(ctx, o.project, o.digest)
			if o.must && errors.Is(err, blob.ErrNotFound) {
				c.Missing = appendFew(c.Missing, fmt.Sprintf("object %s of project %s", o.digest, o.project))
				return nil
			}
			if errors.Is(err, blob.ErrNotFound) {
				return nil
			}
			return err
		})
		if err != nil || c.Behind {
			return err
		}
		jobs, err := store.Values[uuid.UUID](ctx, tx, jobsToCheck)
		if err != nil {
			return err
		}
		for i, job := range jobs {
			if err := books.Check(ctx, tx.Conn(), job, books.OfAll); err != nil {
				c.wrong("job %s of project %s: %v", job, project, err)
			}
			c.Jobs++
			c.progress(StepBooks, int64(i)+1, int64(len(jobs)))
		}
		return ctx.Err()
	})
}

func appendFew(list []string, text string) []string {
	if len(list) >= maxWrong {
		return list
	}
	return append(list, text)
}
