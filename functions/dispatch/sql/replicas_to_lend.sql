-- The next $5 shards from $3 up to, not including, $4 that may be lent to the agent $2 of the owner $6, as in draw_shards, how many attempts
-- each wants and has, and how many of these are of agents of the owners $7. Where all that a shard wants at first ($8) are
-- wanted or out it is taken to have none.
with kin as materialized (
    select coalesce(array_agg(agent_id), '{}') as agents from lease_cursors where job_id = $1 and owner = $6 and $6 <> ''
),
mine as materialized (
    select coalesce(array_agg(n), '{}') as numbers from leases l, unnest(l.shards) n
    where (l.agent_id = $2 or l.agent_id = any ((select agents from kin)::uuid[])) and l.job_id = $1 and l.state = 'open'
),
found as materialized (
    select s.number, s.wanted, s.lent from shards s
    where s.job_id = $1 and s.state = 'open' and s.wanted > 0 and s.number >= $3 and s.number < $4
      and s.number <> all ((select numbers from mine)::bigint[])
      and not coalesce((select true from attempts a where a.job_id = s.job_id and a.shard = s.number and a.agent_id = $2), false)
      and not coalesce((select true from attempts a where a.job_id = s.job_id and a.shard = s.number
          and a.agent_id = any ((select agents from kin)::uuid[]) and not a.void limit 1), false)
    order by s.number limit $5
)
select f.number, f.wanted, h.attempts, h.there from found f cross join lateral (
    select count(*) as attempts, count(*) filter (where c.owner = any ($7::text[])) as there
    from attempts a left join lease_cursors c on c.job_id = $1 and c.agent_id = a.agent_id
    where a.job_id = $1 and a.shard = f.number and f.wanted + f.lent < $8
) h order by f.number
