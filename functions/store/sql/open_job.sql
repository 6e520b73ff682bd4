insert into open_jobs (job_id, project_id, min_isolation, created_at) values ($1, $2, $3, now())
