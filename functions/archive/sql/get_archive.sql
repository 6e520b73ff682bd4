select archive from job_archives where job_id = $1
