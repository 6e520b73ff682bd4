delete from rechecks where batch = $1 and job_id = $2 and shard = any ($3) returning shard
