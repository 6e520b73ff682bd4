package engine_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/backup"
)

// checkBackup backs the installation up, and says what a check of it finds.
func (w *world) checkBackup() backup.Checked {
	w.t.Helper()
	quiet := func(string, int64, int64) {}
	dir := filepath.Join(w.t.TempDir(), "backup")
	source := backup.Source{DatabaseURL: w.store.Pool.Config().ConnString(), Objects: w.blobs, Program: "test"}
	_, err := backup.Take(w.t.Context(), source, dir, quiet)
	require.NoError(w.t, err)
	found, err := backup.Check(w.t.Context(), dir, w.t.TempDir(), "", quiet)
	require.NoError(w.t, err)
	require.False(w.t, found.Behind)
	return found
}

// TestABackupWithArchivedAndDeletedJobsIsWell, and one whose shards are lost is not.
func TestABackupWithArchivedAndDeletedJobsIsWell(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	archived, deleted, kept := w.agreed(3), w.agreed(3), w.agreed(3)
	w.archive(archived.ID)
	w.erase(deleted.ID)
	found := w.checkBackup()
	require.Empty(t, found.Wrong)
	require.Empty(t, found.Missing)
	require.EqualValues(t, 1, found.Jobs)

	w.inProject("delete from attempts where job_id = $1 and shard = 1", kept.ID)
	found = w.checkBackup()
	require.EqualValues(t, 1, found.Wrongs)
	require.Contains(t, found.Wrong[0], kept.ID.String())
	require.Contains(t, found.Wrong[0], "a page counts its weighed attempts")
}
