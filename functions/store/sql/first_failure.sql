select number, coalesce(reasons, '[]') as reasons from shards where job_id = $1 and state = 'failed' order by number limit 1
