package migrations_test

import (
	"os"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/migrations"
)

// TestBulkActionsOfBeforeHaveSeenEarlierDecisions about agents of their project (044), and none that was taken since.
func TestBulkActionsOfBeforeHaveSeenEarlierDecisions(t *testing.T) {
	t.Parallel()
	ctx, pool := t.Context(), connect(t)
	require.NoError(t, migrations.Up(ctx, pool, quiet))
	project, bulk := addProject(t, pool), uuid.New()
	_, err := pool.Exec(ctx, `insert into ostraka.bulk_actions (id, project_id, subject, action, reason, filter, principal, created_by, total)
values ($1, $2, 'agents', 'exclude', 'loud', '{}', '{}', 'key', 5)`, bulk, project)
	require.NoError(t, err)
	for number, c := range []struct {
		decided  string // before or after the bulk action was begun; "": never
		state    string
		revision int64
	}{{"-1 hour", "waiting", 0}, {"1 hour", "waiting", 0}, {"", "waiting", 0}, {"-1 hour", "done", 0}, {"-1 hour", "failed", 7}} {
		agent := uuid.New()
		_, err := pool.Exec(ctx, "insert into ostraka.agents (id, name, public_key, state, isolation, platform) values ($1, 'a', sha256(uuid_send($1)), 'active', 'process', '{}')", agent)
		require.NoError(t, err)
		_, err = pool.Exec(ctx, `insert into ostraka.agent_projects (agent_id, project_id, decided_at)
select $1, $2, created_at + nullif($4::text, '')::interval from ostraka.bulk_actions where id = $3 and $4::text <> ''`, agent, project, bulk, c.decided)
		require.NoError(t, err)
		_, err = pool.Exec(ctx, "insert into ostraka.bulk_items (bulk_id, number, item, revision, was, state) values ($1, $2, $3, $4, '', $5)", bulk, number, agent, c.revision, c.state)
		require.NoError(t, err)
	}
	statement, err := os.ReadFile("control/044_seen_members.sql") // it has been run already, when there was nothing to change
	require.NoError(t, err)
	_, err = pool.Exec(ctx, "set search_path = ostraka; "+string(statement))
	require.NoError(t, err)
	var seen []bool
	var kept int64
	require.NoError(t, pool.QueryRow(ctx, `select array_agg(i.revision = (extract(epoch from b.created_at - interval '1 hour') * 1000000)::bigint order by i.number),
    max(i.revision) filter (where i.number > 0) from ostraka.bulk_items i join ostraka.bulk_actions b on b.id = i.bulk_id where i.bulk_id = $1`, bulk).Scan(&seen, &kept))
	require.Equal(t, []bool{true, false, false, false, false}, seen)
	require.EqualValues(t, 7, kept)
}
