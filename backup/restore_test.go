package backup

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/blob"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/migrations"
)

func taken(t *testing.T, i *installation) (dir string, backup Taken) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "b")
	backup, err := Take(t.Context(), i.source, dir, quiet)
	require.NoError(t, err)
	return dir, backup
}

func connected(t *testing.T, url string) *pgxpool.Pool {
	t.Helper()
	db, err := connect(t.Context(), url)
	require.NoError(t, err)
	t.Cleanup(db.Close)
	return db
}

// emptyAt is where backups are restored that need no objects of anybody else.
func emptyAt(t *testing.T) Destination {
	t.Helper()
	objects, err := blob.OpenDir(filepath.Join(t.TempDir(), "objects"))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, objects.Close()) })
	to := elsewhereEmpty(t)
	to.Objects = objects
	return to
}

// TestWhatOthersMakeMeanwhileStays has somebody make a schema while a backup is restored beside it.
func TestWhatOthersMakeMeanwhileStays(t *testing.T) {
	t.Parallel()
	i := newInstallation(t)
	i.file("a", "the content")
	dir, _ := taken(t, i)
	for step, says := range map[string]string{StepObjects: "is not empty", StepDatabase: "already exists"} {
		t.Run(step, func(t *testing.T) {
			t.Parallel()
			to := emptyAt(t)
			db := connected(t, to.DatabaseURL)
			made := false
			_, err := Restore(t.Context(), dir, to, func(at string, _, _ int64) {
				if at == step && !made {
					made = true
					_, err := db.Exec(t.Context(), "create schema "+migrations.ControlSchema)
					require.NoError(t, err)
				}
			})
			require.ErrorContains(t, err, says)
			left, err := store.Values[string](t.Context(), db, begunSchemas)
			require.NoError(t, err)
			require.Equal(t, []string{migrations.ControlSchema}, left, "what was made by the restore is gone, and nothing else")
		})
	}
}

func TestASchemaThatExistsIsNotMade(t *testing.T) {
	t.Parallel()
	i := newInstallation(t)
	require.ErrorContains(t, migrations.MakeSchema(t.Context(), i.db, i.project), "already exists")
}

func TestOneRestoreAtATime(t *testing.T) {
	t.Parallel()
	dir, _ := taken(t, newInstallation(t))
	to := emptyAt(t)
	free, err := alone(t.Context(), connected(t, to.DatabaseURL))
	require.NoError(t, err)
	_, err = Restore(t.Context(), dir, to, quiet)
	free()
	require.ErrorContains(t, err, "another restore into this database is under way")
}

func TestADigestThatIsNamedIsCompared(t *testing.T) {
	t.Parallel()
	dir, backup := taken(t, newInstallation(t))
	to := emptyAt(t)
	to.Digest = backup.Database.SHA256 // of something else
	_, err := Restore(t.Context(), dir, to, quiet)
	require.ErrorIs(t, err, ErrChanged)
	require.ErrorContains(t, err, backup.Digest)
	_, err = Check(t.Context(), dir, t.TempDir(), to.Digest, quiet)
	require.ErrorIs(t, err, ErrChanged)
	to.Digest = backup.Digest
	_, err = Restore(t.Context(), dir, to, quiet)
	require.NoError(t, err)
}

// TestObjectsThatAreSpoiltAreMended restores beside objects of which one has another byte, and one is cut off.
func TestObjectsThatAreSpoiltAreMended(t *testing.T) {
	t.Parallel()
	i := newInstallation(t)
	contents := map[string]string{}
	for _, content := range []string{"the content", "the other content", "what is whole"} {
		contents[i.file(content, content)] = content
	}
	dir, _ := taken(t, i)
	to := emptyAt(t)
	to.Objects, to.KeepObjects = i.source.Objects, true
	for digest, content := range contents {
		path := filepath.Join(i.objects, "projects", i.project.String(), "objects", "sha256", digest[:2], digest)
		switch content {
		case "the content":
			require.NoError(t, os.Chmod(path, 0o600))
			require.NoError(t, os.WriteFile(path, []byte("the kontent"), 0o600))
		case "the other content":
			require.NoError(t, os.Chmod(path, 0o600))
			require.NoError(t, os.Truncate(path, 3))
		}
	}
	restored, err := Restore(t.Context(), dir, to, quiet)
	require.NoError(t, err)
	require.EqualValues(t, 2, restored.Mended)
	for digest, content := range contents {
		is, err := to.Objects.Get(t.Context(), i.project, digest, 100)
		require.NoError(t, err)
		require.Equal(t, content, string(is))
	}
}
