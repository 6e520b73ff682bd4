-- As lend_shards, for jobs in which several owners must answer each shard: those that are lent are drawn from the next $8, so that nobody
-- knows which, and two owners who ask one after the other are not lent the same. $9 are those that are for the agent's owner; null: all are. Shards
-- $10 it is not lent for now.
with kin as materialized (
    select coalesce(array_agg(agent_id), '{}') as agents from lease_cursors where job_id = $1 and owner = $7 and $7 <> ''
),
mine as materialized (
    select coalesce(array_agg(n), '{}') as numbers from leases l, unnest(l.shards) n
    where (l.agent_id = $2 or l.agent_id = any ((select agents from kin)::uuid[])) and l.job_id = $1 and l.state = 'open'
),
candidates as materialized (
    select s.number, random() as lot from shards s
    where s.job_id = $1 and s.state = 'open' and s.wanted > 0 and s.number >= $3 and s.number < $4
      and s.number <> all ((select numbers from mine)::bigint[]) and ($9::bigint[] is null or s.number = any ($9))
      and s.number <> all (coalesce($10::bigint[], '{}'))
      and not coalesce((select true from attempts a where a.job_id = s.job_id and a.shard = s.number and a.agent_id = $2), false)
      and not coalesce((select true from attempts a where a.job_id = s.job_id and a.shard = s.number
          and a.agent_id = any ((select agents from kin)::uuid[]) and not a.void limit 1), false)
    order by s.number limit $8
),
picked as materialized (
    select s.number, coalesce(octet_length(s.input), 0) as size from candidates c join shards s on s.job_id = $1 and s.number = c.number
    where s.state = 'open' and s.wanted > 0
    order by c.lot limit $5
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
select number, input, lent > 1 as shared, (select min(number) from candidates) as first from lent order by number
