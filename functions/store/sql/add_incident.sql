insert into incidents (id, agent_id, job_id, shards, job_state, reason) values ($1, $2, $3, $4, $5, $6) on conflict do nothing
