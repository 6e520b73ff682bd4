delete from rechecks where job_id = $1 and shard = any ($2) returning shard
