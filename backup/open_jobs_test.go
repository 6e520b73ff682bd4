package backup

import (
	"fmt"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/migrations"
)

// TestOpenJobsAreNamed: those that have ended, and those of which nothing is drawn, have no secret that a receipt could have shown.
func TestOpenJobsAreNamed(t *testing.T) {
	t.Parallel()
	i := newInstallation(t)
	schema := migrations.ProjectSchema(i.project)
	function := uuid.New()
	_, err := i.db.Exec(t.Context(), "insert into "+schema+".functions (id, name) values ($1, 'f')", function)
	require.NoError(t, err)
	_, err = i.db.Exec(t.Context(), "insert into "+schema+".function_versions (function_id, version, digest, size, manifest) values ($1, 1, repeat('0', 64), 1, '{}')", function)
	require.NoError(t, err)
	add := func(state, draws string) uuid.UUID {
		job, err := uuid.NewV7()
		require.NoError(t, err)
		_, err = i.db.Exec(t.Context(), fmt.Sprintf(`insert into %s.jobs (id, root_job, function_id, function_version, partition, policy, state, shards_total, pages_total, created_by, draws_sha256)
			values ($1, $1, $2, 1, '{}', '{}', $3, 1, 1, 'x', %s)`, schema, draws), job, function, state)
		require.NoError(t, err)
		return job
	}
	const drawn, none = "decode(repeat('00', 32), 'hex')", "null"
	for _, state := range []string{"finished", "failed", "cancelled"} {
		add(state, drawn)
	}
	add("running", none)
	running, held := add("running", drawn), add("held", drawn)
	some, all, err := OpenJobs(t.Context(), i.source.DatabaseURL, []uuid.UUID{i.project})
	require.NoError(t, err)
	require.Equal(t, []OpenJob{{i.project, held}, {i.project, running}}, some)
	require.EqualValues(t, 2, all)
	for range maxOpenJobs {
		add("splitting", drawn)
	}
	some, all, err = OpenJobs(t.Context(), i.source.DatabaseURL, []uuid.UUID{i.project})
	require.NoError(t, err)
	require.Len(t, some, maxOpenJobs)
	require.EqualValues(t, maxOpenJobs+2, all)
}
