-- One look-up by key a shard: see weighable_attempts.
select a.shard, a.outcome
from unnest($3::bigint[]) as n
cross join lateral (select shard, outcome from attempts where job_id = $1 and shard = n and agent_id = $2 offset 0) a
