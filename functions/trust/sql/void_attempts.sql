update attempts set void = true where job_id = $1 and shard = any ($2) and agent_id = $3
