select a.shard, a.agent_id, a.number
from unnest($2::bigint[]) as n
cross join lateral (select shard, agent_id, number from audits where job_id = $1 and shard = n and state = 'drawn' offset 0) a
order by a.agent_id, a.shard
