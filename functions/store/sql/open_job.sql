insert into open_jobs (job_id, project_id, min_isolation, function, function_version, held, shards, created_at) values ($1, $2, $3, $4, $5, $6, $7, now())
