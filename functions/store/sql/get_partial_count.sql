select count from partials where job_id = $1 and level = $2 and number = $3
