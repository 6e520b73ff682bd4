select job_id, shards from leases where id = $1 and agent_id = $2
