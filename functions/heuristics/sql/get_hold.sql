select held from open_jobs where job_id = $1
