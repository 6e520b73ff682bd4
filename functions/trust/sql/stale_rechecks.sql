-- Shards that the server was to execute for longer than $2, of the job $1: at most $3; $4: also those that it has begun with.
select shard from rechecks where job_id = $1 and asked_at < now() - $2::interval and ($4 or batch is null) order by shard limit $3
