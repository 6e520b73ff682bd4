select number, count, data from partials where job_id = $1 and level = $2 and number >= $3 and number < $4 order by number
