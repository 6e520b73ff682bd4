update job_metrics set metrics = $2::jsonb where job_id = $1
