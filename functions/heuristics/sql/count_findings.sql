select count(*) from findings where job_id = $1 and key = $2
