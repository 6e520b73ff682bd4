-- The shards are locked.
update attempts a set matters = m.matters
from unnest($3::bigint[], $4::text[]) as m (shard, matters)
where a.job_id = $1 and a.agent_id = $2 and a.shard = m.shard
