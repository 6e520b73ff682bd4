update shards set state = 'review', wanted = 0
where job_id = $1 and number = any ($2) and state = 'open' and lost >= $3
returning number
