package backup

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/ostraka/ostraka/blob"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/migrations"
)

// Destination is the installation that a backup becomes.
type Destination struct {
	DatabaseURL string
	Objects     *blob.Store
	// KeepObjects allows objects of the backup's projects in the store: an earlier restore was cut off, or the store was not lost.
	KeepObjects bool
}

// NotEmptyError says that there is something where a backup was to be restored.
type NotEmptyError struct {
	Where string
	Holds []string
	// Same says that it is objects of the backup's own projects.
	Same bool
}

// Error implements error.
func (e *NotEmptyError) Error() string {
	return fmt.Sprintf("%s is not empty: it holds %s", e.Where, strings.Join(e.Holds, ", "))
}

// shownNames is how many things an error names.
const shownNames = 5

func notEmpty(where string, holds []string) *NotEmptyError {
	if len(holds) > shownNames {
		holds = append(slices.Clone(holds[:shownNames]), fmt.Sprintf("and %d more", len(holds)-shownNames))
	}
	return &NotEmptyError{Where: where, Holds: holds}
}

// Restore makes an installation of a backup. Objects come first, then the projects' schemas, and what names the projects last. Where it
// fails, the database is left empty as it was; objects that were copied stay.
func Restore(ctx context.Context, dir string, to Destination, progress Progress) (m Manifest, err error) {
	if m, err = readWhole(dir); err != nil {
		return m, err
	}
	db, err := connect(ctx, to.DatabaseURL)
	if err != nil {
		return m, err
	}
	defer db.Close()
	if err := mayRestore(ctx, db, m); err != nil {
		return m, err
	}
	if err := checkStore(ctx, to, m.Projects); err != nil {
		return m, err
	}
	program, err := findProgram(ctx, "pg_restore", m.PgDump)
	if err != nil {
		return m, err
	}
	if err := restoreObjects(ctx, dir, to.Objects, m, progress); err != nil {
		return m, fmt.Errorf("restoring the objects: %w", err)
	}
	if err := restoreDatabase(ctx, db, dir, to.DatabaseURL, program, m, progress); err != nil {
		return m, fmt.Errorf("restoring the database: %w", err)
	}
	return m, nil
}

// readWhole reads a manifest of a backup that this program can restore, and looks at all but the objects.
func readWhole(dir string) (m Manifest, err error) {
	if m, _, err = Read(dir); err != nil {
		return m, err
	}
	for _, p := range []Piece{m.Database, m.Objects.List} {
		if err := p.verify(dir); err != nil {
			return m, err
		}
	}
	known, err := migrations.Known()
	if err != nil {
		return m, err
	}
	for _, s := range m.Schemas {
		if s.Needs > known[migrations.KindOf(s.Name)] {
			return m, fmt.Errorf("the backup was made by a newer ostraka (%s): restore it with that", m.Program)
		}
	}
	return m, nil
}

// mayRestore refuses a database that holds something, or whose role or version would fail halfway.
func mayRestore(ctx context.Context, db *pgxpool.Pool, m Manifest) error {
	at := db.Config().ConnConfig
	begun, err := store.Values[string](ctx, db, begunSchemas)
	if err != nil {
		return err
	}
	if len(begun) > 0 {
		return notEmpty("the database "+at.Database+" at "+at.Host, begun)
	}
	version, err := serverVersion(ctx, db)
	if err != nil {
		return err
	}
	if majorIn(version) < majorIn(m.Postgres) {
		return fmt.Errorf("the database is PostgreSQL %s, and the backup is of %s: restore it into that version or a later one", version, m.Postgres)
	}
	rights, err := migrations.ReadRights(ctx, db)
	if err != nil {
		return err
	}
	if !rights.CreateRoles || !rights.CreateSchemas {
		return fmt.Errorf("the role %s may not create roles and schemas, and each project needs one: ostraka doctor says how to let it", rights.Role)
	}
	return nil
}

func checkStore(ctx context.Context, to Destination, ours []uuid.UUID) error {
	there, err := to.Objects.Projects(ctx)
	if err != nil {
		return err
	}
	known := map[uuid.UUID]bool{}
	for _, id := range ours {
		known[id] = true
	}
	var others, same []string
	for _, id := range there {
		if known[id] {
			same = append(same, "objects of project "+id.String())
		} else {
			others = append(others, "objects of project "+id.String()+", which is not of this backup")
		}
	}
	if len(others) > 0 {
		return notEmpty("the object store", others)
	}
	if len(same) > 0 && !to.KeepObjects {
		e := notEmpty("the object store", same)
		e.Same = true
		return e
	}
	return nil
}

// restoreObjects copies all objects of a backup, each of which must be what its name says.
func restoreObjects(ctx context.Context, dir string, to *blob.Store, m Manifest, progress Progress) error {
	from, err := blob.OpenDir(filepath.Join(dir, objectsName))
	if err != nil {
		return err
	}
	c := &copier{from: from, to: to, total: m.Objects.Count, progress: progress}
	err = errors.Join(c.all(ctx, listed(dir)), from.Close())
	if err == nil && c.lost > 0 {
		err = fmt.Errorf("%w: %d objects of its list cannot be restored: %s", ErrChanged, c.lost, strings.Join(c.missing[:min(len(c.missing), shownNames)], "; "))
	}
	return err
}

// listed hands on the objects that a backup has.
func listed(dir string) func(func(reference) error) error {
	return func(each func(reference) error) error {
		list, err := os.Open(filepath.Join(dir, listName))
		if err != nil {
			return fmt.Errorf("opening the list of objects: %w", err)
		}
		defer list.Close()
		return eachLine(list, func(line string) error {
			project, digest, err := parseObject(line)
			if err != nil {
				return err
			}
			return each(reference{project, digest, true})
		})
	}
}

// restoreDatabase fills an empty database, or leaves it empty.
func restoreDatabase(ctx context.Context, db *pgxpool.Pool, dir, url, program string, m Manifest, progress Progress) (err error) {
	to, err := targetOf(url)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, emptyAgain(context.WithoutCancel(ctx), db))
		}
	}()
	said := countLines("processing data for table", m.Tables, progress)
	restore := func(schema, role string) error {
		args := []string{"--dbname", to.url, "--no-password", "--no-owner", "--no-privileges", "--exit-on-error", "--single-transaction", "--verbose", "--schema", schema}
		if role != "" {
			args = append(args, "--role", role)
		}
		return run(ctx, to, said, program, append(args, filepath.Join(dir, databaseName))...)
	}
	for _, project := range m.Projects {
		if err := migrations.MakeSchema(ctx, db, project); err != nil {
			return err
		}
		name := migrations.ProjectSchema(project)
		if err := restore(name, name); err != nil {
			return fmt.Errorf("restoring project %s: %w", project, err)
		}
	}
	for _, schema := range []string{migrations.RiverSchema, migrations.ControlSchema} {
		if _, err := db.Exec(ctx, "create schema "+schema); err != nil {
			return fmt.Errorf("creating the schema %s: %w", schema, err)
		}
		if err := restore(schema, ""); err != nil {
			return fmt.Errorf("restoring the schema %s: %w", schema, err)
		}
	}
	if _, err := db.Exec(ctx, "analyze"); err != nil { // plans are made of statistics, which no dump has
		return fmt.Errorf("counting what the tables hold: %w", err)
	}
	return nil
}

// emptyAgain drops what was begun in a database that was empty.
func emptyAgain(ctx context.Context, db *pgxpool.Pool) error {
	begun, err := store.Values[string](ctx, db, begunSchemas)
	for _, schema := range begun {
		if _, dropped := db.Exec(ctx, "drop schema "+pgx.Identifier{schema}.Sanitize()+" cascade"); dropped != nil {
			err = errors.Join(err, fmt.Errorf("removing the schema %s again: %w", schema, dropped))
		}
	}
	return err
}
