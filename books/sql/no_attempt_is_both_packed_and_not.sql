select a.shard, a.agent_id from packed_attempts p
join attempts a on a.job_id = $1 and a.shard = p.shard
where p.job_id = $1
