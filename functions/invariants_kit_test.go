package functions_test

import (
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions/store"
)

// sound are queries that find nothing while a job's books are in order, at any moment between two transactions.
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
		where job_id = $1 and ((state = 'open' and wanted + lent = 0) or (state <> 'open' and wanted > 0))`,
	"lent counts what is out and what is not weighed": `
		select s.number, s.state, s.lent, o.n as outstanding, u.n as unweighed from shards s
		join jobs j on j.id = s.job_id and j.state in ('splitting', 'running', 'review', 'held', 'aggregating')
		cross join lateral (select count(*) as n from leases l where l.job_id = s.job_id and l.state = 'open' and s.number = any (l.shards)
			and not exists (select from attempts a where a.job_id = s.job_id and a.shard = s.number and a.agent_id = l.agent_id)) o
		cross join lateral (select count(*) as n from attempts a join submissions b on b.id = a.submission_id
			where a.job_id = s.job_id and a.shard = s.number and b.verified_at is null) u
		where s.job_id = $1 and s.lent <> o.n + u.n`,
	"no agent has a shard twice": `
		select l.agent_id, n, count(*) from leases l, unnest(l.shards) n where l.job_id = $1 and l.state = 'open'
		group by 1, 2 having count(*) > 1`,
	"an accepted shard has the output of its agent": `
		select s.number from shards s where s.job_id = $1 and s.state = 'accepted' and not exists (
			select from attempts a where a.job_id = s.job_id and a.shard = s.number and a.agent_id = s.agent_id and a.status = 'ok')`,
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
			where a.agent_id = t.agent_id and a.status = 'ok' and b.verified_at is not null)`,
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
