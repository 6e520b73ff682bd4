package functions_test

import (
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions/store"
)

// sound are queries that find nothing while a job's books are in order, at any moment between two transactions. They look up by values
// instead of anti-joins, and count what belongs to shards in one pass: tests' tables have no statistics, and what the planner takes for
// ten rows may be a hundred thousand.
var sound = map[string]string{
	"a page counts its shards": `
		select p.number, p.open, p.accepted, p.review, p.failed, p.cancelled, s.* from pages p cross join lateral (
			select count(*) filter (where state = 'open') as o, count(*) filter (where state = 'accepted') as a, count(*) filter (where state = 'review') as r,
				count(*) filter (where state = 'failed') as f, count(*) filter (where state = 'cancelled') as c
			from shards where job_id = p.job_id and number >= p.number * 1024 and number < (p.number + 1) * 1024) s
		where p.job_id = $1 and (p.open, p.accepted, p.review, p.failed, p.cancelled) <> (o, a, r, f, c)`,
	"a page counts its weighed attempts": `
		select p.number, p.attempts, n from pages p cross join lateral (
			select count(*) as n from attempts a join submissions b on b.id = a.submission_id
			where a.job_id = p.job_id and a.shard >= p.number * 1024 and a.shard < (p.number + 1) * 1024 and b.verified_at is not null) a
		where p.job_id = $1 and p.attempts <> n`,
	"an open shard is lent or to be lent, all others are not": `
		select number, state, wanted, lent from shards
		where job_id = $1 and ((state = 'open' and wanted + lent = 0) or (state <> 'open' and wanted > 0))
			and not coalesce((select true from rechecks r where r.job_id = shards.job_id and r.shard = number), false)`,
	"a page counts its provisional shards": `
		select p.number, p.provisional, n from pages p cross join lateral (
			select count(*) as n from shards where job_id = p.job_id and number >= p.number * 1024 and number < (p.number + 1) * 1024
				and state = 'accepted' and awaits is not null) s
		where p.job_id = $1 and p.provisional <> n`,
	"only what is accepted awaits audits": `
		select number, state, awaits from shards where job_id = $1 and awaits is not null and (state <> 'accepted' or agent_id is null)`,
	"no result of a job that stands is provisional": `
		select s.number from shards s join jobs j on j.id = s.job_id where j.id = $1 and j.state in ('finished', 'failed') and s.awaits is not null`,
	"what is audited by itself has an audit": `
		select s.number from shards s where s.job_id = $1 and s.awaits = 0 and not coalesce((
			select bool_or(a.state = 'drawn') from audits a where a.job_id = s.job_id and a.shard = s.number and a.agent_id = s.agent_id), false)`,
	"a window counts its audits": `
		select w.agent_id, w.number, w.audits, w.passed, w.drawn, a.n, a.p from windows w cross join lateral (
			select count(*) filter (where state = 'drawn') as n, count(*) filter (where state = 'passed') as p
			from audits a where a.job_id = w.job_id and a.agent_id = w.agent_id and a.number = w.number) a
		where w.job_id = $1 and (w.drawn, w.passed) <> (n, p)`,
	"a shard that waits for the server has a batch to come": `
		select r.shard from rechecks r where r.job_id = $1 and r.batch is null and not exists (select from recheck_batches)`,
	"lent counts what is out and what is not weighed": `
		with held as materialized (
			select n as number, count(*) as n from leases l, unnest(l.shards) n where l.job_id = $1 and l.state = 'open'
				and not coalesce((select true from attempts a where a.job_id = l.job_id and a.shard = n and a.agent_id = l.agent_id), false)
			group by n
		),
		unweighed as materialized (
			select a.shard as number, count(*) as n from attempts a join submissions b on b.id = a.submission_id
			where a.job_id = $1 and b.verified_at is null group by a.shard
		),
		counted as (
			select number, sum(n) as n, sum(lent) as lent from (
				select number, n, 0 as lent from held union all select number, n, 0 from unweighed
				union all select number, 0, lent from shards where job_id = $1 and lent <> 0) c
			group by number
		)
		select c.number, c.lent, c.n from counted c join jobs j on j.id = $1 and j.state in ('splitting', 'running', 'review', 'held', 'aggregating')
		where c.lent <> c.n`,
	"no agent has a shard twice": `
		select l.agent_id, n, count(*) from leases l, unnest(l.shards) n where l.job_id = $1 and l.state = 'open'
		group by 1, 2 having count(*) > 1`,
	"an accepted shard has the output of its agent": `
		select s.number from shards s where s.job_id = $1 and s.state = 'accepted' and not coalesce((
			select a.status = 'ok' from attempts a where a.job_id = s.job_id and a.shard = s.number and a.agent_id = s.agent_id), false)`,
	"a fold counts the accepted shards of its page": `
		select f.number, f.count, p.accepted from partials f join pages p on p.job_id = f.job_id and p.number = f.number
		where f.job_id = $1 and f.level = 0 and f.count <> p.accepted`,
	"an aggregation counts the pages that it holds": `
		select a.run, a.pages_folded, n from aggregations a cross join lateral (
			select count(*) as n from partials p where p.job_id = a.job_id and p.run = a.run and p.level = 0) f
		where a.job_id = $1 and a.pages_folded <> n`,
	"a merge counts what is below it": `
		select m.run, m.level, m.number, m.count, b.count from partials m cross join lateral (
			select sum(count) as count from partials p where p.job_id = m.job_id and p.run = m.run and p.level = m.level - 1 and p.number / 100 = m.number) b
		where m.job_id = $1 and m.level > 0 and m.count is distinct from b.count`,
	"no attempt is evidence twice": `
		select t.* from trust t where $1::uuid is not null and t.passed + t.failed > (
			select count(*) from attempts a join submissions b on b.id = a.submission_id
			where a.agent_id = t.agent_id and a.status in ('ok', 'error') and b.verified_at is not null)`,
	"what is reported is counted": `
		select l.id, l.reported, count(a.*) from leases l left join attempts a on a.lease_id = l.id
		where l.job_id = $1 group by l.id, l.reported having l.reported <> count(a.*)`,
}

// check finds books that are not in order.
func (w *world) check(job uuid.UUID) {
	w.t.Helper()
	for what, sql := range sound {
		var found []map[string]any
		require.NoError(w.t, w.store.Project(w.t.Context(), w.project, func(tx *store.Tx) error {
			rows, err := tx.Query(w.t.Context(), sql, job)
			if err != nil {
				return err
			}
			found, err = pgx.CollectRows(rows, pgx.RowToMap)
			return err
		}))
		require.Empty(w.t, found, what)
	}
}
