package backup

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/blob"
	"github.com/ostraka/ostraka/migrations"
	"github.com/ostraka/ostraka/testenv"
)

func TestMain(m *testing.M) { testenv.Main(m) }

// installation is a database with a project and a store with its objects.
type installation struct {
	t       *testing.T
	source  Source
	db      *pgxpool.Pool
	project uuid.UUID
	objects string // their folder
}

func newInstallation(t *testing.T) *installation {
	t.Helper()
	url := testenv.DatabaseFrom(t, "migrated", func(url string) error {
		db, err := pgxpool.New(context.Background(), url)
		if err != nil {
			return err
		}
		defer db.Close()
		return migrations.Up(context.Background(), db, slog.New(slog.DiscardHandler))
	})
	db, err := connect(t.Context(), url)
	require.NoError(t, err)
	t.Cleanup(db.Close)
	dir := filepath.Join(t.TempDir(), "objects")
	objects, err := blob.OpenDir(dir)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, objects.Close()) })
	i := &installation{t: t, db: db, objects: dir, source: Source{DatabaseURL: url, Objects: objects, Program: "v1", Elsewhere: []Elsewhere{{"a key", "/etc/key"}}}}
	i.project = uuid.New()
	_, err = db.Exec(t.Context(), "insert into ostraka.projects (id, name) values ($1, $2)", i.project, "p"+i.project.String())
	require.NoError(t, err)
	require.NoError(t, migrations.CreateProject(t.Context(), db, i.project))
	return i
}

// file stores an object and names it.
func (i *installation) file(name, content string) string {
	i.t.Helper()
	digest, _, err := i.source.Objects.Put(i.t.Context(), i.project, strings.NewReader(content), blob.MaxObject)
	require.NoError(i.t, err)
	i.name(name, digest, len(content))
	return digest
}

func (i *installation) name(name, digest string, size int) {
	i.t.Helper()
	_, err := i.db.Exec(i.t.Context(), "insert into "+migrations.ProjectSchema(i.project)+".files (name, digest, size, updated_by) values ($1, $2, $3, 'x')", name, digest, size)
	require.NoError(i.t, err)
}

func quiet(string, int64, int64) {}

// elsewhereEmpty is where backups are restored: another database and another store.
func elsewhereEmpty(t *testing.T) Destination {
	t.Helper()
	objects, err := blob.OpenS3(t.Context(), testenv.MinIO(t))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, objects.Close()) })
	return Destination{DatabaseURL: testenv.Database(t), Objects: objects}
}

func TestWhatIsTakenIsRestored(t *testing.T) {
	t.Parallel()
	i := newInstallation(t)
	digest := i.file("a", "the content")
	lost := strings.Repeat("0", 64)
	i.name("lost", lost, 3)
	dir := filepath.Join(t.TempDir(), "b")
	taken, err := Take(t.Context(), i.source, dir, quiet)
	require.NoError(t, err)
	require.Equal(t, []uuid.UUID{i.project}, taken.Projects)
	require.Equal(t, Objects{Count: 1, Bytes: 11, Missing: 1, List: taken.Objects.List}, taken.Objects)
	require.Len(t, taken.Missing, 1)
	require.Contains(t, taken.Missing[0], lost)
	last, err := ReadLast(t.Context(), i.db)
	require.NoError(t, err)
	require.Equal(t, "v1", last.Program)
	_, err = Take(t.Context(), i.source, dir, quiet)
	require.ErrorContains(t, err, "holds a whole backup")

	to := elsewhereEmpty(t)
	m, err := Restore(t.Context(), dir, to, quiet)
	require.NoError(t, err)
	require.Equal(t, Restored{Manifest: taken.Manifest}, m)
	back, err := to.Objects.Get(t.Context(), i.project, digest, 100)
	require.NoError(t, err)
	require.Equal(t, "the content", string(back))
	restored, err := connect(t.Context(), to.DatabaseURL)
	require.NoError(t, err)
	t.Cleanup(restored.Close)
	var names []string
	require.NoError(t, restored.QueryRow(t.Context(), "select array_agg(name order by name) from "+migrations.ProjectSchema(i.project)+".files").Scan(&names))
	require.Equal(t, []string{"a", "lost"}, names)
	require.NoError(t, migrations.Up(t.Context(), restored, slog.New(slog.DiscardHandler)), "a server can start on it")

	var full *NotEmptyError
	_, err = Restore(t.Context(), dir, to, quiet)
	require.ErrorAs(t, err, &full)
	require.ErrorContains(t, err, migrations.ProjectSchema(i.project), "what is there is named")
	to.DatabaseURL = testenv.Database(t)
	_, err = Restore(t.Context(), dir, to, quiet)
	require.ErrorAs(t, err, &full)
	require.True(t, full.Same)
	to.KeepObjects = true
	_, err = Restore(t.Context(), dir, to, quiet)
	require.NoError(t, err)
}

func TestARestoreThatFailsLeavesNothing(t *testing.T) {
	t.Parallel()
	i := newInstallation(t)
	dir := filepath.Join(t.TempDir(), "b")
	_, err := Take(t.Context(), i.source, dir, quiet)
	require.NoError(t, err)
	to := elsewhereEmpty(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	stop := errors.New("stopped")
	_, err = Restore(ctx, dir, to, func(step string, done, _ int64) {
		if step == StepDatabase && done == 70 { // the project is there, and half of the rest
			cancel(stop)
		}
	})
	require.ErrorIs(t, err, stop)
	db, err := connect(t.Context(), to.DatabaseURL)
	require.NoError(t, err)
	t.Cleanup(db.Close)
	var schemas int
	require.NoError(t, db.QueryRow(t.Context(), "select count(*) from pg_namespace where nspname ~ 'project_|ostraka|river'").Scan(&schemas))
	require.Zero(t, schemas)
	_, err = Restore(t.Context(), dir, to, quiet)
	require.NoError(t, err)
}

func TestABackupThatIsCutOffGoesOn(t *testing.T) {
	t.Parallel()
	i := newInstallation(t)
	for n := range 40 {
		i.file("f"+strings.Repeat("x", n), rand.Text())
	}
	dir := filepath.Join(t.TempDir(), "b")
	ctx, cancel := context.WithCancelCause(t.Context())
	stop := errors.New("stopped")
	_, err := Take(ctx, i.source, dir, func(step string, done, _ int64) {
		if step == StepObjects && done == 10 {
			cancel(stop)
		}
	})
	require.ErrorIs(t, err, stop)
	_, _, err = Read(dir)
	require.ErrorIs(t, err, ErrUnfinished)
	_, err = Restore(t.Context(), dir, elsewhereEmpty(t), quiet)
	require.ErrorIs(t, err, ErrUnfinished)
	i.file("later", "one more")
	taken, err := Take(t.Context(), i.source, dir, quiet)
	require.NoError(t, err)
	require.EqualValues(t, 41, taken.Objects.Count)
	_, err = os.Stat(filepath.Join(dir, unfinishedName))
	require.ErrorIs(t, err, os.ErrNotExist)
}

func TestWhatWasChangedIsNotRestored(t *testing.T) {
	t.Parallel()
	i := newInstallation(t)
	digest := i.file("a", "the content")
	for name, change := range map[string]struct {
		path string
		says string
	}{
		"the database":   {databaseName, "database.dump has"},
		"the list":       {listName, "objects.list has"},
		"an object":      {filepath.Join(objectsName, "projects", i.project.String(), "objects", "sha256", digest[:2], digest), "its bytes are others"},
		"the manifest":   {manifestName, "no manifest"},
		"nothing at all": {"", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "b")
			_, err := Take(t.Context(), i.source, dir, quiet)
			require.NoError(t, err)
			if change.path == "" {
				found, err := Check(t.Context(), dir, t.TempDir(), "", quiet)
				require.NoError(t, err)
				require.Empty(t, found.Wrong)
				require.Empty(t, found.Missing)
				return
			}
			path := filepath.Join(dir, change.path)
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			text[len(text)/2] ^= 1
			require.NoError(t, os.WriteFile(path, bytes.Replace(text, []byte(`"format"`), []byte(`"formal"`), 1), 0o600))
			_, err = Restore(t.Context(), dir, elsewhereEmpty(t), quiet)
			require.ErrorContains(t, err, change.says)
		})
	}
}

func TestAMissingObjectIsNamed(t *testing.T) {
	t.Parallel()
	i := newInstallation(t)
	digest := i.file("a", "the content")
	dir := filepath.Join(t.TempDir(), "b")
	_, err := Take(t.Context(), i.source, dir, quiet)
	require.NoError(t, err)
	require.NoError(t, os.Remove(filepath.Join(dir, objectsName, "projects", i.project.String(), "objects", "sha256", digest[:2], digest)))
	found, err := Check(t.Context(), dir, t.TempDir(), "", quiet)
	require.NoError(t, err)
	require.EqualValues(t, 1, found.Wrongs)
	require.Contains(t, found.Wrong[0], digest)
	require.Len(t, found.Missing, 1)
	require.Contains(t, found.Missing[0], digest)
}

// TestAnotherStoreMakesNoBackup takes a store that has nothing of what the database refers to, as a folder that was mistyped.
func TestAnotherStoreMakesNoBackup(t *testing.T) {
	t.Parallel()
	i := newInstallation(t)
	i.file("a", "the content")
	wrong := i.source
	wrong.Objects = elsewhereEmpty(t).Objects
	dir := filepath.Join(t.TempDir(), "b")
	_, err := Take(t.Context(), wrong, dir, quiet)
	var other *OtherStoreError
	require.ErrorAs(t, err, &other)
	require.EqualValues(t, 1, other.Objects)
	require.NoFileExists(t, filepath.Join(dir, manifestName))
	last, err := ReadLast(t.Context(), i.db)
	require.NoError(t, err)
	require.Empty(t, last.Program, "it is not the last backup")
	_, err = Take(t.Context(), i.source, dir, quiet)
	require.NoError(t, err)
}

// TestNothingIsCollectedMeanwhile holds the lock of backups against that of collecting.
func TestNothingIsCollectedMeanwhile(t *testing.T) {
	t.Parallel()
	i := newInstallation(t)
	may := func() (may bool) {
		require.NoError(t, pgx.BeginFunc(t.Context(), i.db, func(tx pgx.Tx) error {
			return tx.QueryRow(t.Context(), "select pg_try_advisory_xact_lock_shared('ostraka.objects'::regclass::oid::bigint)").Scan(&may)
		}))
		return may
	}
	require.True(t, may())
	asked := false
	_, err := Take(t.Context(), i.source, filepath.Join(t.TempDir(), "b"), func(string, int64, int64) {
		asked = true
		require.False(t, may())
	})
	require.NoError(t, err)
	require.True(t, asked)
	testenv.Eventually(t, may, "collecting goes on")
}
