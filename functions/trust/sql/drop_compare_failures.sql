delete from comparison_failures where job_id = $1 and shard = any ($2) and not given_up
