package lockorder_test

import (
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/testenv/lockorder"
)

func TestLocksOfAStatement(t *testing.T) {
	t.Parallel()
	for sql, want := range map[string][]lockorder.Taken{
		"select state from jobs where id = $1":                                                                nil,
		"-- update shards\nselect 1":                                                                          nil,
		"select id, state from jobs where id = $1 for no key update":                                          {{Name: "jobs", Waits: true}},
		"select n from unnest($1) n join shards s on s.number = n order by n for update of s":                 {{Name: "shards", Waits: true}},
		"select number from shards where lent = 0 for update skip locked":                                     {{Name: "shards"}},
		"with a as (select 1 from windows w for update of w skip locked) update windows w set x = 1 from a":   {{Name: "windows"}, {Name: "windows", Waits: true}},
		"update ostraka.leases set ended_at = now()":                                                          {{Name: "leases", Waits: true}},
		"delete from pages where job_id = $1":                                                                 {{Name: "pages", Waits: true}},
		"insert into trust (agent_id) values ($1) on conflict (agent_id) do update set n = trust.n + 1":       {{Name: "trust", Waits: true}},
		"insert into jobs (id) values ($1) on conflict do nothing":                                            nil,
		"with l as (insert into audit values (1)) insert into trust values (1) on conflict do update set n=1": {{Name: "trust", Waits: true}},
		"select pg_advisory_xact_lock(hashtextextended('ostraka.rechecks ' || current_schema(), 0))":          {{Name: "the gate of rechecks", Waits: true}},
		"select pg_try_advisory_xact_lock(hashtextextended('ostraka.split ' || current_schema(), 0))":         nil,
	} {
		require.Equal(t, want, lockorder.Locks(sql), sql)
	}
}

func TestTransactionsThatKeepToTheOrder(t *testing.T) {
	t.Parallel()
	project := "begin; set local role project_1; set local search_path = project_1"
	for name, statements := range map[string][]string{
		"in order":                 {project, "update leases set a=1", "update shards set a=1", "update jobs set a=1", "set local role none; set local search_path = ostraka", "update leases set a=1"},
		"again":                    {project, "update jobs set a=1", "update flags set a=1", "update jobs set a=2"},
		"another transaction":      {project, "update jobs set a=1", "commit", project, "update shards set a=1"},
		"no transaction":           {"update jobs set a=1", "update shards set a=1"},
		"what skips does not wait": {project, "update jobs set a=1", "select 1 from shards for update skip locked"},
		"what is not in the order": {project, "update jobs set a=1", "update receipts set a=1"},
	} {
		require.Empty(t, watched(statements), name)
	}
}

func TestTransactionsThatBreakTheOrder(t *testing.T) {
	t.Parallel()
	project := "begin; set local role project_1; set local search_path = project_1"
	breaks := watched([]string{project, "update jobs set a=1", "update shards set a=1", "rollback", project, "update jobs set a=1", "update shards set a=1"})
	require.Equal(t, []string{"project shards is locked after project jobs:\nupdate shards set a=1\n-- after --\nupdate jobs set a=1"}, breaks, "said once")
	require.Len(t, watched([]string{"begin; set local search_path = ostraka", "update open_jobs set a=1", "update leases set a=1"}), 1, "the server's own")
	require.Len(t, watched([]string{project, "set local role none", "update leases set a=1", "set local role project_1", "update leases set a=1"}), 1, "two tables of one name")
}

func TestTheLastOfATransactionMayLockAnything(t *testing.T) {
	t.Parallel()
	last := "delete from flags"
	w := lockorder.Watch{Last: []string{last}}
	var conn pgx.Conn
	for _, s := range []string{"begin; set local role project_1", last, "update jobs set a=1", "update shards set a=1"} {
		w.Statement(&conn, s)
	}
	require.Len(t, w.Breaks(), 1, "that of the others")
	require.NotContains(t, w.Breaks()[0], last)
}

func watched(statements []string) []string {
	var w lockorder.Watch
	var conn pgx.Conn
	for _, s := range statements {
		w.Statement(&conn, s)
	}
	return w.Breaks()
}
