-- One look-up by key a shard: see weighable_attempts.
select a.shard, a.outcome
from unnest($3::bigint[]) as n
cross join lateral (select shard, outcome from attempts where job_id = $1 and shard = n and agent_id = $2 offset 0) a
union all
select shard, outcome from packed_attempts
where job_id = $1 and page = any (array(select distinct n / 1024 from unnest($3::bigint[]) n)) and shard = any ($3) and agent_id = $2
