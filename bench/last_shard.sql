-- When the last shard was accepted. The schema of the project is on the search path.
select max(verified_at) from submissions where job_id = $1
