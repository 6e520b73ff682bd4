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
	// Digest is what the backup's manifest must have; empty: any.
	Digest string
}

// Restored is what was restored.
type Restored struct {
	Manifest
	Mended int64 `json:"mended"` // objects that were there, and not what their names say
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
func Restore(ctx context.Context, dir string, to Destination, progress Progress) (r Restored, err error) {
	if r.Manifest, _, err = readWhole(dir, to.Digest); err != nil {
		return r, err
	}
	db, err := connect(ctx, to.DatabaseURL)
	if err != nil {
		return r, err
	}
	defer db.Close()
	free, err := alone(ctx, db)
	if err != nil {
		return r, err
	}
	defer free()
	if err := mayRestore(ctx, db, r.Manifest); err != nil {
		return r, err
	}
	if err := checkStore(ctx, to, r.Projects); err != nil {
		return r, err
	}
	program, err := findProgram(ctx, "pg_restore", r.PgDump)
	if err != nil {
		return r, err
	}
	if r.Mended, err = restoreObjects(ctx, dir, to.Objects, r.Manifest, progress); err != nil {
		return r, fmt.Errorf("restoring the objects: %w", err)
	}
	if err := restoreDatabase(ctx, db, dir, to.DatabaseURL, program, r.Manifest, progress); err != nil {
		return r, fmt.Errorf("restoring the database: %w", err)
	}
	return r, nil
}

// alone keeps other restores out of a database until free is called.
func alone(ctx context.Context, db *pgxpool.Pool) (free func(), err error) {
	pooled, err := db.Acquire(ctx)
	if err != nil {
		return nil, fmt.Errorf("connecting to the database: %w", err)
	}
	conn := pooled.Hijack()
	free = func() { _ = conn.Close(context.WithoutCancel(ctx)) } // which frees the lock
	mine, _, err := store.Value[bool](ctx, conn, lockRestore)
	if err == nil && !mine {
		err = errors.New("another restore into this database is under way")
	}
	if err != nil {
		free()
		return nil, err
	}
	return free, nil
}

// readWhole reads a manifest of a backup that this program can restore, and looks at all but the objects. The manifest must have the digest
// want, unless that is empty.
func readWhole(dir, want string) (m Manifest, digest string, err error) {
	if m, digest, err = Read(dir); err != nil {
		return m, digest, err
	}
	if want != "" && !strings.EqualFold(want, digest) {
		return m, digest, fmt.Errorf("%w: its manifest has the digest %s, and should have %s", ErrChanged, digest, want)
	}
	for _, p := range []Piece{m.Database, m.Objects.List} {
		if err := p.verify(dir); err != nil {
			return m, digest, err
		}
	}
	known, err := migrations.Known()
	if err != nil {
		return m, digest, err
	}
	for _, s := range m.Schemas {
		if s.Needs > known[migrations.KindOf(s.Name)] {
			return m, digest, fmt.Errorf("the backup was made by a newer ostraka (%s): restore it with that", m.Program)
		}
	}
	return m, digest, nil
}

// mayRestore refuses a database that holds something, or whose role or version would fail halfway.
func mayRestore(ctx context.Context, db *pgxpool.Pool, m Manifest) error {
	if err := mustBeEmpty(ctx, db); err != nil {
		return err
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

func mustBeEmpty(ctx context.Context, db *pgxpool.Pool) error {
	at := db.Config().ConnConfig
	begun, err := store.Values[string](ctx, db, begunSchemas)
	if err == nil && len(begun) > 0 {
		return notEmpty("the database "+at.Database+" at "+at.Host, begun)
	}
	return err
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

// restoreObjects copies all objects of a backup, each of which must be what its name says, and says how many were there that were not.
func restoreObjects(ctx context.Context, dir string, to *blob.Store, m Manifest, progress Progress) (mended int64, err error) {
	from, err := blob.OpenDir(filepath.Join(dir, objectsName))
	if err != nil {
		return 0, err
	}
	c := &copier{from: from, to: to, total: m.Objects.Count, progress: progress, read: true}
	err = errors.Join(c.all(ctx, listed(dir)), from.Close())
	if err == nil && c.lost > 0 {
		err = fmt.Errorf("%w: %d objects of its list cannot be restored: %s", ErrChanged, c.lost, strings.Join(c.missing[:min(len(c.missing), shownNames)], "; "))
	}
	return c.mended, err
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

// filling is a database that a backup is restored into.
type filling struct {
	db      *pgxpool.Pool
	to      target
	program string // pg_restore
	dump    string
	said    func(line string)
	made    []string // schemas that are ours to drop
}

// restoreDatabase fills an empty database, or leaves it empty.
func restoreDatabase(ctx context.Context, db *pgxpool.Pool, dir, url, program string, m Manifest, progress Progress) error {
	to, err := targetOf(url)
	if err != nil {
		return err
	}
	if err := mustBeEmpty(ctx, db); err != nil { // copying the objects may have taken hours
		return err
	}
	f := &filling{db: db, to: to, program: program, dump: filepath.Join(dir, databaseName), said: countLines("processing data for table", m.Tables, progress)}
	if err := f.fill(ctx, m); err != nil {
		return errors.Join(err, f.emptyAgain(context.WithoutCancel(ctx)))
	}
	return nil
}

func (f *filling) fill(ctx context.Context, m Manifest) error {
	for _, project := range m.Projects {
		if err := migrations.MakeSchema(ctx, f.db, project); err != nil {
			return err
		}
		name := migrations.ProjectSchema(project)
		f.made = append(f.made, name)
		if err := f.restore(ctx, name, name); err != nil {
			return fmt.Errorf("restoring project %s: %w", project, err)
		}
	}
	for _, schema := range []string{migrations.RiverSchema, migrations.ControlSchema} {
		if _, err := f.db.Exec(context.WithoutCancel(ctx), "create schema "+schema); err != nil { // cut off, nobody would know whose it is
			return fmt.Errorf("creating the schema %s: %w", schema, err)
		}
		f.made = append(f.made, schema)
		if err := f.restore(ctx, schema, ""); err != nil {
			return fmt.Errorf("restoring the schema %s: %w", schema, err)
		}
	}
	if _, err := f.db.Exec(ctx, "analyze"); err != nil { // plans are made of statistics, which no dump has
		return fmt.Errorf("counting what the tables hold: %w", err)
	}
	return nil
}

// restore fills a schema, as a role unless that is empty.
func (f *filling) restore(ctx context.Context, schema, role string) error {
	args := []string{"--dbname", f.to.url, "--no-password", "--no-owner", "--no-privileges", "--exit-on-error", "--single-transaction", "--verbose", "--schema", schema}
	if role != "" {
		args = append(args, "--role", role)
	}
	return run(ctx, f.to, f.said, f.program, append(args, f.dump)...)
}

// emptyAgain drops what was made, and nothing that somebody else has made meanwhile.
func (f *filling) emptyAgain(ctx context.Context) (err error) {
	for _, schema := range f.made {
		if _, dropped := f.db.Exec(ctx, "drop schema "+pgx.Identifier{schema}.Sanitize()+" cascade"); dropped != nil {
			err = errors.Join(err, fmt.Errorf("removing the schema %s again: %w", schema, dropped))
		}
	}
	return err
}
