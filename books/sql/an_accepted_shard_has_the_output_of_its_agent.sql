with packed as materialized (
	select a.shard from packed_attempts a join shards s on s.job_id = $1 and s.number = a.shard and s.agent_id = a.agent_id where a.job_id = $1
)
select s.number from shards s where s.job_id = $1 and s.state = 'accepted' and not coalesce((
	select a.status = 'ok' from attempts a where a.job_id = s.job_id and a.shard = s.number and a.agent_id = s.agent_id), false)
except all select shard from packed
