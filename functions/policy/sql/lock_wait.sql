select awaits from open_jobs where job_id = $1 and awaits is not null for update
