insert into flags (id, job_id, shard, agent_id, kind, detail) values ($1, $2, $3, $4, $5, $6::jsonb)
