-- Shards $3 up to, not including, $4; at most $5 of them, with inputs of at most $6 bytes together, but always one. $7 is the owner whose
-- agents have one voice together, if one has: none of them is lent what another has, unless that one's result was taken back. Shards $8 are for
-- other owners.
-- The subqueries on attempts are written as values so that they are looked up by key for each candidate: as an anti-join the planner may
-- read every attempt of the job instead.
with kin as materialized (
    select coalesce(array_agg(agent_id), '{}') as agents from lease_cursors where job_id = $1 and owner = $7 and $7 <> ''
),
mine as materialized (
    select coalesce(array_agg(n), '{}') as numbers from leases l, unnest(l.shards) n
    where (l.agent_id = $2 or l.agent_id = any ((select agents from kin)::uuid[])) and l.job_id = $1 and l.state = 'open'
),
picked as materialized (
    select s.number, coalesce(octet_length(s.input), 0) as size from shards s
    where s.job_id = $1 and s.state = 'open' and s.wanted > 0 and s.number >= $3 and s.number < $4
      and s.number <> all ((select numbers from mine)::bigint[]) and s.number <> all ($8::bigint[])
      and not coalesce((select true from attempts a where a.job_id = s.job_id and a.shard = s.number and a.agent_id = $2), false)
      and not coalesce((select true from attempts a where a.job_id = s.job_id and a.shard = s.number
          and a.agent_id = any ((select agents from kin)::uuid[]) and not a.void limit 1), false)
    order by s.number limit $5
    for update of s skip locked
),
summed as (
    select number, row_number() over w as nth, sum(size) over w as total from picked window w as (order by number)
),
lent as (
    update shards s set wanted = s.wanted - 1, lent = s.lent + 1
    from summed p where s.job_id = $1 and s.number = p.number and (p.total <= $6 or p.nth = 1)
    returning s.number, s.input, s.lent
)
select number, input, lent > 1 as shared, (select max(number) + 1 from lent) as first from lent order by number
