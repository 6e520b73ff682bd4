select project_id, job_id from open_jobs where awaits is not null and awaits_until <= $1 order by awaits_until, job_id limit $2
