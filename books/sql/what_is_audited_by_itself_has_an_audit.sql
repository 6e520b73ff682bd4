select s.number from shards s where s.job_id = $1 and s.awaits = 0 and not coalesce((
	select bool_or(a.state = 'drawn') from audits a where a.job_id = s.job_id and a.shard = s.number and a.agent_id = s.agent_id), false)
