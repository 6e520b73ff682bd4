-- The subquery on attempts is written as a value so that it is looked up by key for each candidate: as an anti-join the planner may
-- read every attempt of the job instead.
with mine as materialized (
    select coalesce(array_agg(n), '{}') as numbers from leases l, unnest(l.shards) n
    where l.agent_id = $2 and l.job_id = $1 and l.state = 'open'
),
picked as (
    select s.number from shards s
    where s.job_id = $1 and s.state = 'open' and s.wanted > 0 and s.number >= $3 and s.number < $4
      and s.number <> all ((select numbers from mine)::bigint[])
      and not coalesce((select true from attempts a where a.job_id = s.job_id and a.shard = s.number and a.agent_id = $2), false)
    order by s.number limit $5
    for update of s skip locked
),
lent as (
    update shards s set wanted = s.wanted - 1, lent = s.lent + 1
    from picked p where s.job_id = $1 and s.number = p.number
    returning s.number, s.input
)
select number, input from lent order by number
