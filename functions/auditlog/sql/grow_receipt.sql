update receipts set run = $2, last_shard = $3, leaves = $4, peaks = $5 where job_id = $1
