select shard, agent_id from findings where job_id = $1 and key = $2 and shard = any($3::bigint[])
