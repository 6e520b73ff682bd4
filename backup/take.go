package backup

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/ostraka/ostraka/blob"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/migrations"
)

// Progress is told how far a step is. What is counted, and of how many, changes from step to step.
type Progress func(step string, done, total int64)

// The steps that Progress is told of.
const (
	StepDatabase = "database" // tables
	StepObjects  = "objects"
)

// Source is the installation that is copied.
type Source struct {
	DatabaseURL string
	Objects     *blob.Store
	Program     string // the version of this program
	Elsewhere   []Elsewhere
}

// Taken is a finished backup.
type Taken struct {
	Manifest
	Digest  string   `json:"digest"` // of the manifest
	Missing []string `json:"missing,omitempty"`
}

// OtherStoreError says that the object store has none of the objects that the database refers to. It is another one than the servers have,
// and what would come of it is no backup.
type OtherStoreError struct{ Objects int64 }

// Error implements error.
func (e *OtherStoreError) Error() string {
	return fmt.Sprintf("the object store has none of the %d objects that the database refers to", e.Objects)
}

// taker makes one backup.
type taker struct {
	Source
	db       *pgxpool.Pool
	to       target // the same database, for Postgres' own programs
	program  string // pg_dump
	f        *folder
	m        Manifest
	progress Progress
}

// Take copies an installation into a folder while servers work on. One that was cut off goes on in the same folder: the database is copied
// anew, and objects that are there already are not.
func Take(ctx context.Context, from Source, dir string, progress Progress) (taken Taken, err error) {
	t := &taker{Source: from, m: Manifest{Format: Format, Program: from.Program, Elsewhere: from.Elsewhere}, progress: progress}
	if t.to, err = targetOf(from.DatabaseURL); err != nil {
		return taken, err
	}
	if t.db, err = connect(ctx, from.DatabaseURL); err != nil {
		return taken, err
	}
	defer t.db.Close()
	if err := t.prepare(ctx); err != nil {
		return taken, err
	}
	if t.f, err = openFolder(dir); err != nil {
		return taken, err
	}
	defer t.f.close()
	if taken.Missing, err = t.copyAll(ctx); err != nil {
		return taken, err
	}
	taken.Manifest = t.m
	return taken, finish(ctx, t.db, t.f, &taken)
}

// copyAll copies the database and then the objects, while none is removed.
func (t *taker) copyAll(ctx context.Context) (missing []string, err error) {
	held, err := hold(ctx, t.db)
	if err != nil {
		return nil, err
	}
	defer held.Release()
	refer, err := t.copyDatabase(ctx)
	if err != nil {
		return nil, fmt.Errorf("copying the database: %w", err)
	}
	if missing, err = copyObjects(ctx, t.Objects, t.f, refer, &t.m, t.progress); err != nil {
		return nil, fmt.Errorf("copying the objects: %w", err)
	}
	if o := t.m.Objects; o.Count == 0 && o.Missing > 0 {
		return nil, &OtherStoreError{o.Missing}
	}
	// Had this session ended meanwhile, objects could have been removed before they were copied.
	if err := held.Ping(ctx); err != nil {
		return nil, fmt.Errorf("the connection was lost that keeps objects from being removed: %w", err)
	}
	return missing, nil
}

// finish makes a backup of the folder, and has the installation remember it.
func finish(ctx context.Context, db *pgxpool.Pool, f *folder, taken *Taken) (err error) {
	taken.FinishedAt = time.Now().UTC().Truncate(time.Second)
	if taken.Digest, err = taken.write(f.dir); err != nil {
		return err
	}
	if err := f.finish(); err != nil {
		return err
	}
	o := taken.Objects
	if _, err := store.Exec(ctx, db, addBackup, taken.Digest, taken.TakenAt, taken.Program, taken.Database.Bytes, o.Count, o.Bytes, o.Missing); err != nil {
		return fmt.Errorf("the backup is finished, and the installation could not be told: %w", err)
	}
	return nil
}

// connect opens a few connections of our own: those of servers give up a transaction that is idle, and plan for small questions.
func connect(ctx context.Context, url string) (*pgxpool.Pool, error) {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, errURL
	}
	config.MaxConns = 4
	config.ConnConfig.RuntimeParams["search_path"] = ""
	config.ConnConfig.RuntimeParams["application_name"] = "ostraka backup"
	config.ConnConfig.RuntimeParams["idle_in_transaction_session_timeout"] = "0"
	config.ConnConfig.RuntimeParams["statement_timeout"] = "0"
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err == nil {
		if err = pool.Ping(ctx); err == nil {
			return pool, nil
		}
		pool.Close()
	}
	return nil, fmt.Errorf("connecting to the database: %w", err)
}

// prepare looks at the server, and finds the program that copies it.
func (t *taker) prepare(ctx context.Context) (err error) {
	if t.m.Postgres, err = serverVersion(ctx, t.db); err != nil {
		return err
	}
	if t.m.Schemas, err = migrations.Status(ctx, t.db); err != nil {
		return fmt.Errorf("looking at the schemas: %w", err)
	}
	if migrations.Pending(t.m.Schemas) {
		return errors.New("some schemas are behind what this program expects: back up with the program that the servers run, or run ostraka migrate up first")
	}
	if t.program, err = findProgram(ctx, "pg_dump", majorIn(t.m.Postgres)); err != nil {
		return err
	}
	t.m.PgDump = majorOf(ctx, t.program)
	return nil
}

func serverVersion(ctx context.Context, db *pgxpool.Pool) (version string, err error) {
	err = db.AcquireFunc(ctx, func(c *pgxpool.Conn) error {
		version, _, _ = strings.Cut(c.Conn().PgConn().ParameterStatus("server_version"), " ")
		return nil
	})
	return version, err
}

// majorIn is the first number of a version, also of 18beta1.
func majorIn(version string) int {
	digits := version[:len(version)-len(strings.TrimLeft(version, "0123456789"))]
	major, err := strconv.Atoi(digits)
	if err != nil {
		return 0
	}
	return major
}

// hold keeps objects from being removed for as long as the connection is not released.
func hold(ctx context.Context, db *pgxpool.Pool) (*heldConnection, error) {
	conn, err := db.Acquire(ctx)
	if err != nil {
		return nil, fmt.Errorf("connecting to the database: %w", err)
	}
	held := &heldConnection{conn.Hijack()}
	if _, err := store.Exec(ctx, held, holdObjects); err != nil {
		held.Release()
		return nil, fmt.Errorf("keeping objects from being removed: %w", err)
	}
	return held, nil
}

// heldConnection holds a lock that ends with it.
type heldConnection struct{ *pgx.Conn }

// Release closes the connection, and so ends the lock.
func (h *heldConnection) Release() { h.Close(context.Background()) }

// copyDatabase copies the database as it is at one moment, and says at which objects it looks then.
func (t *taker) copyDatabase(ctx context.Context) (*references, error) {
	tx, err := t.db.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
	if err != nil {
		return nil, fmt.Errorf("beginning a transaction: %w", err)
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }()
	snapshot, _, err := store.Value[string](ctx, tx, exportSnapshot)
	if err != nil {
		return nil, err
	}
	if t.m.TakenAt, _, err = store.Value[time.Time](ctx, tx, databaseTime); err != nil {
		return nil, err
	}
	t.m.TakenAt = t.m.TakenAt.UTC()
	if t.m.Projects, err = store.Values[uuid.UUID](ctx, tx, projectIDs); err != nil {
		return nil, err
	}
	if t.m.Tables, _, err = store.Value[int64](ctx, tx, tables); err != nil {
		return nil, err
	}
	refer, err := listReferences(ctx, tx, t.f, t.m.Projects)
	if err != nil {
		return nil, err
	}
	if err := t.dump(ctx, snapshot); err != nil {
		return nil, err
	}
	t.m.Database, err = pieceOf(t.f.dir, databaseName)
	return refer, err
}

func (t *taker) dump(ctx context.Context, snapshot string) error {
	if err := writeDurably(t.f.path(databaseName), nil); err != nil { // so that nobody else reads it, whatever the umask
		return err
	}
	return run(ctx, t.to, countLines("dumping contents of table", t.m.Tables, t.progress), t.program, "--dbname", t.to.url,
		"--snapshot", snapshot, "--format", "custom", "--verbose", "--no-password",
		"--schema", migrations.ControlSchema, "--schema", migrations.RiverSchema, "--schema", "project_*", "--file", t.f.path(databaseName))
}

// countLines makes of the lines in which a program names each table how far it is.
func countLines(marked string, total int64, progress Progress) func(line string) {
	var done int64
	return func(line string) {
		if strings.Contains(line, marked) {
			done++
			progress(StepDatabase, min(done, total), total)
		}
	}
}
