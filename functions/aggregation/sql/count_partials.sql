select count(*) from partials where job_id = $1 and run = $2 and level = $3 and number >= $4 and number < $5
