-- Shards that the server was to execute for longer than $2, of the job $1: at most $3.
select shard from rechecks where job_id = $1 and asked_at < now() - $2::interval order by shard limit $3
