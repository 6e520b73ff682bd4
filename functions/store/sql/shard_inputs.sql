select number, input from shards where job_id = $1 and number = any ($2) order by number
