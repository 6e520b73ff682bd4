with held as materialized (
	select n as number, count(*) as n from leases l, unnest(l.shards) n where l.job_id = $1 and l.state = 'open'
		and not coalesce((select true from attempts a where a.job_id = l.job_id and a.shard = n and a.agent_id = l.agent_id), false)
		and not coalesce((select true from control_loans c where c.lease_id = l.id and c.place = n and c.reported_at is not null), false)
	group by n
),
unweighed as materialized (
	select a.shard as number, count(*) as n from attempts a join submissions b on b.id = a.submission_id
	where a.job_id = $1 and b.verified_at is null group by a.shard
),
controlled as materialized (
	select place as number, count(*) as n from control_loans where job_id = $1 and reported_at is not null and not released group by place
),
counted as (
	select number, sum(n) as n, sum(lent) as lent from (
		select number, n, 0 as lent from held union all select number, n, 0 from unweighed union all select number, n, 0 from controlled
		union all select number, 0, lent from shards where job_id = $1 and lent <> 0) c
	group by number
)
select c.number, c.lent, c.n from counted c join jobs j on j.id = $1 and j.state in ('splitting', 'running', 'review', 'held', 'aggregating')
where c.lent <> c.n
