select run, asked_by, last_shard, leaves, peaks from receipts where job_id = $1 and making for update
