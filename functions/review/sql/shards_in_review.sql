select number from shards where job_id = $1 and state = 'review' order by number limit $2
