select project_id, job_id from open_jobs where job_id > $1 order by job_id limit $2
