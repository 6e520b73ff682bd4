select id, agent_id, job_id, shards, job_state, reason, created_at from incidents where id = $1
