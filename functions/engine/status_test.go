package engine_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions/insight"
	"github.com/ostraka/ostraka/migrations"
)

func TestTheStatusNamesWhatWaits(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	status, err := w.InstallationStatus(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, 1, status.Projects)
	require.Zero(t, status.OpenJobs)
	require.Empty(t, status.Waits, "nothing waits in the project")
	require.Positive(t, status.DatabaseBytes)
	require.Nil(t, status.LastBackup)

	w.submit(7)
	schema := migrations.ProjectSchema(w.project)
	_, err = w.store.Pool.Exec(t.Context(), "insert into "+schema+".incidents (id, agent_id, job_id, shards, job_state, reason) values ($1, $1, $1, 1, 'finished', 'x')", uuid.New())
	require.NoError(t, err)
	_, err = w.store.Pool.Exec(t.Context(), "insert into "+schema+".webhooks (id, name, url, kinds, created_by, failing_since) values ($1, 'w', 'u', '{k}', 'x', now())", uuid.New())
	require.NoError(t, err)
	_, err = w.store.Pool.Exec(t.Context(), "insert into ostraka.backups (digest, taken_at, program, database_bytes, objects, object_bytes, missing) values (repeat('a', 64), now(), 'v', 1, 1, 1, 0)")
	require.NoError(t, err)
	status, err = w.InstallationStatus(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, 1, status.OpenJobs)
	require.NotNil(t, status.LastBackup)
	require.Len(t, status.Waits, 1)
	is := status.Waits[0]
	require.NotEmpty(t, is.Name)
	require.Equal(t, insight.ProjectStatus{
		ID: w.project, Name: is.Name, OpenJobs: 1, OpenShards: 7, ObjectBytes: is.ObjectBytes, Incidents: 1, FailingWebhooks: 1,
	}, is)
	stats, err := w.Stats(t.Context())
	require.NoError(t, err)
	require.Positive(t, stats.LastBackup)
}

// TestABackupHoldsCollecting has an object that nothing refers to stay as long as a backup copies objects.
func TestABackupHoldsCollecting(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	digest := w.put("refers to nothing")
	w.ageObjects()
	conn, err := w.store.Pool.Acquire(t.Context())
	require.NoError(t, err)
	defer conn.Release()
	_, err = conn.Exec(t.Context(), "select pg_advisory_lock('ostraka.objects'::regclass::oid::bigint)")
	require.NoError(t, err)
	w.collect()
	_, err = w.blobs.Stat(t.Context(), w.project, digest)
	require.NoError(t, err, "a backup may be about to copy it")
	_, err = conn.Exec(t.Context(), "select pg_advisory_unlock('ostraka.objects'::regclass::oid::bigint)")
	require.NoError(t, err)
	w.collect()
	_, err = w.blobs.Stat(t.Context(), w.project, digest)
	require.Error(t, err)
}
