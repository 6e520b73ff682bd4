select id, agent_id, job_id, shards, job_state, reason, created_at from incidents
where id > $1 and ($3::uuid is null or job_id = $3) order by id limit $2
