select shard, outcome from attempts where job_id = $1 and agent_id = $2 and shard = any ($3)
