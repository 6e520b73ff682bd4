insert into findings (id, heuristic, key, function_id, function_version, job_id, shard, agent_id, file, score, labels, explanation, places, actions)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13::jsonb, $14)
